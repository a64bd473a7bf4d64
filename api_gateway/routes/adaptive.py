"""POST /v1/adaptive-search: a job underneath, or a page of what an earlier one found."""

import msgspec
from litestar import Response, post
from litestar.concurrency import sync_to_thread
from msgspec import UNSET

from api_gateway.asgi import Receive, Scope
from api_gateway.decode import decode_adaptive
from api_gateway.door import Door, HttpRequest
from api_gateway.problems import Answer
from api_gateway.replies import JSON
from api_gateway.result_pages import page_for
from api_gateway.routes.retrieve import caller_in
from api_gateway.routes.search import answer_job, framed

PATH = "/v1/adaptive-search"


@post(PATH, status_code=200)
async def adaptive(request: HttpRequest) -> Response[bytes]:
    """Answer as the hot path does."""
    return await framed(request, answer_adaptive)


async def answer_adaptive(door: Door, scope: Scope, body: bytes, receive: Receive) -> Answer:
    """Return 200 with a page; 202 with the job when that is preferred, or the search takes longer than one may wait."""
    request = decode_adaptive(body)
    if request.cursor is UNSET:
        return await answer_job(door, scope, request, receive)
    tenant = caller_in(scope).tenant
    page = await sync_to_thread(page_for, door.redis, door.settings, tenant, request)
    return Answer(status=200, headers={"content-type": JSON}, body=msgspec.json.encode(page))
