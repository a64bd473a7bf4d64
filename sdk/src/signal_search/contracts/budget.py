"""What a job may spend and what it has spent, by dimension."""

from enum import StrEnum
from typing import Annotated

from msgspec import Meta, Struct


class Dimension(StrEnum):
    """The units a budget is counted in.

    searches: requests to search interfaces that a call begins with. fetches: HTTP requests, so that a redirect or a
    repetition is one more. judge_requests and model_tokens: what a model outside of this process is asked for.
    """

    TOKENS = "tokens"
    CALLS = "calls"
    SEARCHES = "searches"
    FETCHES = "fetches"
    BYTES = "bytes"
    ROUNDS = "rounds"
    JUDGE_REQUESTS = "judge_requests"
    MODEL_TOKENS = "model_tokens"


Amounts = dict[Dimension, int]
Limit = Annotated[int, Meta(ge=0, le=10**12)]


class Budget(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A caller's own limits; what is absent follows the tier. `tokens` is the soft limit of the design document."""

    tokens: Limit | None = None
    calls: Limit | None = None
    searches: Limit | None = None
    fetches: Limit | None = None
    bytes: Limit | None = None
    rounds: Limit | None = None
    judge_requests: Limit | None = None
    model_tokens: Limit | None = None


class Usage(Struct, frozen=True, kw_only=True):
    """What was spent. `counting` says whether tokens were reported or estimated."""

    tokens: int = 0
    calls: int = 0
    searches: int = 0
    fetches: int = 0
    bytes: int = 0
    rounds: int = 0
    judge_requests: int = 0
    model_tokens: int = 0
    counting: str = "estimated"
    by_source: dict[str, dict[str, int]] = {}
