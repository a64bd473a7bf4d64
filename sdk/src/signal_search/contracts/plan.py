"""What a job intends to do: the plan and its calls."""

from typing import Literal

from msgspec import Struct

from signal_search.contracts.query import Intent, Tier

Role = Literal["main", "contrary"]


class SubQuestion(Struct, frozen=True, kw_only=True):
    """One leaf of the decomposition: what to find out, and the words to search with."""

    id: str
    text: str
    role: Role = "main"
    dimension: str = "default"
    depends_on: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()


class PlannedCall(Struct, frozen=True, kw_only=True):
    """One (sub-question, source) pair. A shared call serves every sub-question at once (site, feed)."""

    id: str
    source_id: str
    question_id: str
    round: int = 1
    shared: bool = False


class ConstraintUse(Struct, frozen=True, kw_only=True):
    """How one source treats the caller's constraints: three different things, never mixed up."""

    source_id: str
    pushed_down: tuple[str, ...] = ()
    applied_after: tuple[str, ...] = ()
    not_honoured: tuple[str, ...] = ()


class Plan(Struct, frozen=True, kw_only=True):
    """The whole plan. `limits` is the purse by dimension, `tier_reason` says why this tier.

    deadline_ms is when the job ends whatever is known by then: the caller's, or the tier's (epoch milliseconds).
    """

    query: str
    language: str
    intent: Intent
    intent_confidence: float
    tier: Tier
    tier_reason: str
    questions: tuple[SubQuestion, ...]
    calls: tuple[PlannedCall, ...]
    limits: dict[str, int]
    max_sources: int
    max_rounds: int
    deadline_ms: int = 0
    constraint_use: tuple[ConstraintUse, ...] = ()
    notes: tuple[str, ...] = ()
