"""The size of a request, before it is sent: of its state, of all of it, and what it may cost at most."""

from math import ceil
from typing import Any

import msgspec
from signal_search.contracts.adaptive_plan import ScreenLimits
from signal_search.contracts.judging import JudgeRequest

_ENVELOPE = (
    1024  # of characters: what a driver puts around state and questions (adaptive search guide)
)
_CHARS_PER_TOKEN = 2


def chars(value: Any) -> int:
    """Return how many characters a value has as compact JSON."""
    return len(msgspec.json.encode(value).decode())


def fits(request: JudgeRequest, limits: ScreenLimits) -> bool:
    """Return whether a request is within its bounds."""
    return sizes_fit(chars(request.state), chars(request.questions), limits)


def sizes_fit(state: int, questions: int, limits: ScreenLimits) -> bool:
    """Return whether a request of these sizes, in characters, is within its bounds."""
    return state <= limits.state_chars and state + questions + _ENVELOPE <= limits.request_chars


def estimate(request: JudgeRequest) -> int:
    """Return the input tokens that a request is reserved for."""
    return ceil((chars(request.state) + chars(request.questions)) / _CHARS_PER_TOKEN)
