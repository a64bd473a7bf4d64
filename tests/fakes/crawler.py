"""The polite fetchers of some workers on a real store and a real web, and a job's side of it. Intervals are short but real."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

import pytest
from signal_search.contracts.document import Document
from signal_search.contracts.source import FetchOutcome, Request, RequestKind
from signal_search.contracts.trace import FetchFinished

from infra.http import RawReply
from infra.settings import Settings, load
from tests.fakes.builders import a_job
from tests.fakes.fetching import a_request
from tests.fakes.web import Web
from workers.fetch_loop import Fetchers
from workers.pipeline.exchange import Exchanges, Finished, Postponed
from workers.pipeline.offers import offer
from workers.pipeline.parse import parse_reply
from workers.pipeline.wanted import Wanted
from workers.toolbox import Toolbox, open_toolbox

PAUSE_S = 0.25
LONG_MS = 60_000
_PATIENCE_S = 45.0


class InlinePool:
    """The real parsing without a process of its own: only `test_a_page_is_parsed_in_a_process` pays for one."""

    async def warm(self) -> None:
        pass

    async def parse(self, request: Request, raw: RawReply) -> FetchOutcome:
        return parse_reply(request, raw)

    def close(self) -> None:
        pass


class Crawler:
    """The fetchers of one worker, and a job's side of the store."""

    def __init__(self, web: Web, settings: Settings) -> None:
        self.web = web
        self.settings = settings
        self.bells: list[str] = []
        self.tools: Toolbox = open_toolbox(
            settings, lambda _task, step_id: self.bells.append(step_id)
        )

    def ask(
        self,
        url: str,
        job_id: str = "job_1",
        number: int = 1,
        kind: RequestKind = "page",
        life_ms: int = LONG_MS,
        **fields: str,
    ) -> str:
        """Offer a request for a job; return its fetch id."""
        now_ms = self.tools.clock.now_ms()
        self.tools.store.create(
            a_job(id=job_id, created_at_ms=now_ms, deadline_ms=now_ms + LONG_MS)
        )
        stored = self.tools.store.get(job_id)
        assert stored is not None
        wanted = Wanted(fetch_id=f"q1.one#{number}", request=a_request(url, kind, **fields))
        offer(self.tools, stored, [wanted], deadline_ms=now_ms + life_ms)
        return wanted.fetch_id

    def ends(self, job_id: str = "job_1") -> list[FetchFinished]:
        entries = [entry for _id, entry in self.tools.log.read(job_id)]
        return [each for each in entries if isinstance(each, FetchFinished)]

    async def heard(self, count: int = 1, job_id: str = "job_1") -> list[FetchFinished]:
        await until(lambda: len(self.ends(job_id)) >= count, f"{count} ends of {job_id}")
        return self.ends(job_id)

    def documents(self, job_id: str = "job_1") -> list[Document]:
        ids = [doc_id for each in self.ends(job_id) for doc_id in each.documents]
        return list(self.tools.log.documents(job_id, ids).values())

    def arrivals(self, *but: str) -> list[float]:
        return [each.at_s for each in self.web.log if each.path not in but]


async def until(predicate: Callable[[], bool], description: str) -> None:
    """Wait for something that real threads and sockets bring about."""
    ends = time.monotonic() + _PATIENCE_S
    while not predicate():
        if time.monotonic() > ends:
            pytest.fail(f"in vain: {description}")
        await asyncio.sleep(0.01)


def settings_for(web: Web, redis_url: str, **more: object) -> Settings:
    hosts = {"a.test": web.authority, "b.test": web.authority}
    values: dict[str, object] = {
        "redis_url": redis_url,
        "loopback": {"allow": [web.authority], "only": True, "hosts": hosts},
        "politeness": {"loopback_interval_s": PAUSE_S},
        "fetch": {"clients": 2, "concurrency": 8},
        **more,
    }
    return load(**values)


def crawl(
    web: Web,
    redis_url: str,
    play: Callable[[Crawler], Awaitable[None]],
    workers: int = 1,
    **more: object,
) -> Crawler:
    """Let `play` act while this many workers fetch, on one event loop; then end them."""
    crawler = Crawler(web, settings_for(web, redis_url, **more))

    async def run() -> None:
        async with AsyncExitStack() as stack:
            fetchers = [await _open(stack, crawler) for _ in range(workers)]
            running = [asyncio.create_task(each.run()) for each in fetchers]
            await play(crawler)
            for each in fetchers:
                each.end()
            async with asyncio.timeout(40):
                await asyncio.gather(*running)

    asyncio.run(run())
    return crawler


async def _open(stack: AsyncExitStack, crawler: Crawler) -> Fetchers:
    return Fetchers(crawler.tools, await stack.enter_async_context(opened(crawler)))


def opened(crawler: Crawler) -> Exchanges:
    exchanges = Exchanges(crawler.settings, crawler.tools.clock)
    exchanges._pool = InlinePool()  # type: ignore[assignment]
    return exchanges


def make(web: Web, redis_url: str, lease_ms: int) -> Finished | Postponed:
    """Claim a request, let some milliseconds pass, and use the claim's slot."""
    crawler = Crawler(web, settings_for(web, redis_url))

    async def run() -> Finished | Postponed:
        async with opened(crawler) as exchanges:
            crawler.ask(web.url("/a"), kind="api")
            turn = await exchanges.frontier.turn([], 1, lease_ms=lease_ms, pause_ms=1)
            await asyncio.sleep(0.01)
            return await exchanges.make(turn.claims[0], a_request(web.url("/a"), "api"))

    return asyncio.run(run())
