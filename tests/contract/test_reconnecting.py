"""A store that restarts without its data: the same clients go on, what it knew is unknown, and every host rests."""

import asyncio
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from signal_search.contracts.budget import Dimension
from signal_search.errors import StoreFailed

from budget.ledger import Balance, Held
from budget.redis_frontier import RedisFrontier, RedisFrontierWorker
from budget.redis_ledger import RedisLedger
from infra import keys
from infra.clock import SystemClock
from infra.redis import connect, connect_async, identity
from infra.settings import load
from tests.fakes.ports import free_ports
from tests.fakes.servers import server
from workers.pipeline.exchange import Exchanges

pytestmark = pytest.mark.timeout(60)

TOKENS = Dimension.TOKENS


def test_a_client_that_waits_goes_on_with_an_empty_store(tmp_path: Path) -> None:
    [port] = free_ports(1)
    redis = connect(f"redis://127.0.0.1:{port}/0")
    ledger = RedisLedger(redis)
    with server(tmp_path / "first", port):
        ledger.open("job:j1", {TOKENS: 100}, ttl_ms=0)
        assert ledger.reserve("h1", ["job:j1"], {TOKENS: 60}, lease_ms=1000) == Held(
            left={TOKENS: 40}
        )
    with pytest.raises(StoreFailed):
        ledger.reserve("h2", ["job:j1"], {TOKENS: 1}, lease_ms=1000)
    with server(tmp_path / "second", port):
        assert ledger.balance("job:j1") == Balance()
        assert not ledger.settle("h1", {TOKENS: 60})
        ledger.open("job:j1", {TOKENS: 10}, ttl_ms=0)
        assert ledger.reserve("h1", ["job:j1"], {TOKENS: 1}, lease_ms=1000) == Held(
            left={TOKENS: 9}
        )
    redis.close()


def test_a_listener_goes_on_and_the_store_is_known_as_another(tmp_path: Path) -> None:
    [port] = free_ports(1)
    url = f"redis://127.0.0.1:{port}/0"

    async def play() -> tuple[str, str]:
        client = connect_async(url)
        worker = RedisFrontierWorker(client)
        try:
            with server(tmp_path / "first", port):
                await worker.listen(10)
                before = await identity(client)
            with pytest.raises(StoreFailed):
                await identity(client)
            with server(tmp_path / "second", port):
                with suppress(StoreFailed):  # this is how it hears of it
                    await worker.listen(10)
                await worker.listen(10)
                return before, await identity(client)
        finally:
            await worker.aclose()
            await client.aclose()

    before, after = asyncio.run(play())
    assert before != after


def test_every_host_rests_after_a_restart(tmp_path: Path) -> None:
    [port] = free_ports(1)
    url = f"redis://127.0.0.1:{port}/0"

    async def play() -> int:
        exchanges = Exchanges(load(redis_url=url), SystemClock())
        with ExitStack() as servers:
            try:
                with server(tmp_path / "first", port):
                    await exchanges.turn([], 0)
                servers.enter_context(server(tmp_path / "second", port))
                await exchanges.turn([], 0)
                client = connect(url)
                rest_ms = RedisFrontier(client).host_state("a.test").next_in_ms
                assert client.get(keys.boot()) is not None
                client.close()
                return rest_ms
            finally:
                await exchanges.__aexit__(None, None, None)

    # The time since the restart is real, and a busy machine's.
    assert 0 < asyncio.run(play()) <= 14_001
