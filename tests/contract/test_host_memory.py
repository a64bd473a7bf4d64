"""What all workers know of a host, in a real store: failures in a row, and rests."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar, cast

import pytest
from redis import Redis
from signal_search.contracts.source import FetchOutcome, FetchState
from signal_search.errors import StoreFailed

from infra import keys
from infra.clock import FixedClock
from infra.redis import connect_async
from infra.settings import load
from tests.fakes.fetching import NOW_MS, a_request
from workers.fetching.backoff import Pacing
from workers.fetching.host_memory import AsyncKeys, HostMemory
from workers.fetching.pace import paces_of
from workers.pipeline.rests import Rests

T = TypeVar("T")
HOST = "a.test"
REQUEST = a_request("https://a.test/x")
LIMITED = Pacing(verdict="limited")
FINE = Pacing(verdict="fine")
REFUSED = FetchOutcome(
    state=FetchState.MISSED,
    url=REQUEST.url,
    status=429,
    reason="source_rate_limited",
    detail="status 429 Too Many Requests",
)
GOOD = FetchOutcome(state=FetchState.FETCHED, url=REQUEST.url, status=200)


def with_memory(url: str, play: Callable[[HostMemory], Awaitable[T]]) -> T:
    async def run() -> T:
        client = connect_async(url)
        try:
            return await play(HostMemory(cast("AsyncKeys", client), 3))
        finally:
            await client.aclose()

    return asyncio.run(run())


def with_workers(url: str, play: Callable[[Rests, Rests], Awaitable[T]], **politeness: object) -> T:
    """Two workers of one deployment: what they share is in the store only."""
    settings = load(politeness=politeness)

    async def both(memory: HostMemory) -> T:
        paces = paces_of(settings)
        one, two = (Rests(settings, FixedClock(NOW_MS), memory, paces) for _ in range(2))
        return await play(one, two)

    return with_memory(url, both)


def test_three_successes_in_a_row_end_a_series_of_failures(redis: Redis, redis_url: str) -> None:
    async def play(memory: HostMemory) -> list[int]:
        seen = [await memory.failed(HOST), await memory.failed(HOST)]
        await memory.went_well(HOST)
        await memory.went_well(HOST)
        seen.append(await memory.failed(HOST))  # two were not enough, and do not count any more
        for _ in range(3):
            await memory.went_well(HOST)
        seen += [await memory.failed(HOST), await memory.failed("b.test")]
        return seen

    assert with_memory(redis_url, play) == [0, 1, 2, 0, 0]
    assert 86_000 < redis.ttl(keys.trouble(HOST)) <= 86_400


@pytest.mark.parametrize(
    ("crawl_delay_s", "stated_s", "least_s"),
    [
        (20.0, None, 20.0),
        (5.0, None, 14.0),
        (None, None, 14.0),
        (None, 30.0, 30.0),
        (20.0, 30.0, 30.0),
    ],
    ids=["scrapy/scrapy#892", "nodejs/undici#4588", "nothing said", "headers", "both"],
)
def test_the_pause_is_the_longest_of_what_we_and_the_host_want(
    redis: Redis,
    redis_url: str,
    crawl_delay_s: float | None,
    stated_s: float | None,
    least_s: float,
) -> None:
    """Jitter only lengthens it; a fifth at most."""
    pacing = Pacing(verdict="fine", crawl_delay_s=crawl_delay_s, stated_s=stated_s)
    page = a_request("https://site.test/a")

    async def play(one: Rests, _two: Rests) -> tuple[int, int]:
        pause_ms, suspend_ms, _ = await one.after(page, "site.test", pacing, GOOD)
        assert suspend_ms == 0
        return pause_ms, await one.after_nothing(page, "site.test", pacing)

    for pause_ms in with_workers(redis_url, play):
        assert least_s * 1000 <= pause_ms <= least_s * 1200 + 100


def test_a_host_without_trouble_leaves_no_key(redis: Redis, redis_url: str) -> None:
    with_memory(redis_url, lambda memory: memory.went_well(HOST))
    assert list(redis.scan_iter()) == []


def test_a_store_that_is_away_is_an_error() -> None:
    with pytest.raises(StoreFailed):
        with_memory("unix:///nonexistent/redis.sock", lambda memory: memory.failed(HOST))


def test_pauses_grow_over_all_workers(redis: Redis, redis_url: str) -> None:
    """30 s times 2 for every failure before, whoever saw it."""

    async def play(one: Rests, two: Rests) -> list[int]:
        return [
            (await worker.after(REQUEST, HOST, LIMITED, REFUSED))[1] for worker in (one, two, one)
        ]

    assert with_workers(redis_url, play) == [30_000, 60_000, 120_000]


def test_a_suspension_says_why(redis: Redis, redis_url: str) -> None:
    async def play(one: Rests, two: Rests) -> tuple[str, ...]:
        limited = await one.after(REQUEST, HOST, LIMITED, REFUSED)
        allowance = await one.after(REQUEST, HOST, Pacing(verdict="fine", retry_after_s=60.0), GOOD)
        usual = await one.after(REQUEST, HOST, FINE, GOOD)
        soon = await one.after(REQUEST, HOST, Pacing(verdict="fine", retry_after_s=1.0), GOOD)
        return limited[2], allowance[2], usual[2], soon[2]

    assert with_workers(redis_url, play) == (
        "source_rate_limited: status 429 Too Many Requests",
        "its allowance is used up",
        "",
        "",
    )


def test_a_challenge_with_status_200_suspends_its_host(redis: Redis, redis_url: str) -> None:
    """searxng#2750: an engine that answers a captcha with 200 has banned us; asking on makes it worse."""
    captcha = FetchOutcome(
        state=FetchState.SKIPPED, url=REQUEST.url, status=200, reason="challenge", detail="captcha"
    )

    async def play(one: Rests, two: Rests) -> tuple[int, int, str]:
        return await one.after(REQUEST, HOST, FINE, captcha)

    assert with_workers(redis_url, play) == (14_001, 30_000, "challenge: captcha")


