"""/v1/research/memories and index: keep, list, show, the steps of a memory's life; for tokens with the very scope."""

from typing import Final

from litestar import HttpMethod, Response, get, post, route
from litestar.params import FromPath
from signal_search.contracts.memory import (
    ListMemories,
    MemoryDraft,
    MoveMemory,
    SaveMemory,
    ShowAudit,
    ShowMemory,
    StepRequest,
)
from signal_search.contracts.memory_index import IndexFolder, IndexRequest
from signal_search.contracts.research import MemoryKind, MemoryStatus
from signal_search.errors import NotFound

from api_gateway.decode import check_not_blank, decode_memory, fields_of
from api_gateway.door import HttpRequest
from api_gateway.memory_params import choice, listing, record_id, scope_in
from api_gateway.routes.memory_calls import carried_out

MEMORIES: Final = "/v1/research/memories"
INDEX: Final = "/v1/research/index"
STEPS: Final[dict[str, MemoryStatus]] = {
    "verify": MemoryStatus.VERIFIED,
    "publish": MemoryStatus.PUBLISHED,
    "deprecate": MemoryStatus.DEPRECATED,
    "expire": MemoryStatus.EXPIRED,
    "conflict": MemoryStatus.CONFLICT,
    "revoke": MemoryStatus.REVOKED,
}


@route(MEMORIES, http_method=[HttpMethod.OPTIONS])
async def memories_options() -> Response[bytes]:
    """Name the methods. Must be registered first: the framework's own answer names but one of several."""
    return Response(b"", status_code=204, headers={"allow": "GET, HEAD, OPTIONS, POST"})


@post(MEMORIES, status_code=201)
async def keep_memory(request: HttpRequest) -> Response[bytes]:
    """Keep a memory as a candidate."""
    draft = decode_memory(MemoryDraft, await request.body())
    check_not_blank({"title": draft.title, "content": draft.content})
    return await carried_out(request, SaveMemory(**fields_of(draft)), status=201)


@get(MEMORIES)
async def list_memories(request: HttpRequest) -> Response[bytes]:
    """Answer with a page of memories, without their texts."""
    params = request.query_params
    wanted = ListMemories(
        scope=scope_in(params),
        status=choice(params, "status", MemoryStatus),
        kind=choice(params, "kind", MemoryKind),
        **listing(params),
    )
    return await carried_out(request, wanted)


@get(f"{MEMORIES}/{{memory_id:str}}")
async def show_memory(request: HttpRequest, memory_id: FromPath[str]) -> Response[bytes]:
    """Answer with a memory, in whatever state it is."""
    wanted = ShowMemory(scope=scope_in(request.query_params), record_id=record_id(memory_id))
    return await carried_out(request, wanted)


@get(f"{MEMORIES}/{{memory_id:str}}/audit")
async def show_audit(request: HttpRequest, memory_id: FromPath[str]) -> Response[bytes]:
    """Answer with what was done to a memory."""
    wanted = ShowAudit(scope=scope_in(request.query_params), record_id=record_id(memory_id))
    return await carried_out(request, wanted)


@post(f"{MEMORIES}/{{memory_id:str}}/{{step:str}}", status_code=200)
async def move_memory(
    request: HttpRequest, memory_id: FromPath[str], step: FromPath[str]
) -> Response[bytes]:
    """Put a memory into another state."""
    if step not in STEPS:
        raise NotFound
    asked = decode_memory(StepRequest, await request.body())
    moved = MoveMemory(**fields_of(asked), memory_id=record_id(memory_id), to=STEPS[step])
    return await carried_out(request, moved)


@post(INDEX, status_code=200)
async def index_folder(request: HttpRequest) -> Response[bytes]:
    """Compare the index of a scope with its folder; which folder that is only the settings of the workers say."""
    asked = decode_memory(IndexRequest, await request.body())
    return await carried_out(request, IndexFolder(**fields_of(asked)))
