"""The gateway's addresses of research memory: from a command to a request."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec import structs

from signal_search.client.memory_calls import MemoryCommand
from signal_search.client.operations import Operation
from signal_search.contracts.memory import (
    AskApproval,
    Decide,
    ListApprovals,
    Listing,
    ListMemories,
    ListVerifications,
    MoveMemory,
    ReceiptRequest,
    SaveMemory,
    Show,
    ShowApproval,
    ShowAudit,
    ShowMemory,
    ShowVerification,
)
from signal_search.contracts.memory_index import IndexFolder
from signal_search.contracts.research import MemoryStatus, ResearchRequest

_ROOT = "/v1/research"
_STEPS = {
    MemoryStatus.VERIFIED: "verify",
    MemoryStatus.PUBLISHED: "publish",
    MemoryStatus.DEPRECATED: "deprecate",
    MemoryStatus.EXPIRED: "expire",
    MemoryStatus.CONFLICT: "conflict",
    MemoryStatus.REVOKED: "revoke",
    MemoryStatus.CANDIDATE: "candidate",  # there is no such step; the gateway says so
}
_PATHS: dict[type[Any], Callable[[Any], str]] = {
    ResearchRequest: lambda _: "/query",
    SaveMemory: lambda _: "/memories",
    MoveMemory: lambda each: f"/memories/{_part(each.memory_id)}/{_STEPS[each.to]}",
    IndexFolder: lambda _: "/index",
    AskApproval: lambda _: "/approvals",
    Decide: lambda each: f"/approvals/{_part(each.package_id)}/decision",
    ReceiptRequest: lambda _: "/verifications",
    ShowMemory: lambda each: f"/memories/{_part(each.record_id)}",
    ShowAudit: lambda each: f"/memories/{_part(each.record_id)}/audit",
    ShowApproval: lambda each: f"/approvals/{_part(each.record_id)}",
    ShowVerification: lambda each: f"/verifications/{_part(each.record_id)}",
    ListMemories: lambda _: "/memories",
    ListApprovals: lambda _: "/approvals",
    ListVerifications: lambda _: "/verifications",
}
_IN_PATH = frozenset({"operation", "memory_id", "to"})


def remember(command: MemoryCommand, idempotency_key: str) -> Operation[bytes]:
    """Return the request for a command; one that changes something is safe to send again because of its key."""
    path = _ROOT + _PATHS[type(command)](command)
    if isinstance(command, Show | Listing):
        return Operation("GET", path, bytes, query=_query(command))
    headers = {"Content-Type": "application/json", "Idempotency-Key": idempotency_key}
    fields: dict[str, Any] = msgspec.to_builtins(command)
    body = {name: value for name, value in fields.items() if name not in _IN_PATH}
    return Operation("POST", path, bytes, headers=headers, body=msgspec.json.encode(body))


def _query(command: Show | Listing) -> dict[str, str]:
    fields: dict[str, Any] = msgspec.to_builtins(command)
    own = {
        name: str(value)
        for name, value in fields.items()
        if name not in {"scope", "record_id", "operation"} and value not in (None, "")
    }
    return {**structs.asdict(command.scope), **own}


def _part(name: str) -> str:
    return quote(name, safe="")
