"""What is asked of research memory, as data: a command, checked before it is sent, and the kind of its answer."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypedDict, TypeVar, Unpack

from msgspec import Struct

from signal_search.client.request import checked
from signal_search.contracts.memory import (
    AnyCommand,
    ApprovalPage,
    AskApproval,
    AuditTrail,
    Decide,
    ListApprovals,
    ListMemories,
    ListVerifications,
    MemoryPage,
    MoveMemory,
    ReceiptRequest,
    SaveMemory,
    ShowApproval,
    ShowAudit,
    ShowMemory,
    ShowVerification,
    VerificationPage,
)
from signal_search.contracts.memory_index import Indexed, IndexFolder
from signal_search.contracts.research import (
    ApprovalPackage,
    ApprovalStatus,
    MemoryKind,
    MemoryStatus,
    ResearchMemory,
    ResearchRequest,
    Risk,
    ScopeKey,
    VerificationRun,
)
from signal_search.contracts.research_result import ResearchResult
from signal_search.receipts import payload_hash, token_digest

T = TypeVar("T")

MemoryCommand = AnyCommand | ReceiptRequest | ResearchRequest
ScopeLike = ScopeKey | Mapping[str, str] | Sequence[str]


class MemoryOptions(TypedDict, total=False):
    """What a memory may say besides its title and content."""

    kind: MemoryKind | str
    source_refs: Sequence[str]
    confidence: float
    applicability: Mapping[str, Any]
    related_memory_ids: Sequence[str]


class AskedApproval(Struct, frozen=True, kw_only=True):
    """A package that waits, and the token that its receipt must name; it is nowhere else."""

    package: ApprovalPackage
    receipt_token: str


class QueryOptions(TypedDict, total=False):
    """What a question may say besides its words."""

    limit: int
    tool_rounds: Sequence[Sequence[str]] | None
    result_ttl_s: int


@dataclass(frozen=True, slots=True)
class MemoryCall(Generic[T]):
    """A command and the kind of its answer."""

    command: MemoryCommand
    kind: type[T]


def scope_of(scope: ScopeLike) -> ScopeKey:
    """Return a scope from one, from its five names in order, or from a mapping.

    Raises:
        Invalid: it has not exactly five names, or one is not valid; `field` says which.
    """
    if isinstance(scope, ScopeKey | Mapping):
        return checked(scope, ScopeKey, "scope")
    given = list(scope) if not isinstance(scope, str) else scope.split(",")
    names = ScopeKey.__struct_fields__
    spare = {f"name{at}": each for at, each in enumerate(given[len(names) :])}
    return checked({**dict(zip(names, given, strict=False)), **spare}, ScopeKey, "scope")


def query(
    scope: ScopeKey, words: str, **options: Unpack[QueryOptions]
) -> MemoryCall[ResearchResult]:
    """Ask for evidence; raises Invalid as all below, when a field is out of its bounds."""
    return _call(ResearchRequest, ResearchResult, scope, query=words, **options)


def save(
    scope: ScopeKey, title: str, content: str, **options: Unpack[MemoryOptions]
) -> MemoryCall[ResearchMemory]:
    """Keep a memory as a candidate."""
    named = {"kind": MemoryKind.KNOWLEDGE, **options}
    return _call(SaveMemory, ResearchMemory, scope, title=title, content=content, **named)


def move(
    scope: ScopeKey, memory_id: str, to: MemoryStatus, reason: str
) -> MemoryCall[ResearchMemory]:
    """Put a memory into another state."""
    return _call(MoveMemory, ResearchMemory, scope, memory_id=memory_id, to=to, reason=reason)


def index(scope: ScopeKey, *, anew: bool) -> MemoryCall[Indexed]:
    """Compare the index with the folder of the scope."""
    return _call(IndexFolder, Indexed, scope, anew=anew)


def show(scope: ScopeKey, memory_id: str) -> MemoryCall[ResearchMemory]:
    """Return a memory."""
    return _call(ShowMemory, ResearchMemory, scope, record_id=memory_id)


def audit(scope: ScopeKey, memory_id: str) -> MemoryCall[AuditTrail]:
    """Return what was done to a memory."""
    return _call(ShowAudit, AuditTrail, scope, record_id=memory_id)


def memories(
    scope: ScopeKey,
    status: MemoryStatus | None,
    kind: MemoryKind | None,
    limit: int,
    cursor: str | None,
) -> MemoryCall[MemoryPage]:
    """Return a page of memories."""
    named = {"status": status, "kind": kind, "limit": limit, "cursor": cursor or ""}
    return _call(ListMemories, MemoryPage, scope, **named)


def ask_approval(
    scope: ScopeKey, case_id: str, payload: Mapping[str, Any], risk: Risk
) -> tuple[MemoryCall[ApprovalPackage], str]:
    """Ask for an approval with a new token; return the token too, of which only a digest is sent."""
    payload_hash(dict(payload))  # refuses what is no JSON, and would not arrive as it is
    token = secrets.token_hex(32)
    call = _call(
        AskApproval,
        ApprovalPackage,
        scope,
        case_memory_id=case_id,
        payload=payload,
        risk_level=risk,
        receipt_token_digest=token_digest(token),
    )
    return call, token


def decide(
    scope: ScopeKey, package_id: str, decision: str, reason: str
) -> MemoryCall[ApprovalPackage]:
    """Decide about a package."""
    named = {"package_id": package_id, "decision": decision, "reason": reason}
    return _call(Decide, ApprovalPackage, scope, **named)


def approval(scope: ScopeKey, package_id: str) -> MemoryCall[ApprovalPackage]:
    """Return a package."""
    return _call(ShowApproval, ApprovalPackage, scope, record_id=package_id)


def approvals(
    scope: ScopeKey, status: ApprovalStatus | None, case_id: str, limit: int, cursor: str | None
) -> MemoryCall[ApprovalPage]:
    """Return a page of packages."""
    named = {"status": status, "case_memory_id": case_id, "limit": limit, "cursor": cursor or ""}
    return _call(ListApprovals, ApprovalPage, scope, **named)


def give_receipt(scope: ScopeKey, receipt: Mapping[str, Any]) -> MemoryCall[VerificationRun]:
    """Hand in a receipt: the fields of `Receipt`."""
    return _call(ReceiptRequest, VerificationRun, scope, **receipt)


def verification(scope: ScopeKey, run_id: str) -> MemoryCall[VerificationRun]:
    """Return a verification run."""
    return _call(ShowVerification, VerificationRun, scope, record_id=run_id)


def verifications(
    scope: ScopeKey, case_id: str, limit: int, cursor: str | None
) -> MemoryCall[VerificationPage]:
    """Return a page of verification runs."""
    named = {"case_memory_id": case_id, "limit": limit, "cursor": cursor or ""}
    return _call(ListVerifications, VerificationPage, scope, **named)


def _call(command: type[Any], answer: type[T], scope: ScopeKey, /, **values: Any) -> MemoryCall[T]:
    made: MemoryCommand = checked({"scope": scope, **values}, command, "")
    return MemoryCall(made, answer)
