"""What a job intends to do: the plan and its calls."""

from typing import Literal

from msgspec import Struct

from signal_search.contracts.adaptive_plan import AdaptiveFrame
from signal_search.contracts.memory_result import MemoryAnswer
from signal_search.contracts.query import Intent, Tier
from signal_search.contracts.research import RouterResult
from signal_search.contracts.scorer import RankingWeights
from signal_search.contracts.search_plan import SearchPlan

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
    """One (sub-question, source) pair. A shared call serves every sub-question at once (site, feed).

    text, limit and freshness: what is asked, for how many hits and of which age, where no plan says it.
    """

    id: str
    source_id: str
    question_id: str
    round: int = 1
    shared: bool = False
    text: str = ""
    limit: int = 0
    freshness: str | None = None


class ConstraintUse(Struct, frozen=True, kw_only=True):
    """How one source treats the caller's constraints: three different things, never mixed up."""

    source_id: str
    pushed_down: tuple[str, ...] = ()
    applied_after: tuple[str, ...] = ()
    not_honoured: tuple[str, ...] = ()


class SearchFrame(Struct, frozen=True, kw_only=True):
    """What the plan of a search or survey holds besides: how it searches, and what a model said about it.

    weights: as the operator's model chose them; model_error: the code of why it did not; model_tokens: as it reported.
    queries_by: who named a survey's queries.
    """

    plan: SearchPlan
    weights: RankingWeights | None = None
    model_error: str = ""
    model_tokens: int = 0
    queries_by: Literal["caller", "goal", "model"] = "caller"


class Plan(Struct, frozen=True, kw_only=True):
    """The whole plan. `limits` is the purse by dimension, `tier_reason` says why this tier.

    deadline_ms is when the job ends whatever is known by then: the caller's, or the tier's (epoch milliseconds).
    search: of a search or survey, adaptive: of an adaptive search; intent and tier say nothing there. research: what
    the memory of a scope answered, memory: what came of a command to it.
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
    search: SearchFrame | None = None
    adaptive: AdaptiveFrame | None = None
    research: RouterResult | None = None
    memory: MemoryAnswer | None = None
