"""Slots for requests, on a real gateway and store: a full house says so at once, and nothing is ever left behind."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from redis import Redis
from signal_search.errors import Busy, StoreFailed

from api_gateway.request_slots import RequestSlots, slots_of
from budget.slots import MemorySlots, Slots
from infra.loopback_web import LoopbackWeb
from infra.settings import Settings, load
from infra.tokens import TokenStore
from tests.fakes.gateway import running
from tests.fakes.judge import model_settings
from tests.fakes.scripted_model import GOOD, said
from tests.fakes.servers import wait_until
from tests.fakes.web import Answer, Seen, Web, running_web

PATH = "/v1/scoring/generate"
BODY = {"query": "q", "requirements": "by lexical"}
MINUTE_MS = 60_000


def test_the_figures_of_the_document_are_the_defaults() -> None:
    search = load().search
    assert (search.concurrency("generate"), search.concurrency("search")) == (2, 4)


@pytest.mark.parametrize(("kind", "most"), [("generate", 2), ("search", 4)])
def test_one_too_many_is_refused_and_everything_is_given_back(
    redis: Redis, kind: Any, most: int
) -> None:
    slots = RequestSlots(redis, load())

    async def nested(left: int) -> None:
        if left == 0:
            assert Slots(redis).count(slots_of(kind)) == most
            with pytest.raises(Busy) as caught:
                async with slots.taken(kind):
                    raise AssertionError
            assert (caught.value.code, caught.value.retry_after_s) == ("rate_limited", 1.0)
            return
        async with slots.taken(kind):
            await nested(left - 1)

    asyncio.run(nested(most))
    assert Slots(redis).count(slots_of(kind)) == 0
    asyncio.run(nested(most))


def test_the_kinds_do_not_share(redis: Redis) -> None:
    slots = RequestSlots(redis, load(search={"scorer_generation_max_concurrency": 1}))

    async def both() -> None:
        async with slots.taken("generate"), slots.taken("search"):
            assert Slots(redis).count(slots_of("search")) == 1

    asyncio.run(both())


def test_two_processes_share_the_deployments_slots(redis: Redis) -> None:
    here, there = RequestSlots(redis, load()), RequestSlots(redis, load())

    async def across() -> None:
        async with here.taken("generate"), there.taken("generate"):
            for each in (here, there):
                with pytest.raises(Busy):
                    async with each.taken("generate"):
                        raise AssertionError

    asyncio.run(across())
    assert Slots(redis).count(slots_of("generate")) == 0


def test_the_slot_of_a_gateway_that_died_frees_itself() -> None:
    """A holder that nobody renews: the lease, here of 30 s, is over one millisecond after."""
    store = MemorySlots()
    assert store.take("x", "dead", 1, 30_000, now_ms=1000)
    assert not store.take("x", "new", 1, 30_000, now_ms=30_999)
    assert store.take("x", "new", 1, 30_000, now_ms=31_000)


def test_a_slot_is_renewed_while_the_request_is_at_work(redis: Redis) -> None:
    """The lease is 3 s, so that a busy machine can keep it, and the work is over when it has been prolonged."""
    slots = RequestSlots(redis, load(gateway={"slot_ttl_s": 3.0}))
    name = f"ss:{{b}}:slots:{slots_of('generate')}"

    async def prolonged() -> None:
        async with slots.taken("generate"):
            [(_, first)] = redis.zrange(name, 0, -1, withscores=True)
            while True:
                [(_, ends)] = redis.zrange(name, 0, -1, withscores=True)
                if ends > first:
                    return
                await asyncio.sleep(0.02)

    asyncio.run(prolonged())
    assert redis.zcard(name) == 0


def test_a_caller_that_gives_up_gives_its_slot_back(redis: Redis) -> None:
    slots = RequestSlots(redis, load())

    async def cancelled() -> None:
        inside = asyncio.Event()

        async def work() -> None:
            async with slots.taken("generate"):
                inside.set()
                await asyncio.Event().wait()

        task = asyncio.create_task(work())
        await inside.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert Slots(redis).count(slots_of("generate")) == 0
        # And one that gives up while the store is asked:
        task = asyncio.create_task(work())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert Slots(redis).count(slots_of("generate")) == 0

    asyncio.run(cancelled())


class Away:
    """A store that does not answer."""

    def take(self, *_: object, **__: object) -> bool:
        raise StoreFailed

    renew = free = count = take


def test_nobody_is_admitted_while_the_store_is_away(redis: Redis) -> None:
    slots = RequestSlots(redis, load(), store=Away())  # type: ignore[arg-type]

    async def refused() -> None:
        for _ in range(3):
            with pytest.raises(StoreFailed):
                async with slots.taken("generate"):
                    raise AssertionError

    asyncio.run(refused())


# --- over HTTP --------------------------------------------------------------------------------------------------------


@pytest.fixture
def gateway(
    web: LoopbackWeb, redis: Redis, redis_url: str, tmp_path: Path
) -> Iterator[httpx.Client]:
    with running(model_settings(web, redis_url=redis_url, data_dir=str(tmp_path))) as client:
        yield client


@pytest.fixture
def model() -> Iterator[Web]:
    with running_web() as server:
        yield server


@contextmanager
def busy(settings: Settings, model: Web, redis: Redis) -> Iterator[httpx.Client]:
    """Let two generations wait for the model, which answers when the block ends and not before."""
    go_on = threading.Event()
    kind = (("Content-Type", "application/json"),)

    def slow(_seen: Seen) -> Answer:
        go_on.wait(25)
        return Answer(said(GOOD).body, headers=kind)

    model.route("/v1/chat/completions", slow)
    with running(settings) as gateway, ThreadPoolExecutor() as pool:
        asked = [pool.submit(gateway.post, PATH, json=BODY) for _ in range(2)]
        try:
            wait_until(lambda: Slots(redis).count(slots_of("generate")) == 2, "two are at work")
            yield gateway
        finally:
            go_on.set()
        assert [each.result().status_code for each in asked] == [200, 200]
        assert len(model.log) == 2
        assert Slots(redis).count(slots_of("generate")) == 0
        assert gateway.post(PATH, json=BODY).status_code == 200


def test_the_third_generation_is_refused_before_its_body_is_read(
    web: LoopbackWeb, model: Web, redis: Redis, redis_url: str, tmp_path: Path
) -> None:
    settings = model_settings(web, redis_url=redis_url, data_dir=str(tmp_path))
    named = settings.loopback.model_copy(update={"hosts": {"model.test": model.authority}})
    with busy(settings.model_copy(update={"loopback": named}), model, redis) as gateway:
        for path in (PATH, f"{PATH}/", "/v1//scoring/generate"):
            reply = gateway.post(
                path, content=b"\xff", headers={"Content-Type": "application/json"}
            )
            assert (path, reply.status_code) == (path, 429), reply.text
            assert reply.headers["retry-after"] == "1"
            assert reply.json()["detail"]["code"] == "rate_limited"
            assert reply.json()["usage"] == {"llm_tokens": 0}
        assert gateway.get("/v1/scoring/capabilities").status_code == 200


def test_who_has_its_answer_may_ask_again_at_once(
    web: LoopbackWeb, redis: Redis, redis_url: str, tmp_path: Path
) -> None:
    one = {"scorer_generation_max_concurrency": 1}
    settings = model_settings(web, redis_url=redis_url, data_dir=str(tmp_path), search=one)
    with running(settings) as client:
        codes = [client.post(PATH, json=BODY).status_code for _ in range(25)]
    assert codes == [200] * 25


def test_every_refusal_gives_its_slot_back(gateway: httpx.Client, redis: Redis) -> None:
    for content in (b"\xff", b"{}", b"[" * 100, b"x" * 70_000):
        for _ in range(3):
            headers = {"Content-Type": "application/json"}
            reply = gateway.post(PATH, content=content, headers=headers)
            assert reply.status_code in {400, 413, 422}
    assert Slots(redis).count(slots_of("generate")) == 0


def test_a_search_is_refused_where_four_are_at_work_in_other_processes(
    gateway: httpx.Client, redis: Redis
) -> None:
    """The slots of searches are taken whatever is asked, before the body is read."""
    for number in range(4):
        assert Slots(redis).take(slots_of("search"), f"elsewhere-{number}", 4, MINUTE_MS)
    reply = gateway.post(
        "/v1/search", content=b"\xff", headers={"Content-Type": "application/json"}
    )
    assert (reply.status_code, reply.headers["retry-after"]) == (429, "1")
    assert reply.json()["detail"]["code"] == "rate_limited"
    assert gateway.post(PATH, json=BODY).status_code == 200


def test_who_has_no_token_gets_no_slot(
    web: LoopbackWeb, redis: Redis, redis_url: str, tmp_path: Path
) -> None:
    TokenStore.load(tmp_path / "tokens.json").create("red", ("write",), {}, now_ms=1)
    for number in range(2):
        assert Slots(redis).take(slots_of("generate"), f"elsewhere-{number}", 2, MINUTE_MS)
    settings = model_settings(web, redis_url=redis_url, data_dir=str(tmp_path))
    with running(settings) as client:
        assert client.post(PATH, json=BODY).status_code == 401
