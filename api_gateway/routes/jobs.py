"""/v1/jobs: list, show, result, events, export, bundle, cancel.

Handlers are coroutines that hand the desk's work to a thread themselves: the framework's own way of doing so wraps a
handler twice when two methods share a path.
"""

from litestar import HttpMethod, Response, delete, get, route
from litestar.concurrency import sync_to_thread
from litestar.params import FromPath
from litestar.response import Stream

from api_gateway import sse
from api_gateway.door import Door, HttpRequest, door_of, reader_in
from api_gateway.params import export_format, job_state, page_limit
from api_gateway.replies import as_file, as_job, as_json, raw_json

_LIVE = {
    "cache-control": "no-store",
    "x-accel-buffering": "no",
}  # proxies must not hold events back


@get("/v1/jobs")
async def list_jobs(request: HttpRequest) -> Response[bytes]:
    """Answer with a page of the caller's jobs, newest first."""
    params = request.query_params
    page = await sync_to_thread(
        door_of(request).desk.jobs,
        reader_in(request),
        state=job_state(params),
        limit=page_limit(params),
        cursor=params.get("cursor", ""),
    )
    return as_json(page)


@route("/v1/jobs/{job_id:str}", http_method=[HttpMethod.OPTIONS])
async def job_options() -> Response[bytes]:
    """Name the methods. Must be registered first: the framework's own answer names but one of several."""
    return Response(b"", status_code=204, headers={"allow": "DELETE, GET, HEAD, OPTIONS"})


@get("/v1/jobs/{job_id:str}")
async def show_job(request: HttpRequest, job_id: FromPath[str]) -> Response[bytes]:
    """Answer with the job and its progress."""
    return as_job(await sync_to_thread(door_of(request).desk.job, job_id, reader_in(request)))


@delete("/v1/jobs/{job_id:str}", status_code=202)
async def cancel_job(request: HttpRequest, job_id: FromPath[str]) -> Response[bytes]:
    """End the job."""
    job = await sync_to_thread(door_of(request).desk.cancel, job_id, reader_in(request))
    return as_job(job, status=202)


@get("/v1/jobs/{job_id:str}/result")
async def show_result(request: HttpRequest, job_id: FromPath[str]) -> Response[bytes]:
    """Answer with the result."""
    desk = door_of(request).desk
    return raw_json(await sync_to_thread(desk.result, job_id, reader_in(request)))


@get("/v1/jobs/{job_id:str}/export")
async def export_job(request: HttpRequest, job_id: FromPath[str]) -> Response[bytes]:
    """Answer with the citations in the format asked for."""
    name = export_format(request.query_params)
    desk = door_of(request).desk
    return as_file(await sync_to_thread(desk.export, job_id, reader_in(request), name))


@get("/v1/jobs/{job_id:str}/bundle")
async def bundle_job(request: HttpRequest, job_id: FromPath[str]) -> Response[bytes]:
    """Answer with everything a replay needs."""
    desk = door_of(request).desk
    return as_file(await sync_to_thread(desk.bundle, job_id, reader_in(request)))


@get("/v1/jobs/{job_id:str}/events")
async def follow_job(request: HttpRequest, job_id: FromPath[str]) -> Response[bytes] | Stream:
    """Stream the log from after Last-Event-ID; every refusal comes before the stream."""
    door = door_of(request)
    after = sse.start_after(request.headers.get("last-event-id"))
    await sync_to_thread(door.desk.owned, job_id, reader_in(request))
    if request.scope["state"]["is_head"]:
        return Response(b"", media_type=sse.MEDIA_TYPE, headers=_LIVE)
    door.watch.check_place()
    events = sse.stream(door.watch, job_id, after=after, is_over=lambda: _is_over(door, job_id))
    return Stream(events, media_type=sse.MEDIA_TYPE, headers=_LIVE)


async def _is_over(door: Door, job_id: str) -> bool:
    return await sync_to_thread(door.desk.is_over, job_id)
