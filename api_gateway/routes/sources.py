"""GET /v1/sources: what can be asked here."""

from litestar import Response, get
from litestar.concurrency import sync_to_thread

from api_gateway.door import HttpRequest, door_of
from api_gateway.replies import as_json


@get("/v1/sources")
async def list_sources(request: HttpRequest) -> Response[bytes]:
    """Answer with the registry as this deployment sees it."""
    return as_json({"sources": await sync_to_thread(door_of(request).desk.sources)})
