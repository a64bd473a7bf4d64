"""POST /v1/search and /v1/survey-search: a job underneath, whose result is the answer.

A search ends by itself at its deadline, so that its caller waits for it; with `Prefer: respond-async` (RFC 7240, 4.1)
it gets the job at once instead.
"""

import math
import re
from typing import cast

import msgspec
from litestar import Response, post
from litestar.concurrency import sync_to_thread
from signal_search.contracts.job import TERMINAL_STATES, AnyRequest, Job

from api_gateway.asgi import Receive, Scope, header
from api_gateway.decode import decode_search, decode_survey
from api_gateway.desk import RETRY_AFTER_S
from api_gateway.door import Door, HttpRequest, door_of
from api_gateway.hot_path import Answering
from api_gateway.problems import Answer
from api_gateway.replies import JSON
from api_gateway.routes.retrieve import caller_in, ends
from api_gateway.specs import patience_s

SEARCH = "/v1/search"
SURVEY = "/v1/survey-search"

_ASYNC = re.compile(r"(?:^|,)\s*respond-async\s*(?:[;,]|$)", re.IGNORECASE)


@post(SEARCH, status_code=200)
async def search(request: HttpRequest) -> Response[bytes]:
    """Answer as the hot path does."""
    return await framed(request, answer_search)


@post(SURVEY, status_code=200)
async def survey(request: HttpRequest) -> Response[bytes]:
    """Answer as the hot path does."""
    return await framed(request, answer_survey)


async def answer_search(door: Door, scope: Scope, body: bytes, receive: Receive) -> Answer:
    """Return 200 with the hits; 202 with the job when that is preferred, or the job takes longer than one may wait."""
    return await answer_job(door, scope, decode_search(body), receive)


async def answer_survey(door: Door, scope: Scope, body: bytes, receive: Receive) -> Answer:
    """Return 200 with the survey, or 202 as for a search."""
    return await answer_job(door, scope, decode_survey(body), receive)


async def framed(request: HttpRequest, answering: Answering) -> Response[bytes]:
    """Answer a request that came through the framework as the hot path would."""
    receive = cast("Receive", request.receive)  # the framework types each message by its kind
    scope = cast("Scope", request.scope)
    ready = await answering(door_of(request), scope, await request.body(), receive)
    return Response(ready.body, status_code=ready.status, headers=ready.headers)


async def answer_job(door: Door, scope: Scope, request: AnyRequest, receive: Receive) -> Answer:
    """Submit a job that ends by itself, and return its result, or the job: see above."""
    caller = caller_in(scope)
    job, is_new = await door.intake.submit(request, caller)
    headers = {"content-type": JSON, "location": job.links["self"]}
    if not is_new:
        headers["idempotency-replayed"] = "true"
    if _ASYNC.search(header(scope, b"prefer") or ""):
        return _job(job, {**headers, "preference-applied": "respond-async"})
    if await ends(door, job, patience_s(job, door.settings), receive):
        result = await sync_to_thread(door.desk.result, job.id, caller.reader)
        return Answer(status=200, headers=headers, body=result)
    return _job(job, headers)


def _job(job: Job, headers: dict[str, str]) -> Answer:
    if job.state not in TERMINAL_STATES:
        headers["retry-after"] = str(math.ceil(RETRY_AFTER_S))
    return Answer(status=202, headers=headers, body=msgspec.json.encode(job))
