"""POST /v1/research/query: a question to the memory of a scope, for tokens that were granted this very scope.

To everybody else there is nothing at this address, whatever the body says: not even that a scope exists. Nobody
without the grant finds the job or its answer (`api_gateway/owners.py`).
"""

from typing import cast

import msgspec
from litestar import Response, post
from litestar.concurrency import sync_to_thread
from signal_search.errors import NotFound

from api_gateway.asgi import Receive
from api_gateway.decode import decode_research
from api_gateway.door import HttpRequest, door_of
from api_gateway.replies import JSON
from api_gateway.routes.retrieve import caller_in, ends
from api_gateway.specs import patience_s
from infra.tokens import Principal

QUERY = "/v1/research/query"


@post(QUERY, status_code=200)
async def query(request: HttpRequest) -> Response[bytes]:
    """Answer 200 with what was found, or 202 with the job when it takes longer than one may wait."""
    principal: Principal = request.scope["state"]["principal"]
    if not principal.research:
        raise NotFound
    asked = decode_research(await request.body())
    if not principal.may_ask(asked.scope):
        raise NotFound
    door = door_of(request)
    caller = caller_in(request.scope)  # type: ignore[arg-type]  # the framework types its scope by itself
    job, _is_new = await door.intake.submit(asked, caller)
    if await ends(door, job, patience_s(job, door.settings), cast("Receive", request.receive)):
        found = await sync_to_thread(door.desk.result, job.id, caller.reader)
        return Response(found, status_code=200, headers={"content-type": JSON})
    return Response(msgspec.json.encode(job), status_code=202, headers={"content-type": JSON})
