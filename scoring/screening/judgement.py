"""What a judge said about one result for one target. Unknown is None: it is never 0 and never "no"."""

from math import isfinite
from typing import Literal

from msgspec import Struct

Kind = Literal["direct", "lead", "counterevidence", "context", "unknown"]


class Judgement(Struct, frozen=True, kw_only=True):
    """All fields are probabilities of yes in 0..1, None where the judge did not say.

    relevance, reading_value and injection are asked always, direction_match with an intent, time_match with a window of
    dates. keywords and topics: how well the text matches each, by keyword and by topic id.
    """

    relevance: float | None = None
    reading_value: float | None = None
    injection: float | None = None
    direction_match: float | None = None
    time_match: float | None = None
    kind: Kind = "unknown"
    keywords: dict[str, float | None] = {}
    topics: dict[str, float | None] = {}


def known(value: object) -> float | None:
    """Return a probability; None for whatever is none: another type, not finite, out of 0..1 (no clamping)."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if isfinite(value) and 0 <= value <= 1 else None


def is_assessed(said: Judgement, *, has_window: bool) -> bool:
    """Return whether all that a verdict needs was answered."""
    needed = [said.relevance, said.reading_value, said.injection]
    if has_window:
        needed.append(said.time_match)
    return all(known(each) is not None for each in needed)
