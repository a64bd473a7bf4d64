"""Commands on the memories of a scope, carried out; the same by whichever way they come.

Each takes an event: a command that is carried out again for the same event, since whoever carried it out died before
it could tell, changes nothing and answers with what is there.
"""

from collections.abc import Callable
from typing import Any, Final

import msgspec
from msgspec import Struct
from signal_search.contracts.memory import (
    AnyCommand,
    AskApproval,
    AuditTrail,
    Decide,
    ListApprovals,
    ListMemories,
    ListVerifications,
    MoveMemory,
    SaveMemory,
    ShowApproval,
    ShowAudit,
    ShowMemory,
    ShowVerification,
    TakeReceipt,
)
from signal_search.contracts.memory_result import Family, MemoryAnswer, MemoryRefusal
from signal_search.contracts.research import ApprovalPackage, ResearchMemory, VerificationRun
from signal_search.errors import Broken, Conflict, Invalid, NotFound, Refused, Unsupported

from infra.ids import digest
from workers.memory.approvals import Approvals
from workers.memory.lists import list_approvals, list_memories, list_verifications
from workers.memory.receipts import Receipts
from workers.memory.store import MemoryStore

_ID_CHARACTERS: Final = 24  # 96 bits, as of ids that are drawn
_FAMILIES: Final[tuple[tuple[type[Refused], Family], ...]] = (
    (NotFound, "not_found"),
    (Conflict, "conflict"),
    (Invalid, "invalid"),
    (Unsupported, "invalid"),
)


def perform(store: MemoryStore, command: AnyCommand, *, actor: str, event: str) -> Struct:
    """Return the record or page that comes of a command, whose scope must be the store's.

    Raises:
        Invalid: the command is of another scope; else what the life of memories, approvals and receipts says.
        NotFound, Conflict: likewise.
    """
    if command.scope != store.file.scope:
        raise Invalid("The command belongs to a different scope.", field="scope")
    try:
        do = _DOES[type(command)]
    except KeyError as error:
        raise Broken from error
    return do(store, command, actor, event)


def answer(store: MemoryStore, command: AnyCommand, *, actor: str, event: str) -> MemoryAnswer:
    """Return what comes of a command as JSON, or what it is refused for. Raises StoreFailed alone."""
    return answer_of(lambda: perform(store, command, actor=actor, event=event))


def answer_of(do: Callable[[], Struct]) -> MemoryAnswer:
    """Return what comes of something as JSON, or what it is refused for; raises whatever else `do` raises."""
    try:
        made = do()
    except Refused as error:
        return MemoryAnswer(refusal=_refusal(error))
    value: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(made))
    return MemoryAnswer(value=value)


def _refusal(error: Refused) -> MemoryRefusal:
    family = next((name for kind, name in _FAMILIES if isinstance(error, kind)), None)
    if family is None:
        raise Broken from error
    return MemoryRefusal(family=family, code=error.code, message=error.message, field=error.field)


def _id_of(kind: str, event: str) -> str:
    """Return the id of what an event makes: the same when it is made again."""
    return f"{kind}_{digest(kind, event)[:_ID_CHARACTERS]}"


def _save(store: MemoryStore, command: SaveMemory, actor: str, event: str) -> ResearchMemory:
    now = store.now()
    memory = ResearchMemory(
        memory_id=_id_of("mem", event),
        scope=command.scope,
        kind=command.kind,
        title=command.title,
        content=command.content,
        source_refs=command.source_refs,
        confidence=command.confidence,
        applicability=command.applicability,
        related_memory_ids=command.related_memory_ids,
        created_at=now,
        updated_at=now,
    )
    return store.save(memory, actor=actor, event_key=event)


def _move(store: MemoryStore, command: MoveMemory, actor: str, event: str) -> ResearchMemory:
    return store.move(
        command.memory_id, command.to, actor=actor, reason=command.reason, event_key=event
    )


def _ask(store: MemoryStore, command: AskApproval, actor: str, event: str) -> ApprovalPackage:
    return Approvals(store).ask_sealed(
        command.case_memory_id,
        command.payload,
        command.receipt_token_digest,
        requester=actor,
        risk=command.risk_level,
        package_id=_id_of("pkg", event),
    )


def _decide(store: MemoryStore, command: Decide, actor: str, event: str) -> ApprovalPackage:
    return Approvals(store).decide(
        command.package_id,
        command.decision,
        approver=actor,
        reason=command.reason,
        event_key=event,
    )


def _take(store: MemoryStore, command: TakeReceipt, _actor: str, _event: str) -> VerificationRun:
    return Receipts(store).take_sealed(command)


def _memory(store: MemoryStore, command: ShowMemory, _actor: str, _event: str) -> ResearchMemory:
    return store.get(command.record_id)


def _audit(store: MemoryStore, command: ShowAudit, _actor: str, _event: str) -> AuditTrail:
    store.get(command.record_id)
    return AuditTrail(audit=tuple(store.audit(command.record_id)))


def _approval(
    store: MemoryStore, command: ShowApproval, _actor: str, _event: str
) -> ApprovalPackage:
    return Approvals(store).get(command.record_id)


def _run(store: MemoryStore, command: ShowVerification, _actor: str, _event: str) -> Struct:
    return Receipts(store).get(command.record_id)


_DOES: Final[dict[type[Any], Callable[[MemoryStore, Any, str, str], Struct]]] = {
    SaveMemory: _save,
    MoveMemory: _move,
    AskApproval: _ask,
    Decide: _decide,
    TakeReceipt: _take,
    ShowMemory: _memory,
    ShowAudit: _audit,
    ShowApproval: _approval,
    ShowVerification: _run,
    ListMemories: lambda store, command, _actor, _event: list_memories(store, command),
    ListApprovals: lambda store, command, _actor, _event: list_approvals(store, command),
    ListVerifications: lambda store, command, _actor, _event: list_verifications(store, command),
}
