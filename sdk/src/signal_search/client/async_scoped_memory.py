"""Research memory of one scope, for asyncio: what `ScopedMemory` does."""

from collections.abc import Mapping
from typing import Any, Unpack

from signal_search.client import memory_calls as calls
from signal_search.client.desk import Desk
from signal_search.client.memory_calls import AskedApproval, MemoryOptions, QueryOptions
from signal_search.contracts.memory import ApprovalPage, AuditTrail, MemoryPage, VerificationPage
from signal_search.contracts.memory_index import Indexed
from signal_search.contracts.research import (
    ApprovalPackage,
    ApprovalStatus,
    Decision,
    MemoryKind,
    MemoryStatus,
    ResearchMemory,
    Risk,
    ScopeKey,
    VerificationRun,
)
from signal_search.contracts.research_result import ResearchResult


class AsyncScopedMemory:
    """The memories, approvals and receipts of a scope. Who acts is whom the client's token belongs to.

    Every method raises NotFound unless the token was made with this very scope, Invalid before anything is sent when a
    field is out of its bounds, and StoreFailed when no worker with the memory answers. A command that was sent twice
    because of a lost answer is done once; an `idempotency_key` of yours makes that so over calls.
    """

    def __init__(self, desk: Desk, scope: ScopeKey) -> None:
        """Work in `scope` over the client's transport."""
        self._desk = desk
        self._scope = scope

    async def query(self, words: str, **options: Unpack[QueryOptions]) -> ResearchResult:
        """Return the evidence for a question; StoreFailed when it takes longer than the retries."""
        return await self._desk.remember(calls.query(self._scope, words, **options))

    async def save(
        self,
        title: str,
        content: str,
        *,
        idempotency_key: str | None = None,
        **options: Unpack[MemoryOptions],
    ) -> ResearchMemory:
        """Keep a memory as a candidate, which nobody finds yet."""
        return await self._desk.remember(
            calls.save(self._scope, title, content, **options), idempotency_key
        )

    async def index(self, *, anew: bool = False, idempotency_key: str | None = None) -> Indexed:
        """Make the index the state of the folder that the deployment's settings name for this scope."""
        return await self._desk.remember(calls.index(self._scope, anew=anew), idempotency_key)

    async def get(self, memory_id: str) -> ResearchMemory:
        """Return a memory, in whatever state it is; NotFound when there is none."""
        return await self._desk.remember(calls.show(self._scope, memory_id))

    async def list(
        self,
        *,
        status: MemoryStatus | None = None,
        kind: MemoryKind | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> MemoryPage:
        """Return a page of memories without their texts, which changed last first."""
        return await self._desk.remember(calls.memories(self._scope, status, kind, limit, cursor))

    async def audit(self, memory_id: str) -> AuditTrail:
        """Return what was done to a memory, the first thing first."""
        return await self._desk.remember(calls.audit(self._scope, memory_id))

    async def move(
        self,
        memory_id: str,
        to: MemoryStatus,
        *,
        reason: str = "",
        idempotency_key: str | None = None,
    ) -> ResearchMemory:
        """Put a memory into another state; Conflict when that may not follow."""
        return await self._desk.remember(
            calls.move(self._scope, memory_id, to, reason), idempotency_key
        )

    async def verify(self, memory_id: str, *, reason: str = "") -> ResearchMemory:
        """Say that a memory was checked."""
        return await self.move(memory_id, MemoryStatus.VERIFIED, reason=reason)

    async def publish(self, memory_id: str, *, reason: str = "") -> ResearchMemory:
        """Let a verified memory be found; a research case needs its approval and a passed receipt first."""
        return await self.move(memory_id, MemoryStatus.PUBLISHED, reason=reason)

    async def deprecate(self, memory_id: str, *, reason: str = "") -> ResearchMemory:
        """Take a published memory out of what is found."""
        return await self.move(memory_id, MemoryStatus.DEPRECATED, reason=reason)

    async def expire(self, memory_id: str, *, reason: str = "") -> ResearchMemory:
        """Say that a published memory is out of date."""
        return await self.move(memory_id, MemoryStatus.EXPIRED, reason=reason)

    async def conflict(self, memory_id: str, *, reason: str = "") -> ResearchMemory:
        """Say that something contradicts a published memory."""
        return await self.move(memory_id, MemoryStatus.CONFLICT, reason=reason)

    async def revoke(self, memory_id: str, *, reason: str = "") -> ResearchMemory:
        """Withdraw a memory for good."""
        return await self.move(memory_id, MemoryStatus.REVOKED, reason=reason)

    async def ask_approval(
        self,
        case_id: str,
        payload: Mapping[str, Any],
        *,
        risk: Risk = "medium",
        idempotency_key: str | None = None,
    ) -> AskedApproval:
        """Ask somebody else to approve a research case; keep the token, which only its receipt will name."""
        call, token = calls.ask_approval(self._scope, case_id, payload, risk)
        package = await self._desk.remember(call, idempotency_key)
        return AskedApproval(package=package, receipt_token=token)

    async def approval(self, package_id: str) -> ApprovalPackage:
        """Return an approval; one that waited too long is expired."""
        return await self._desk.remember(calls.approval(self._scope, package_id))

    async def approvals(
        self,
        *,
        status: ApprovalStatus | None = None,
        case_id: str = "",
        limit: int = 50,
        cursor: str | None = None,
    ) -> ApprovalPage:
        """Return a page of approvals, newest first."""
        return await self._desk.remember(
            calls.approvals(self._scope, status, case_id, limit, cursor)
        )

    async def decide(
        self,
        package_id: str,
        decision: Decision,
        *,
        reason: str = "",
        idempotency_key: str | None = None,
    ) -> ApprovalPackage:
        """Decide about an approval, once, as somebody else than who asked; Conflict when it is decided or expired."""
        return await self._desk.remember(
            calls.decide(self._scope, package_id, decision, reason), idempotency_key
        )

    async def give_receipt(
        self, receipt: Mapping[str, Any], *, idempotency_key: str | None = None
    ) -> VerificationRun:
        """Hand in what came of an approved package, the fields of `Receipt`; the same one again is the same run."""
        return await self._desk.remember(calls.give_receipt(self._scope, receipt), idempotency_key)

    async def verification(self, run_id: str) -> VerificationRun:
        """Return a verification run."""
        return await self._desk.remember(calls.verification(self._scope, run_id))

    async def verifications(
        self, *, case_id: str = "", limit: int = 50, cursor: str | None = None
    ) -> VerificationPage:
        """Return a page of verification runs, newest first."""
        return await self._desk.remember(calls.verifications(self._scope, case_id, limit, cursor))
