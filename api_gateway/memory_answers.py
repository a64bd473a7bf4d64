"""Commands to research memory as jobs: who may give them, whose the jobs are, and what their results say.

A command is a job because the files may be on another machine than the gateway, and no event loop should wait for a
disk: the worker that has the folder carries it out. The job has an owner of its own, made of tenant and scope, whom
nobody can be: what is kept, asked and handed in is at no address of a job. It counts on the tenant's quotas.
"""

from typing import Final

import msgspec
from msgspec import structs
from signal_search.contracts.memory import (
    AnyCommand,
    AskApproval,
    Decide,
    Listing,
    MemoryRequest,
    ReceiptRequest,
    Show,
)
from signal_search.contracts.memory_result import (
    Family,
    MemoryAnswer,
    MemoryRefusal,
    MemoryResult,
)
from signal_search.contracts.research import ResearchRequest, ScopeKey
from signal_search.errors import Conflict, Forbidden, Invalid, NotFound, Refused, StoreFailed
from signal_search.receipts import sealed

from api_gateway.owners import commands_owner
from api_gateway.submission import Caller
from infra.tokens import Principal

_READ_TTL_S: Final = 60  # nobody asks twice for the same reading
_RETRY_S: Final = 2.0
_CLASSES: Final[dict[Family, type[Refused]]] = {
    "not_found": NotFound,
    "conflict": Conflict,
    "invalid": Invalid,
}


def request_of(principal: Principal, given: AnyCommand | ReceiptRequest) -> MemoryRequest:
    """Return what is submitted for a command of this caller, a receipt without its token.

    Raises:
        NotFound: the scope was not granted to the caller, whether it exists or not.
        Forbidden: the command names somebody else than the caller. Invalid: the receipt's content is refused.
    """
    if not principal.may_ask(given.scope):
        raise NotFound
    _check_names(principal, given)
    command = sealed(given, given.scope) if isinstance(given, ReceiptRequest) else given
    is_reading = isinstance(command, Show | Listing)
    ttl_s = _READ_TTL_S if is_reading else None
    return MemoryRequest(command=command, actor=principal.actor, result_ttl_s=ttl_s)


def asked_of(
    principal: Principal, given: AnyCommand | ReceiptRequest | ResearchRequest
) -> MemoryRequest | ResearchRequest:
    """Return what is submitted for a command or a question; raises as `request_of`."""
    if not isinstance(given, ResearchRequest):
        return request_of(principal, given)
    if not principal.may_ask(given.scope):
        raise NotFound
    return given


def _check_names(principal: Principal, given: AnyCommand | ReceiptRequest) -> None:
    if isinstance(given, AskApproval):
        _check_name(principal, "requester_id", given.requester_id)
    if isinstance(given, Decide):
        _check_name(principal, "approver_id", given.approver_id)


def _check_name(principal: Principal, field: str, said: str) -> None:
    if said and said != principal.actor:
        raise Forbidden("The body names somebody else than the token.", field=field)


def owned(caller: Caller, scope: ScopeKey) -> Caller:
    """Return the caller as who gives commands to a scope and takes their answers."""
    return structs.replace(caller, commands=commands_owner(caller.tenant, scope))


def answer_in(raw: bytes) -> MemoryAnswer:
    """Return the answer in the result of such a job.

    Raises:
        NotFound, Conflict, Invalid: what the command was refused for.
    """
    answer = msgspec.json.decode(raw, type=MemoryResult).answer
    if answer.refusal is not None:
        raise _error(answer.refusal)
    return answer


def value_in(raw: bytes) -> bytes:
    """Return the record or page in the result of such a job as JSON; raises as `answer_in`."""
    return msgspec.json.encode(answer_in(raw).value)


def _error(refusal: MemoryRefusal) -> Refused:
    kind = _CLASSES[refusal.family]
    return kind(refusal.message, code=refusal.code, field=refusal.field)


def unavailable() -> StoreFailed:
    """Return the error of a command that no worker answered; under the same key its answer may be there later."""
    message = "No worker with the research memory answered."
    return StoreFailed(message, code="memory_unavailable", retry_after_s=_RETRY_S)
