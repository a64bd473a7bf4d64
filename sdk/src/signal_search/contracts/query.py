"""What a caller asks: the request of a retrieve job. Decoding refuses unknown fields and wrong types."""

from enum import StrEnum
from typing import Annotated, Literal

from msgspec import Meta, Struct

from signal_search.contracts.budget import Budget, Limit
from signal_search.contracts.research import ScopeKey
from signal_search.contracts.texts import QueryText


class Tier(StrEnum):
    """How deep to look: L0 one checkable value, L1 one fact, L2 compare and diagnose, L3 research."""

    L0 = "L0"
    L1 = "L1"
    L2 = "L2"
    L3 = "L3"


class Intent(StrEnum):
    """What kind of answer is wanted."""

    FACT = "fact"
    COMPARE = "compare"
    HOWTO = "howto"
    WHY = "why"
    RESEARCH = "research"
    LATEST = "latest"
    VERIFY = "verify"


class DelegationKind(StrEnum):
    """What a job may ask of its caller's own model or person (`signal_search.contracts.delegation`)."""

    TIER_CLASSIFY = "tier_classify"
    CLARIFY = "clarify"
    OUTLINE_CONFIRM = "outline_confirm"
    ROUTE = "route"
    CONFLICT_CHECK = "conflict_check"
    ENTAIL = "entail"
    AGENT_TASK = "agent_task"
    DOI_RESOLVE = "doi_resolve"
    EXECUTE = "execute"
    RELEVANCE_JUDGE = "relevance_judge"
    SCREEN = "screen"


MEMORY_SOURCE = "memory"
"""The name of research memory among the sources of a job."""

Depth = Literal["quick", "standard", "deep"]
Name = Annotated[str, Meta(min_length=1, max_length=2048)]

# pd, pw, pm, py = past day, week, month, year; or an inclusive range of days.
FRESHNESS_PATTERN = r"^(pd|pw|pm|py|\d{4}-\d{2}-\d{2}\.\.\d{4}-\d{2}-\d{2})$"


class SourcePrefs(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Sources or registrable domains to lift, to drop, or to use alone (`only` also takes `site:URL`, `feed:URL`).

    `memory` alone in `only` asks research memory and nothing else: no request leaves the deployment for the job.
    """

    boost: Annotated[tuple[Name, ...], Meta(max_length=50)] = ()
    block: Annotated[tuple[Name, ...], Meta(max_length=50)] = ()
    only: Annotated[tuple[Name, ...], Meta(max_length=50)] = ()


class Constraints(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an acceptable answer must respect. scope: the research memory that is asked besides the other sources."""

    language: Annotated[str, Meta(pattern=r"^[a-z]{2}(-[A-Za-z]{2,4})?$")] | None = None
    domain: Annotated[str, Meta(min_length=1, max_length=253)] | None = None
    freshness: Annotated[str, Meta(pattern=FRESHNESS_PATTERN)] | None = None
    max_sources: Annotated[int, Meta(ge=1, le=50)] | None = None
    required_tier: Tier | None = None
    source_prefs: SourcePrefs = SourcePrefs()
    scope: ScopeKey | None = None
    deadline_s: Annotated[float, Meta(gt=0, le=86_400)] | None = None


class RetrieveRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A retrieve job as submitted. `budget` is a soft token limit or limits by dimension.

    delegate: what the caller can answer while the job runs; nothing else is asked, and without it nothing at all.
    """

    query: QueryText
    constraints: Constraints = Constraints()
    budget: Limit | Budget | None = None
    depth: Depth | None = None
    result_ttl_s: Annotated[int, Meta(ge=60, le=2_592_000)] | None = None
    delegate: Annotated[tuple[DelegationKind, ...], Meta(max_length=10)] = ()
