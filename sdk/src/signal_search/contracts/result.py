"""The result of a retrieve job, the same on every face."""

from enum import StrEnum

from msgspec import Struct

from signal_search.contracts.budget import Usage
from signal_search.contracts.document import Author
from signal_search.contracts.finding import Conflict, Finding, Uncertainty
from signal_search.contracts.query import Intent, Tier
from signal_search.contracts.score import SourceScore


class StopReason(StrEnum):
    """Why searching ended; exactly one per job. Texts in Chinese and English: `scoring.stop_rule.TEXTS`."""

    BUDGET_NARROW = "budget_narrow"
    BUDGET_COVERAGE = "budget_coverage"
    DEADLINE = "deadline"
    AGREEMENT = "agreement"
    CHECKLIST_CLOSED = "checklist_closed"
    SATURATED = "saturated"
    NOTHING_NEW = "nothing_new"
    PLAN_COMPLETE = "plan_complete"
    NO_SOURCE_REACHED = "no_source_reached"
    NO_EVIDENCE = "no_evidence"
    NO_SEARCH_NEEDED = "no_search_needed"
    CANCELLED = "cancelled"
    KEYWORD_QUEUE_EMPTY = "keyword_queue_empty"
    NO_ACTION = "no_action"
    BUDGET_ROUNDS = "budget_rounds"
    BUDGET_CALLS = "budget_calls"
    BUDGET_TOKENS = "budget_tokens"
    JEV_UNAVAILABLE = "jev_unavailable"
    NOT_CONFIGURED = "not_configured"
    NO_ENGINES = "no_engines"


class CitedSource(Struct, frozen=True, kw_only=True):
    """A source that the result cites; `number` is what findings refer to."""

    number: int
    doc_id: str
    url: str
    title: str
    source_id: str
    site: str
    source_type: str
    published: str = ""
    date_kind: str = "none"
    fetched_at: str = ""
    authors: tuple[Author, ...] = ()
    container: str = ""
    publisher: str = ""
    volume: str = ""
    issue: str = ""
    pages: str = ""
    doi: str = ""
    arxiv_id: str = ""
    work_type: str = ""
    language: str = ""
    retracted: bool = False


class Stop(Struct, frozen=True, kw_only=True):
    """The decision to stop and the numbers it rests on. `would_have` says what would have been done next."""

    reason: StopReason
    text: str
    exhausted: bool
    coverage: float
    saturation: float
    rounds: int
    basis: str = ""
    would_have: str = ""


class SourceOutcome(Struct, frozen=True, kw_only=True):
    """What became of one source: "no results", "failed" and "filtered" are different things."""

    source_id: str
    state: str
    reason: str = ""
    detail: str = ""
    until: str = ""
    documents: int = 0
    fetches: int = 0


class TraceEvent(Struct, frozen=True, kw_only=True):
    """One decision, with the milliseconds since submission."""

    t_ms: int
    name: str
    data: dict[str, object] = {}


class Result(Struct, frozen=True, kw_only=True):
    """Evidence and how far to trust it; it never decides for the caller.

    token_used repeats usage.tokens, tier_used the plan's tier: the design document's contract names them so.
    scores are parallel to sources. confidence is 0..1 and 0 without evidence.
    """

    job_id: str
    query: str
    answer: str
    findings: tuple[Finding, ...]
    sources: tuple[CitedSource, ...]
    scores: tuple[SourceScore, ...]
    confidence: float
    confidence_reasons: tuple[str, ...]
    token_used: int
    usage: Usage
    exhausted: bool
    tier_used: Tier
    intent: Intent
    language: str
    stop: Stop
    faithfulness: float | None
    claims_true: int
    claims_total: int
    uncertainties: tuple[Uncertainty, ...]
    conflicts: tuple[Conflict, ...]
    source_outcomes: tuple[SourceOutcome, ...]
    warnings: tuple[str, ...]
    degradations: tuple[str, ...]
    trace: tuple[TraceEvent, ...]
