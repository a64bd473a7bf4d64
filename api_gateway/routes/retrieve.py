"""POST /v1/retrieve: submit a job, and wait for it if asked to."""

import math
from typing import cast
from urllib.parse import parse_qsl

import msgspec
from litestar import Response, post
from litestar.concurrency import sync_to_thread
from signal_search.contracts.job import TERMINAL_STATES, Job
from signal_search.errors import Busy

from api_gateway.asgi import Receive, Scope, header
from api_gateway.decode import decode_request
from api_gateway.desk import RETRY_AFTER_S
from api_gateway.door import Door, HttpRequest, door_of
from api_gateway.params import wait_s
from api_gateway.problems import Answer
from api_gateway.replies import JSON
from api_gateway.submission import Caller, caller_of
from api_gateway.watch import Hearing

PATH = "/v1/retrieve"


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
    caller = caller_in(scope)
    job, is_new = await door.intake.submit(decode_request(body), caller)
    headers = {"content-type": JSON, "location": job.links["self"]}
    if not is_new:
        headers["idempotency-replayed"] = "true"
    if seconds and await ends(door, job, seconds, receive):
        result = await sync_to_thread(door.desk.result, job.id, caller.reader)
        return Answer(status=200, headers=headers, body=result)
    if job.state not in TERMINAL_STATES:
        headers["retry-after"] = str(math.ceil(RETRY_AFTER_S))
    status = 202 if is_new or seconds else 200
    return Answer(status=status, headers=headers, body=msgspec.json.encode(job))


def _params(scope: Scope) -> dict[str, str]:
    raw = scope["query_string"]
    pairs = parse_qsl(raw.decode("latin-1"), keep_blank_values=True) if raw else []
    return dict(reversed(pairs))  # of a parameter that comes twice, the first


def caller_in(scope: Scope) -> Caller:
    """Return on whose behalf, and under which key, a request came."""
    state = scope["state"]
    key = header(scope, b"idempotency-key")
    return caller_of(state["principal"], state["request_id"], key)


async def ends(door: Door, job: Job, seconds: float, receive: Hearing) -> bool:
    """Return whether the job ends within so many seconds, while its caller listens and there is a place to wait."""
    try:
        return await door.watch.ended(job.id, within_s=seconds, receive=receive)
    except Busy:  # the job is made; that nobody can wait for it here is no reason to refuse it
        return False
