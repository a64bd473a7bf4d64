"""Research memory: the scope that all of it belongs to, evidence found in it, and how a question was answered."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from signal_search.contracts.texts import QueryText

# Not blank, no control characters, no blanks around it: what a scope's part looks like once it was trimmed.
ScopePart = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=200,
        pattern=r"^[^\s\x00-\x1f\x7f]([^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f])?$(?!\n)",
    ),
]
Digest = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]


class ScopeKey(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, order=True):
    """The five names that a memory belongs to; two scopes are the same when all five are, letter by letter."""

    team_id: ScopePart
    project_id: ScopePart
    repository: ScopePart
    branch: ScopePart
    experiment_environment: ScopePart


class MemoryKind(StrEnum):
    """What a memory is about."""

    KNOWLEDGE = "knowledge"
    LITERATURE = "literature"
    EXPERIMENT = "experiment"
    WORKFLOW = "workflow"
    PREFERENCE = "preference"
    RESEARCH_CASE = "research_case"


class MemoryStatus(StrEnum):
    """Where a memory is in its life; only published ones are ever found."""

    CANDIDATE = "candidate"
    VERIFIED = "verified"
    PUBLISHED = "published"
    DEPRECATED = "deprecated"
    REVOKED = "revoked"
    CONFLICT = "conflict"
    EXPIRED = "expired"


# What may follow what. A withdrawn memory comes back only by being verified again; a revoked one never.
TRANSITIONS: dict[MemoryStatus, frozenset[MemoryStatus]] = {
    MemoryStatus.CANDIDATE: frozenset({MemoryStatus.VERIFIED, MemoryStatus.REVOKED}),
    MemoryStatus.VERIFIED: frozenset({MemoryStatus.PUBLISHED, MemoryStatus.REVOKED}),
    MemoryStatus.PUBLISHED: frozenset(
        {
            MemoryStatus.DEPRECATED,
            MemoryStatus.EXPIRED,
            MemoryStatus.CONFLICT,
            MemoryStatus.REVOKED,
        }
    ),
    MemoryStatus.DEPRECATED: frozenset({MemoryStatus.VERIFIED, MemoryStatus.REVOKED}),
    MemoryStatus.EXPIRED: frozenset({MemoryStatus.VERIFIED, MemoryStatus.REVOKED}),
    MemoryStatus.CONFLICT: frozenset({MemoryStatus.VERIFIED, MemoryStatus.REVOKED}),
    MemoryStatus.REVOKED: frozenset(),
}


class ResearchMemory(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One thing worth remembering. Times have a zone.

    `applicability` may hold `experiment_environments` (list), `conflict_key`, `locator`, `verification_log` and
    `experiment_id`; other keys are kept.
    """

    memory_id: Annotated[str, Meta(min_length=1, max_length=200)]
    scope: ScopeKey
    kind: MemoryKind
    title: Annotated[str, Meta(min_length=1, max_length=1000)]
    content: Annotated[str, Meta(min_length=1, max_length=200_000)]
    created_at: Annotated[datetime, Meta(tz=True)]
    updated_at: Annotated[datetime, Meta(tz=True)]
    source_refs: Annotated[tuple[str, ...], Meta(max_length=100)] = ()
    confidence: Annotated[float, Meta(ge=0, le=1)] = 0.8
    applicability: dict[str, Any] = {}
    status: MemoryStatus = MemoryStatus.CANDIDATE
    related_memory_ids: Annotated[tuple[str, ...], Meta(max_length=100)] = ()


class EvidenceChunk(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A piece of text that a channel found, with where it stands. Scores are finite; `metadata` is JSON."""

    chunk_id: str
    scope: ScopeKey
    content: str
    source_ref: str
    locator: str | None = None
    vector_score: float | None = None
    rerank_score: float | None = None
    rerank_reason: str | None = None
    metadata: dict[str, Any] = {}


class ToolTrace(Struct, frozen=True, kw_only=True):
    """One call, refused or made. Never the query, evidence or free text; `reason` is one of a fixed set of codes.

    round_index: from 0; -1 for the plan itself. skipped: files that a channel left out on purpose.
    """

    round_index: int
    tool_name: str
    accepted: bool
    candidate_count: int
    duration_ms: float
    reason: str
    skipped: int = 0


class ResearchQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question to the memory of one scope. `tool_rounds` is a plan of the caller's own, checked like any other."""

    query: QueryText
    scope: ScopeKey
    tool_rounds: tuple[tuple[str, ...], ...] | None = None
    limit: Annotated[int, Meta(ge=1, le=100)] = 20


class ResearchConstraints(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long a question may take, in seconds."""

    deadline_s: Annotated[float, Meta(gt=0, le=3600)] | None = None


class ResearchRequest(ResearchQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question as it is submitted to a deployment; the answer is kept for `result_ttl_s`."""

    constraints: ResearchConstraints = ResearchConstraints()
    result_ttl_s: Annotated[int, Meta(ge=60, le=86_400)] | None = None


class RouterResult(Struct, frozen=True, kw_only=True):
    """What was found and how. `partial`: something that was planned is missing from the evidence.

    rejections: `tool:reason`. degradations: `reason` or `reason:tool`.
    scope_leak_count: candidates of another scope that channels returned; all were dropped.
    """

    scope: ScopeKey
    evidence: tuple[EvidenceChunk, ...]
    partial: bool
    traces: tuple[ToolTrace, ...]
    rejections: tuple[str, ...]
    degradations: tuple[str, ...]
    scope_leak_count: int = 0


class ApprovalStatus(StrEnum):
    """Where an approval is."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"


Risk = Literal["low", "medium", "high"]
Decision = Literal["approved", "rejected"]
Outcome = Literal["passed", "failed", "blocked"]


class ApprovalPackage(Struct, frozen=True, kw_only=True):
    """What one person asks another to approve, as it is shown: neither its payload nor its token."""

    package_id: str
    case_memory_id: str
    scope: ScopeKey
    requester_id: str
    payload_hash: Digest
    risk_level: Risk
    status: ApprovalStatus
    created_at: datetime
    expires_at: datetime


class VerificationRun(Struct, frozen=True, kw_only=True):
    """One receipt of what came of an approved package. The same receipt twice is one run."""

    run_id: str
    case_memory_id: str
    scope: ScopeKey
    package_id: str
    payload_hash: Digest
    receipt_id: str
    event_key: Digest
    receipt: dict[str, Any]
    status: Outcome
    created_at: datetime
