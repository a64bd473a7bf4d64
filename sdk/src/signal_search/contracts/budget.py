"""What a job may spend and what it has spent, by dimension."""

from enum import StrEnum
from typing import Annotated

from msgspec import Meta, Struct


class Dimension(StrEnum):
    """The units a budget is counted in."""

    TOKENS = "tokens"
    CALLS = "calls"
    FETCHES = "fetches"
    BYTES = "bytes"
    ROUNDS = "rounds"


Amounts = dict[Dimension, int]
Limit = Annotated[int, Meta(ge=0, le=10**12)]


class Budget(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A caller's own limits; what is absent follows the tier. `tokens` is the soft limit of the design document."""

    tokens: Limit | None = None
    calls: Limit | None = None
    fetches: Limit | None = None
    bytes: Limit | None = None
    rounds: Limit | None = None


class Usage(Struct, frozen=True, kw_only=True):
    """What was spent. `counting` says whether tokens were reported or estimated."""

    tokens: int = 0
    calls: int = 0
    fetches: int = 0
    bytes: int = 0
    rounds: int = 0
    counting: str = "estimated"
    by_source: dict[str, dict[str, int]] = {}
