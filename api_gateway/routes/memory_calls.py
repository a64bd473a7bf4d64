"""A command to research memory, from a body or an address to an answer: submitted as a job, and waited for."""

from typing import cast

from litestar import Response
from litestar.concurrency import sync_to_thread
from msgspec import structs
from signal_search.contracts.job import Job
from signal_search.contracts.memory import AnyCommand, Listing, ReceiptRequest, Show
from signal_search.errors import Conflict

from api_gateway.asgi import Receive, Scope
from api_gateway.door import HttpRequest, door_of
from api_gateway.memory_answers import answer_in, owned, request_of, unavailable
from api_gateway.replies import as_json
from api_gateway.routes.retrieve import caller_in
from api_gateway.specs import patience_s
from infra.tokens import Principal


async def carried_out(
    request: HttpRequest, given: AnyCommand | ReceiptRequest, *, status: int = 200
) -> Response[bytes]:
    """Answer with what came of a command; one that changes something is done once for each Idempotency-Key.

    Raises:
        StoreFailed: `memory_unavailable`: no worker answered in time.
        NotFound, Conflict, Invalid, Forbidden: what the command was refused for. Busy: as any job.
    """
    principal: Principal = request.scope["state"]["principal"]
    asked = request_of(principal, given)
    door = door_of(request)
    owner = owned(caller_in(cast("Scope", request.scope)), asked.command.scope)
    if isinstance(given, Show | Listing):
        owner = structs.replace(owner, idempotency_key=None)
    job, is_new = await door.intake.submit(asked, owner)
    if not await _ends(request, job):
        raise unavailable()
    try:
        raw = await sync_to_thread(door.desk.result, job.id, owner.reader)
    except Conflict as error:  # it ended without an answer
        raise unavailable() from error
    headers = {} if is_new else {"idempotency-replayed": "true"}
    return as_json(answer_in(raw).value, status=status if is_new else 200, headers=headers)


async def _ends(request: HttpRequest, job: Job) -> bool:
    door = door_of(request)
    receive = cast("Receive", request.receive)  # the framework types each message by its kind
    within_s = patience_s(job, door.settings)
    return await door.watch.ended(job.id, within_s=within_s, receive=receive)
