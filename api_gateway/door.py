"""What every route works with, opened with the application and closed with it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from litestar import Litestar, Request
from litestar.concurrency import sync_to_thread
from prometheus_client.registry import Collector

from api_gateway.delegations import Delegations
from api_gateway.desk import Desk
from api_gateway.ending import told_to_end
from api_gateway.enqueue import Bell, Ringer
from api_gateway.gauges import gauges_of
from api_gateway.intake import Intake
from api_gateway.owners import Reader, reader_of
from api_gateway.request_slots import RequestSlots
from api_gateway.watch import Watch
from infra.clock import Clock, SystemClock
from infra.llm import JudgeClient
from infra.metrics import Publisher
from infra.redis import connect, connect_async
from infra.settings import Settings
from infra.store_clock import StoreClock

if TYPE_CHECKING:
    from redis import Redis

HttpRequest = Request[Any, Any, Any]

_PUBLISH_S = 5.0


@dataclass(frozen=True)
class Door:
    """The tools of one gateway process."""

    settings: Settings
    redis: "Redis"
    clock: Clock
    desk: Desk
    delegations: Delegations
    intake: Intake
    watch: Watch
    publisher: Publisher
    gauges: list[Collector]
    request_slots: RequestSlots
    judge: JudgeClient | None


def door_of(request: HttpRequest) -> Door:
    """Return the tools of the application that got the request."""
    door: Door = request.app.state["door"]
    return door


def reader_in(request: HttpRequest) -> Reader:
    """Return on whose behalf the request came."""
    return reader_of(request.scope["state"]["principal"])


@asynccontextmanager
async def open_door(app: Litestar) -> AsyncIterator[None]:
    """Open the tools on the running event loop; connections open on first use."""
    settings: Settings = app.state["settings"]
    redis, waiting = connect(settings.redis_url), connect_async(settings.redis_url)
    bell = Bell(settings)
    ringer = Ringer(bell)
    clock = StoreClock(settings.redis_url)
    publisher = Publisher(redis, clock)
    desk = Desk(redis, settings, clock, ringer.ring)
    intake = Intake(desk.submit_all)
    watch = Watch(waiting, clock)
    judge = JudgeClient(settings, clock) if settings.search.generates else None
    app.state["door"] = Door(
        settings=settings,
        redis=redis,
        clock=clock,
        desk=desk,
        delegations=Delegations(redis, settings, clock, ringer.ring, desk.owned),
        intake=intake,
        watch=watch,
        publisher=publisher,
        gauges=_gauges(settings, redis, bell),
        request_slots=RequestSlots(redis, settings),
        judge=judge,
    )
    publishing = asyncio.create_task(_publish(publisher))
    try:
        with told_to_end(watch.close):
            yield
    finally:
        publishing.cancel()
        with suppress(asyncio.CancelledError):
            await publishing
        await sync_to_thread(publisher.publish, at_once=True)
        await intake.close()
        if judge is not None:
            await judge.aclose()
        await sync_to_thread(ringer.close)
        await waiting.aclose()
        redis.close()


def _gauges(settings: Settings, redis: "Redis", bell: Bell) -> list[Collector]:
    most, per = settings.gateway.deployment_slots, settings.deployment.per
    return gauges_of(redis, SystemClock(), bell, most_jobs=most, per=per)


async def _publish(publisher: Publisher) -> None:
    while True:
        await asyncio.sleep(_PUBLISH_S)
        await sync_to_thread(publisher.publish)
