"""The deployment's own addresses: alive, ready, counted, described."""

from litestar import Response, get
from litestar.concurrency import sync_to_thread
from signal_search.errors import StoreFailed

from api_gateway.door import HttpRequest, door_of
from api_gateway.openapi import DESCRIPTION, docs_page
from api_gateway.replies import as_json
from infra.heartbeat import live_workers, missing_queues
from infra.metrics import CONTENT_TYPE, render
from infra.store_metrics import ServerTime

_DOCS = docs_page()
_NOTHING_FROM_ELSEWHERE = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'"
}


@get("/")
async def front() -> Response[str]:
    """Say where to read on."""
    return Response(
        "Signal Search. The interface is described at /docs.\n", media_type="text/plain"
    )


@get("/healthz")
async def healthz() -> Response[bytes]:
    """Answer 200 while this process answers at all."""
    return as_json({"status": "ok"})


@get("/readyz")
async def readyz(request: HttpRequest) -> Response[bytes]:
    """Answer 200 when the store answers and every queue has a live worker, else 503."""
    workers = await sync_to_thread(live_workers, door_of(request).redis)
    missing = missing_queues(workers)
    if missing:
        message = f"No live worker takes from: {', '.join(missing)}."
        raise StoreFailed(message, code="not_ready")
    return as_json({"status": "ready", "workers": len(workers)})


@get("/metrics")
async def metrics(request: HttpRequest) -> Response[bytes]:
    """Answer with the deployment's counts in Prometheus's text format."""
    door = door_of(request)
    await sync_to_thread(door.publisher.publish, at_once=True)
    page = await sync_to_thread(render, door.redis, ServerTime(door.redis), door.gauges)
    return Response(
        page,
        media_type=CONTENT_TYPE,
        headers={"content-type": CONTENT_TYPE},
    )


@get("/openapi.json")
async def openapi() -> Response[bytes]:
    """Answer with the description of this interface."""
    return as_json(DESCRIPTION)


@get("/docs")
async def docs() -> Response[str]:
    """Answer with the same for people."""
    return Response(_DOCS, media_type="text/html", headers=_NOTHING_FROM_ELSEWHERE)