@pytest.mark.parametrize(
    ("pacing", "expected_ms"),
    [
        (Pacing(verdict="fine"), 14_001),
        (Pacing(verdict="fine", crawl_delay_s=20.0), 20_000),
        (Pacing(verdict="fine", crawl_delay_s=1.0), 14_001),  # never faster than the interval
        (Pacing(verdict="fine", stated_s=30.0), 30_000),
        (Pacing(verdict="fine", stated_s=0.02), 14_001),
        (Pacing(verdict="fine", crawl_delay_s=20.0, stated_s=30.0), 30_000),
    ],
)
def test_the_longest_of_all_paces_counts(
    redis: Redis, redis_url: str, pacing: Pacing, expected_ms: int
) -> None:
    """scrapy#892, undici#4588: max(crawl-delay, 14 s); Crossref's headers win over what was published."""

    async def play(one: Rests, two: Rests) -> int:
        return (await one.after(REQUEST, HOST, pacing, GOOD))[0]

    assert with_workers(redis_url, play) == expected_ms


def test_jitter_only_lengthens(redis: Redis, redis_url: str) -> None:
    async def play(one: Rests, two: Rests) -> list[int]:
        return [(await one.after(REQUEST, HOST, FINE, GOOD))[0] for _ in range(40)]

    pauses = with_workers(redis_url, play, jitter=0.2)
    assert 14_001 <= min(pauses) < max(pauses) <= 16_803
    assert len(set(pauses)) > 10


def test_a_page_does_not_profit_from_the_pace_of_an_api_on_its_host(
    redis: Redis, redis_url: str
) -> None:
    api = a_request("https://export.arxiv.org/api/query?q=x", "api")
    api = type(api)(url=api.url, adapter="arxiv", source_id="arxiv", kind="api")
    page = a_request("https://export.arxiv.org/abs/2401.00001")
    host = "export.arxiv.org"

    async def play(one: Rests, two: Rests) -> tuple[int, int, int, int]:
        pause_ms, _, _ = await one.after(api, host, FINE, GOOD)
        return (
            pause_ms,
            await two.owed_ms(api, host),
            await two.owed_ms(page, host),
            await one.owed_ms(api, host),
        )

    pause_ms, to_api, to_page, to_own = with_workers(redis_url, play, published_pace=True)
    assert (pause_ms, to_api, to_own) == (3_001, 0, 3_001)
    assert 3_001 < to_page <= 14_001  # 14,001 less the time since then, which is real
