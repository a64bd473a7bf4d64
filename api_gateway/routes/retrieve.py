"""POST /v1/retrieve: submit a job, and wait for it if asked to."""

from typing import cast

from litestar import Response, post
from litestar.concurrency import sync_to_thread
from signal_search.contracts.job import Job
from signal_search.errors import Busy

from api_gateway.decode import decode_request
from api_gateway.door import Door, HttpRequest, door_of, tenant_of
from api_gateway.params import wait_s
from api_gateway.replies import as_job, raw_json
from api_gateway.submission import Caller
from api_gateway.watch import Hearing


@post("/v1/retrieve")
async def retrieve(request: HttpRequest) -> Response[bytes]:
    """Answer 202 with the job, 200 with the job that an earlier call with this key made.

    With `wait`: 200 with the result if the job ends in time, the error of a job without a result, else 202.
    """
    door = door_of(request)
    seconds = wait_s(request.query_params, most=door.settings.gateway.max_wait_s)
    asked = decode_request(await request.body())
    job, is_new = await sync_to_thread(door.desk.submit, asked, _caller(request))
    headers = {"location": job.links["self"]}
    if not is_new:
        headers["idempotency-replayed"] = "true"
    if not seconds:
        return as_job(job, status=202 if is_new else 200, headers=headers)
    if await _ends(door, job, seconds, request):
        result = await sync_to_thread(door.desk.result, job.id, tenant_of(request))
        return raw_json(result, headers=headers)
    return as_job(job, status=202, headers=headers)


def _caller(request: HttpRequest) -> Caller:
    return Caller(
        tenant=tenant_of(request),
        request_id=request.scope["state"]["request_id"],
        idempotency_key=request.headers.get("idempotency-key"),
    )


def _hearing(request: HttpRequest) -> Hearing:
    return cast("Hearing", request.receive)  # the framework types each message by its kind


async def _ends(door: Door, job: Job, seconds: int, request: HttpRequest) -> bool:
    try:
        return await door.watch.ended(job.id, within_s=seconds, receive=_hearing(request))
    except Busy:  # the job is made; that nobody can wait for it here is no reason to refuse it
        return False
