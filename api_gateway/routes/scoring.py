"""The scoring language over HTTP: what it can do, and programs made from words."""

from litestar import Response, get, post
from litestar.concurrency import sync_to_thread
from signal_search.errors import NoJudge

from api_gateway.decode import decode_generation
from api_gateway.door import Door, HttpRequest, door_of
from api_gateway.generate import Generation
from api_gateway.model_purse import ModelPurse
from api_gateway.quotas import Quotas, Spender
from api_gateway.replies import as_json
from budget.redis_ledger import RedisLedger
from infra import ids
from infra.tokens import Principal
from scoring.expression.capabilities import capabilities

_SETTLING_MS = 30_000  # how much longer than the whole generation its holds may live


@get("/v1/scoring/capabilities")
async def show_capabilities(request: HttpRequest) -> Response[bytes]:
    """Answer with the language, and whether this deployment generates; not whether the model would answer."""
    settings = door_of(request).settings
    told = await sync_to_thread(capabilities, generation_available=settings.search.generates)
    return as_json(told)


@post("/v1/scoring/generate", status_code=200)
async def generate_scorer(request: HttpRequest) -> Response[bytes]:
    """Answer with a program for the wishes in the body; the slot is held by the layer before."""
    asked = decode_generation(await request.body())
    door = door_of(request)
    if door.judge is None:
        raise NoJudge
    purse = _purse(door, request.scope["state"]["principal"])
    generation = Generation(door.settings.search, door.judge.complete, purse)
    request.scope["state"]["allowance"] = generation.allowance  # told by errors as well
    return as_json(await generation.make(asked))


def _purse(door: Door, caller: Principal) -> ModelPurse:
    ledger = RedisLedger(door.redis)
    spender = Spender(
        id=ids.request_id(),  # not the caller's own, which may come twice
        tenant=caller.tenant,
        token=caller.token if caller.limits else "",
        limits=caller.limits,
    )
    lease_ms = int(door.settings.search.scorer_generation_timeout * 1000) + _SETTLING_MS
    quotas = Quotas(ledger, door.settings, door.clock)
    return ModelPurse(ledger, quotas, spender, lease_ms=lease_ms)
