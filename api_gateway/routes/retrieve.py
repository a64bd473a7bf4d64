"""POST /v1/retrieve: submit a job, and wait for it if asked to.

The one address that is called often, so it is answered in front of the framework, which would cost as much again as
the submission; the framework has the address too, for its other spellings and methods.
"""

import math
from collections.abc import Callable
from typing import cast
from urllib.parse import parse_qsl

import msgspec
from litestar import Response, post
from litestar.concurrency import sync_to_thread
from signal_search.contracts.job import TERMINAL_STATES, Job
from signal_search.errors import Busy

from api_gateway.asgi import App, Receive, Scope, Send, header
from api_gateway.decode import decode_request
from api_gateway.desk import RETRY_AFTER_S
from api_gateway.door import Door, HttpRequest, door_of
from api_gateway.params import wait_s
from api_gateway.problems import Answer, answered, send_answer
from api_gateway.replies import JSON
from api_gateway.submission import Caller, caller_of
from api_gateway.watch import Hearing

PATH = "/v1/retrieve"


class HotPath:
    """Answers submissions itself and leaves the rest to the framework."""

    def __init__(self, app: App, door: Callable[[], Door]) -> None:
        """Stand before `app`; `door` gives the tools, once they are open."""
        self._app = app
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection that was admitted."""
        if scope["type"] != "http" or scope["path"] != PATH or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        scope["path_template"] = PATH
        body = (await receive())["body"]  # whole: the layer before has read it
        ready = submit(self._door(), scope, body, receive)
        await send_answer(send, await answered(ready, scope["state"]["request_id"]))


@post(PATH)
async def retrieve(request: HttpRequest) -> Response[bytes]:
    """Answer as the hot path does."""
    body = await request.body()
    receive = cast("Receive", request.receive)  # the framework types each message by its kind
    ready = await submit(door_of(request), cast("Scope", request.scope), body, receive)
    return Response(ready.body, status_code=ready.status, headers=ready.headers)


async def submit(door: Door, scope: Scope, body: bytes, receive: Receive) -> Answer:
    """Return 202 with the job, 200 with the job that an earlier call with this key made.

    With `wait`: 200 with the result if the job ends in time, the error of a job without a result, else 202.
    """
    seconds = wait_s(_params(scope), most=door.settings.gateway.max_wait_s)
    caller = _caller(scope)
    job, is_new = await door.intake.submit(decode_request(body), caller)
    headers = {"content-type": JSON, "location": job.links["self"]}
    if not is_new:
        headers["idempotency-replayed"] = "true"
    if seconds and await _ends(door, job, seconds, receive):
        result = await sync_to_thread(door.desk.result, job.id, caller.tenant)
        return Answer(status=200, headers=headers, body=result)
    if job.state not in TERMINAL_STATES:
        headers["retry-after"] = str(math.ceil(RETRY_AFTER_S))
    status = 202 if is_new or seconds else 200
    return Answer(status=status, headers=headers, body=msgspec.json.encode(job))


def _params(scope: Scope) -> dict[str, str]:
    raw = scope["query_string"]
    pairs = parse_qsl(raw.decode("latin-1"), keep_blank_values=True) if raw else []
    return dict(reversed(pairs))  # of a parameter that comes twice, the first


def _caller(scope: Scope) -> Caller:
    state = scope["state"]
    key = header(scope, b"idempotency-key")
    return caller_of(state["principal"], state["request_id"], key)


async def _ends(door: Door, job: Job, seconds: int, receive: Hearing) -> bool:
    try:
        return await door.watch.ended(job.id, within_s=seconds, receive=receive)
    except Busy:  # the job is made; that nobody can wait for it here is no reason to refuse it
        return False
