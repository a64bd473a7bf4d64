"""The settings for an administrator: every one with its bounds, those of this process, and changes to the file.

Only the scope `admin` comes in: the gate sees to it by the address, and each route again by the caller.
"""

import msgspec
from litestar import Response, get, put
from litestar.concurrency import sync_to_thread
from signal_search.errors import BadEncoding, Forbidden, Invalid

from api_gateway.door import HttpRequest, door_of
from api_gateway.replies import as_json
from infra.config_file import write_settings
from infra.manifest import manifest, shown


@get("/v1/admin/manifest")
async def show_manifest(request: HttpRequest) -> Response[bytes]:
    """Answer with every setting: type, bounds, default, value, group."""
    _require_admin(request)
    return as_json({"settings": await sync_to_thread(manifest, door_of(request).settings)})


@get("/v1/admin/config")
async def show_config(request: HttpRequest) -> Response[bytes]:
    """Answer with the settings that this process was started with, secrets masked."""
    _require_admin(request)
    return as_json({"config": await sync_to_thread(shown, door_of(request).settings)})


@put("/v1/admin/config")
async def change_config(request: HttpRequest) -> Response[bytes]:
    """Write settings to the file; they hold from the next start on."""
    _require_admin(request)
    change = await sync_to_thread(write_settings, _patch(await request.body()))
    return as_json({**msgspec.structs.asdict(change), "needs_restart": bool(change.changed)})


def _require_admin(request: HttpRequest) -> None:
    if "admin" not in request.scope["state"]["principal"].scopes:
        raise Forbidden


def _patch(body: bytes) -> dict[str, object]:
    try:
        return msgspec.json.decode(body, type=dict[str, object])
    except msgspec.ValidationError:
        raise Invalid("An object of settings is expected.") from None
    except msgspec.DecodeError:
        raise BadEncoding("The body is not JSON.") from None
