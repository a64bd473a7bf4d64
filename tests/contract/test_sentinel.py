"""A real master, replica and Sentinel: work goes on after the master is killed, and no host is asked sooner for it."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from redis import Redis
from signal_search.contracts.budget import Dimension
from signal_search.errors import StoreFailed

from budget.frontier import Offer
from budget.ledger import Balance, Held
from budget.redis_frontier import RedisFrontier, RedisFrontierWorker
from budget.redis_ledger import RedisLedger
from infra import keys
from infra.clock import SystemClock
from infra.redis import connect, connect_async, identity
from infra.settings import load
from tests.fakes.servers import Watched, sentinel
from workers.pipeline.exchange import Exchanges

pytestmark = pytest.mark.timeout(120)

TOKENS = Dimension.TOKENS
HOST = "a.test"


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    with sentinel(tmp_path) as made:
        yield made


@pytest.fixture
def redis(watched: Watched) -> Iterator[Redis]:
    client = connect(watched.url)
    yield client
    client.close()


def an_offer() -> Offer:
    return Offer(
        uid="u1",
        host=HOST,
        payload=b"p",
        job="j1",
        waiter="j1|f1",
        deadline_ms=2**52,
        pause_ms=14_000,
    )


def test_work_goes_on_after_a_failover(watched: Watched, redis: Redis) -> None:
    ledger, frontier = RedisLedger(redis), RedisFrontier(redis)
    ledger.open("job:j1", {TOKENS: 100}, ttl_ms=0)
    ledger.reserve("h1", ["job:j1"], {TOKENS: 30}, lease_ms=600_000)
    frontier.offer([an_offer()])
    assert redis.wait(1, 30_000) == 1  # the replica has all of it
    watched.fail_over()
    assert ledger.balance("job:j1") == Balance(limits={TOKENS: 100}, held={TOKENS: 30})
    assert ledger.settle("h1", {TOKENS: 20})
    assert ledger.reserve("h2", ["job:j1"], {TOKENS: 80}, lease_ms=1000) == Held(left={TOKENS: 0})
    assert asyncio.run(claimed(watched.url)) == ["u1"]


async def claimed(url: str) -> list[str]:
    client = connect_async(url)
    try:
        turn = await RedisFrontierWorker(client).turn([], 5, lease_ms=1000, pause_ms=14_000)
        return [each.uid for each in turn.claims]
    finally:
        await client.aclose()


def test_a_client_that_waited_and_listened_goes_on(watched: Watched) -> None:
    async def play() -> tuple[str, str, bool]:
        client = connect_async(watched.url)
        worker = RedisFrontierWorker(client)
        try:
            await worker.listen(10)
            before = await identity(client)
            await asyncio.to_thread(watched.fail_over)
            after = await identity(client)
            with suppress(StoreFailed):  # this is how it hears of it
                await worker.listen(10)
            await worker.listen(10)
            await asyncio.to_thread(offer_one, watched.url)
            return before, after, await worker.listen(10_000)
        finally:
            await worker.aclose()
            await client.aclose()

    before, after, heard = asyncio.run(play())
    assert before != after
    assert heard


def offer_one(url: str) -> None:
    client = connect(url)
    RedisFrontier(client).offer([an_offer()])
    client.close()


def test_every_host_rests_after_a_failover(watched: Watched, redis: Redis) -> None:
    async def play() -> tuple[int, int]:
        settings = load(redis_url=watched.url)
        exchanges = Exchanges(settings, SystemClock())
        try:
            await exchanges.turn([], 0)
            redis.delete(*(f"{keys.frontier_tag(each)}:floor" for each in range(4)))
            await exchanges.turn([], 0)
            calm_ms = RedisFrontier(redis).host_state(HOST).next_in_ms
            await asyncio.to_thread(watched.fail_over)
            await exchanges.turn([], 0)
            return calm_ms, RedisFrontier(redis).host_state(HOST).next_in_ms
        finally:
            await exchanges.__aexit__(None, None, None)

    calm_ms, rest_ms = asyncio.run(play())
    assert calm_ms == 0
    assert 0 < rest_ms <= 14_001  # less the time since then, which is real
