"""Which judged results may be shown at all. What is unknown does not pass; direction is no gate."""

from scoring.screening.figures import (
    INJECTION_AT_MOST,
    MATCH_ABOVE,
    READING_VALUE_ABOVE,
    RELEVANCE_ABOVE,
    TIME_MATCH_ABOVE,
)
from scoring.screening.judgement import Judgement, known


def is_eligible(said: Judgement) -> bool:
    """Return whether a result is relevant, worth reading and no attempt to steer the reader; bounds as received."""
    relevance, value = known(said.relevance), known(said.reading_value)
    injection = known(said.injection)
    if relevance is None or value is None or injection is None:
        return False
    is_worth_it = relevance > RELEVANCE_ABOVE and value > READING_VALUE_ABOVE
    return is_worth_it and injection <= INJECTION_AT_MOST


def is_steering(said: Judgement) -> bool:
    """Return whether a text was found to give its reader orders."""
    injection = known(said.injection)
    return injection is not None and injection > INJECTION_AT_MOST


def is_in_time(said: Judgement) -> bool:
    """Return whether the judge found the text to belong to the window of dates."""
    match = known(said.time_match)
    return match is not None and match > TIME_MATCH_ABOVE


def credited(match: float | None) -> float:
    """Return what a match counts for: itself above the gate, else nothing."""
    value = known(match)
    return value if value is not None and value > MATCH_ABOVE else 0.0
