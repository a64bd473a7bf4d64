"""What an adaptive search answers. Names on the wire are the adaptive search guide's."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from signal_search.contracts.adaptive_plan import JudgeDriver
from signal_search.contracts.budget import Usage
from signal_search.contracts.result import SourceOutcome, Stop, TraceEvent

AdaptiveStop = Literal[
    "keyword_queue_empty",
    "no_action",
    "budget_rounds",
    "budget_calls",
    "budget_tokens",
    "deadline",
    "cancelled",
    "jev_unavailable",
    "invalid_input",
    "not_configured",
    "no_engines",
]


class TargetMatch(Struct, frozen=True, kw_only=True, rename="camel"):
    """What a result is worth to one of the caller's targets."""

    task_id: str | None
    target_id: str | None
    canonical_id: str
    value_score: float
    direction_match: float | None
    kind: str


class ScreenedResult(Struct, frozen=True, kw_only=True, rename="camel"):
    """A result worth reading. description: the reviewed extract, word for word; the rest is of the strongest match.

    value_score: 0..1, what reading is worth, no probability that it is right. direction_match: None where not known.
    """

    url: str
    title: str
    description: str
    value_score: float
    direction_match: float | None
    kind: str
    matches: tuple[TargetMatch, ...]


_LETTERS = {"best": "A", "coverage": "F", "repeated": "R"}


def _wire_name(name: str) -> str:
    first, *rest = name.split("_")
    return _LETTERS.get(name) or first + "".join(each.title() for each in rest)


class KeywordProgress(Struct, frozen=True, kw_only=True, rename=_wire_name):
    """What became of a keyword of a target. score may pass 1; it says whether to search on, and orders nothing.

    best, coverage and repeated are the guide's A, F and R.
    """

    target_id: str | None
    task_id: str | None
    canonical_id: str
    keyword: str
    status: str
    reason: str
    score: float
    best: float
    coverage: float
    repeated: float
    distinct_evidence: int
    final_status: str


class JudgeUse(Struct, frozen=True, kw_only=True, rename="camel"):
    """Who judged and what it cost: logical requests, HTTP requests, estimated and reported input tokens."""

    driver: JudgeDriver
    calls: int
    http_attempts: int
    estimated_tokens: int
    reported_tokens: int


class Waiting(Struct, frozen=True, kw_only=True, rename="camel"):
    """Time that was not the search's own, in milliseconds: before a worker took it, and for polite turns at hosts."""

    queue_ms: int
    slots_ms: int


class AdaptiveResult(
    Struct, frozen=True, kw_only=True, rename="camel", tag_field="kind", tag="adaptive"
):
    """A page of results, and how the search ended. coverage_complete is always false: completeness is not assessed.

    retrieval_sufficient: every keyword was satisfied; that says nothing about an answer. pending_assessments: collected
    but not reviewed to the end. Below warnings: what this service says of every job; a page by cursor has none of it.
    """

    results: tuple[ScreenedResult, ...]
    total_results: int
    next_cursor: str | None
    expires_at: str | None
    retrieval_sufficient: bool
    keyword_progress: tuple[KeywordProgress, ...]
    pending_assessments: int
    stop_reason: AdaptiveStop
    warnings: tuple[str, ...]
    schema_version: Literal[3] = 3
    coverage_complete: Literal[False] = False
    job_id: str | UnsetType = UNSET
    rounds: int | UnsetType = UNSET
    judge: JudgeUse | UnsetType = UNSET
    waiting: Waiting | UnsetType = UNSET
    usage: Usage | UnsetType = UNSET
    source_outcomes: tuple[SourceOutcome, ...] = ()
    stop: Stop | None = None
    trace: tuple[TraceEvent, ...] | UnsetType = UNSET
