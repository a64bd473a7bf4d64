"""What is done to the memories of a scope: bodies over HTTP, the same as commands, and what comes back.

A body says what its address does not; a command says all of it and is what travels to whoever has the files. Both have
the scope. Nobody names themselves in them: who acts is whom the token belongs to.
"""

from datetime import datetime
from typing import Annotated, Any

from msgspec import Meta, Struct

from signal_search.contracts.memory_index import IndexFolder
from signal_search.contracts.research import (
    ApprovalPackage,
    ApprovalStatus,
    Decision,
    Digest,
    MemoryKind,
    MemoryStatus,
    Outcome,
    ResearchConstraints,
    Risk,
    ScopeKey,
    VerificationRun,
)

# Of a record of a scope: a memory, a package, a run or a receipt.
RecordId = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$(?!\n)")]
Reason = Annotated[str, Meta(max_length=1000)]
Name = Annotated[str, Meta(max_length=200)]
PageSize = Annotated[int, Meta(ge=1, le=200)]
Cursor = Annotated[str, Meta(max_length=300)]


class MemoryDraft(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A memory to be kept, as a candidate that nobody finds yet. `applicability` as of a memory."""

    scope: ScopeKey
    kind: MemoryKind
    title: Annotated[str, Meta(min_length=1, max_length=1000)]
    content: Annotated[str, Meta(min_length=1, max_length=200_000)]
    source_refs: Annotated[tuple[str, ...], Meta(max_length=100)] = ()
    confidence: Annotated[float, Meta(ge=0, le=1)] = 0.8
    applicability: dict[str, Any] = {}
    related_memory_ids: Annotated[tuple[str, ...], Meta(max_length=100)] = ()


class StepRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A step in a memory's life, and why."""

    scope: ScopeKey
    reason: Reason = ""


class ApprovalRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What somebody else is to approve about a research case.

    receipt_token_digest: SHA-256 hex digest of the token that the receipt will name. Who asks makes the token, 64
    hexadecimal digits, and keeps it: no answer ever has one. requester_id: where given, who asks.
    """

    scope: ScopeKey
    case_memory_id: RecordId
    payload: dict[str, Any]
    receipt_token_digest: Digest
    risk_level: Risk = "medium"
    requester_id: Name = ""


class DecisionRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A decision about a package. approver_id: where given, who decides; package_id: likewise, the address's."""

    scope: ScopeKey
    decision: Decision
    reason: Reason = ""
    approver_id: Name = ""
    package_id: Name = ""


class Receipt(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A receipt as it is handed in: whose it is is proved by hash and token, and what it says."""

    package_id: RecordId
    case_memory_id: RecordId
    payload_hash: Digest
    receipt_token: Digest
    receipt_id: RecordId
    status: Outcome
    receipt: dict[str, Any]


class ReceiptRequest(Receipt, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A receipt of a package of this scope."""

    scope: ScopeKey


class SaveMemory(
    MemoryDraft,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="operation",
    tag="save",
):
    """Keep a new memory."""


class MoveMemory(
    StepRequest,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="operation",
    tag="move",
):
    """Put a memory into another state."""

    memory_id: RecordId
    to: MemoryStatus


class AskApproval(
    ApprovalRequest,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="operation",
    tag="ask_approval",
):
    """Ask for an approval."""


class Decide(
    DecisionRequest,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="operation",
    tag="decide",
):
    """Decide about the package `package_id`."""


class TakeReceipt(Struct, frozen=True, kw_only=True, tag_field="operation", tag="take_receipt"):
    """Keep a receipt whose content was checked. Its token is left out: a digest proves it as well.

    event_key: what names this very event, as of a verification run.
    """

    scope: ScopeKey
    package_id: RecordId
    case_memory_id: RecordId
    payload_hash: Digest
    token_digest: Digest
    receipt_id: RecordId
    event_key: Digest
    status: Outcome
    receipt: dict[str, Any]


class Show(Struct, frozen=True, kw_only=True):
    """One record of a scope."""

    scope: ScopeKey
    record_id: RecordId


class ShowMemory(Show, frozen=True, kw_only=True, tag_field="operation", tag="show_memory"):
    """Return a memory, in whatever state."""


class ShowAudit(Show, frozen=True, kw_only=True, tag_field="operation", tag="show_audit"):
    """Return what was done to a memory."""


class ShowApproval(Show, frozen=True, kw_only=True, tag_field="operation", tag="show_approval"):
    """Return a package."""


class ShowVerification(
    Show, frozen=True, kw_only=True, tag_field="operation", tag="show_verification"
):
    """Return a verification run."""


class Listing(Struct, frozen=True, kw_only=True):
    """A page of records of a scope, the newest first, from after `cursor`."""

    scope: ScopeKey
    limit: PageSize = 50
    cursor: Cursor = ""


class ListMemories(Listing, frozen=True, kw_only=True, tag_field="operation", tag="list_memories"):
    """Return memories, of a state and a kind where these are given; which changed last comes first."""

    status: MemoryStatus | None = None
    kind: MemoryKind | None = None


class ListApprovals(
    Listing, frozen=True, kw_only=True, tag_field="operation", tag="list_approvals"
):
    """Return packages, of a state and a case where these are given."""

    status: ApprovalStatus | None = None
    case_memory_id: Name = ""


class ListVerifications(
    Listing, frozen=True, kw_only=True, tag_field="operation", tag="list_verifications"
):
    """Return verification runs, of a case where one is given."""

    case_memory_id: Name = ""


AnyCommand = (
    SaveMemory
    | MoveMemory
    | IndexFolder
    | AskApproval
    | Decide
    | TakeReceipt
    | ShowMemory
    | ShowAudit
    | ShowApproval
    | ShowVerification
    | ListMemories
    | ListApprovals
    | ListVerifications
)


class MemoryRequest(Struct, frozen=True, kw_only=True):
    """A command as it is submitted to a deployment. actor: on whose behalf, as the audit will say."""

    command: AnyCommand
    actor: str
    constraints: ResearchConstraints = ResearchConstraints()
    result_ttl_s: int | None = None


class MemoryLine(Struct, frozen=True, kw_only=True):
    """A memory in a list, without its text."""

    memory_id: str
    kind: MemoryKind
    title: str
    status: MemoryStatus
    confidence: float
    created_at: datetime
    updated_at: datetime


class MemoryPage(Struct, frozen=True, kw_only=True):
    """A page of memories; `next_cursor` asks for more, None at the end."""

    memories: tuple[MemoryLine, ...]
    next_cursor: str | None = None


class AuditLine(Struct, frozen=True, kw_only=True):
    """One thing that was done to a memory; never a payload, a token or the memory's text."""

    memory_id: str
    action: str
    event_key: str
    details: dict[str, Any]
    created_at: str


class AuditTrail(Struct, frozen=True, kw_only=True):
    """What was done to a memory, the first thing first."""

    audit: tuple[AuditLine, ...]


class ApprovalPage(Struct, frozen=True, kw_only=True):
    """A page of packages; `next_cursor` asks for more, None at the end."""

    approvals: tuple[ApprovalPackage, ...]
    next_cursor: str | None = None


class VerificationPage(Struct, frozen=True, kw_only=True):
    """A page of verification runs; `next_cursor` asks for more, None at the end."""

    verifications: tuple[VerificationRun, ...]
    next_cursor: str | None = None
