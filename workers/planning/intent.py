"""What kind of answer a question wants, and how sure the wording makes us of it.

The order of the rules is the argument: an order to study outweighs the things it names ("调研 A vs B"), a choice
outweighs the comparison it rests on ("A vs B 怎么选"), and a bare year is no wish for news.
"""

import re

from msgspec import Struct
from signal_search.contracts.query import Intent

from workers.planning.cues import cues_of

_LETTERS = re.compile(r"[^\W\d_]{2,}")
_LEAST_CHARACTERS = 4

# The design document: enough words to read, or not; below .6 one clarifying question.
SURE = 0.85
UNSURE = 0.45


class IntentReading(Struct, frozen=True):
    """The intent, how sure we are (0..1), and the cue that decided."""

    intent: Intent
    confidence: float
    reason: str


def read_intent(text: str) -> IntentReading:
    """Classify a question by its cues; without any cue it asks for a fact."""
    intent, reason = _decide(cues_of(text))
    return IntentReading(intent, _confidence(text), reason)


def needs_clarification(confidence: float, clarify_below: float) -> bool:
    """Say whether one clarifying question is due."""
    return confidence < clarify_below


def _confidence(text: str) -> float:
    readable = len(text.strip()) >= _LEAST_CHARACTERS and _LETTERS.search(text)
    return SURE if readable else UNSURE


def _decide(cues: frozenset[str]) -> tuple[Intent, str]:
    for intent, needed in _RULES:
        for names in needed:
            if all(name in cues for name in names):
                return intent, " + ".join(names)
    return Intent.FACT, "no other cue"


_RULES: tuple[tuple[Intent, tuple[tuple[str, ...], ...]], ...] = (
    (Intent.FACT, (("date",),)),
    (Intent.RESEARCH, (("study",), ("breadth",))),
    (Intent.VERIFY, (("verify",),)),
    (Intent.WHY, (("cause",), ("choose",))),
    (Intent.COMPARE, (("compare",),)),
    (Intent.RESEARCH, (("howto", "manage", "actor"),)),
    (Intent.HOWTO, (("howto",), ("doing", "operate", "tool"))),
    (Intent.LATEST, (("fresh",), ("now", "top"))),
)
