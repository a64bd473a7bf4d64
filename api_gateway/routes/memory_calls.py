"""A command to research memory as a job: the worker that has the files carries it out, its caller waits here.

So the gateway needs no file of any scope, and its event loop never waits for a disk. The job has an owner of its own,
made of tenant and scope, whom nobody can be: what is kept, asked and handed in is at no address of a job.
"""

import hashlib
from typing import Final, cast

import msgspec
from litestar import Response
from litestar.concurrency import sync_to_thread
from signal_search.contracts.job import Job
from signal_search.contracts.memory import AnyCommand, MemoryRequest
from signal_search.contracts.memory_result import Family, MemoryAnswer, MemoryRefusal, MemoryResult
from signal_search.contracts.research import ScopeKey
from signal_search.errors import Conflict, Forbidden, Invalid, NotFound, Refused, StoreFailed

from api_gateway.asgi import Receive
from api_gateway.door import HttpRequest, door_of
from api_gateway.replies import as_json
from api_gateway.routes.retrieve import caller_in
from api_gateway.specs import patience_s
from api_gateway.submission import Caller
from infra.tokens import Principal

_READ_TTL_S: Final = 60  # nobody asks twice for the same reading
_RETRY_S: Final = 2.0
_CLASSES: Final[dict[Family, type[Refused]]] = {
    "not_found": NotFound,
    "conflict": Conflict,
    "invalid": Invalid,
}


def principal_of(request: HttpRequest) -> Principal:
    """Return who calls."""
    principal: Principal = request.scope["state"]["principal"]
    return principal


def check_grant(request: HttpRequest, scope: ScopeKey) -> None:
    """Let in who was granted this very scope.

    Raises:
        NotFound: to everybody else there is nothing at this address, whether the scope exists or not.
    """
    if scope not in principal_of(request).research:
        raise NotFound


def check_name(request: HttpRequest, field: str, said: str) -> None:
    """Refuse a body that names somebody else than the caller; naming nobody is as good.

    Raises:
        Forbidden: as said.
    """
    if said and said != principal_of(request).actor:
        raise Forbidden("The body names somebody else than the token.", field=field)


async def write(request: HttpRequest, command: AnyCommand, *, status: int = 200) -> Response[bytes]:
    """Answer with what came of a command that changes something, once for each Idempotency-Key."""
    check_grant(request, command.scope)
    asked = MemoryRequest(command=command, actor=principal_of(request).actor)
    caller = caller_in(request.scope)  # type: ignore[arg-type]  # the framework types its scope by itself
    answer, is_new = await _carried_out(request, asked, caller)
    headers = {} if is_new else {"idempotency-replayed": "true"}
    return as_json(answer.value, status=status if is_new else 200, headers=headers)


async def read(request: HttpRequest, command: AnyCommand) -> Response[bytes]:
    """Answer with what is there."""
    check_grant(request, command.scope)
    actor = principal_of(request).actor
    asked = MemoryRequest(command=command, actor=actor, result_ttl_s=_READ_TTL_S)
    caller = caller_in(request.scope)  # type: ignore[arg-type]  # the framework types its scope by itself
    caller = msgspec.structs.replace(caller, idempotency_key=None)
    answer, _is_new = await _carried_out(request, asked, caller)
    return as_json(answer.value)


async def _carried_out(
    request: HttpRequest, asked: MemoryRequest, caller: Caller
) -> tuple[MemoryAnswer, bool]:
    """Return the answer, and whether this call made the job.

    Raises:
        StoreFailed: `memory_unavailable`: no worker answered in time; under the same key the answer may be there later.
        NotFound, Conflict, Invalid: what the worker refused the command for. Busy: as any job.
    """
    door = door_of(request)
    owner = msgspec.structs.replace(caller, tenant=_owner(caller.tenant, asked.command.scope))
    job, is_new = await door.intake.submit(asked, owner)
    if not await _ends(request, job):
        raise _unavailable()
    try:
        raw = await sync_to_thread(door.desk.result, job.id, owner.tenant)
    except Conflict as error:  # it ended without an answer
        raise _unavailable() from error
    answer = msgspec.json.decode(raw, type=MemoryResult).answer
    if answer.refusal is not None:
        raise _error(answer.refusal)
    return answer, is_new


async def _ends(request: HttpRequest, job: Job) -> bool:
    door = door_of(request)
    receive = cast("Receive", request.receive)  # the framework types each message by its kind
    within_s = patience_s(job, door.settings)
    return await door.watch.ended(job.id, within_s=within_s, receive=receive)


def _unavailable() -> StoreFailed:
    message = "No worker with the research memory answered."
    return StoreFailed(message, code="memory_unavailable", retry_after_s=_RETRY_S)


def _error(refusal: MemoryRefusal) -> Refused:
    kind = _CLASSES[refusal.family]
    return kind(refusal.message, code=refusal.code, field=refusal.field)


def _owner(tenant: str, scope: ScopeKey) -> str:
    """Return whose the job is: no tenant can have this name, since it has more than a tenant's name may have."""
    named = msgspec.json.encode((tenant, scope))
    return f"memory:{hashlib.sha256(named).hexdigest()}"
