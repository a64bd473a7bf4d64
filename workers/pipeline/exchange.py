"""One claimed request from its slot to its outcome: robots first, one last check, send, parse; and how long to rest.

The order is that of the crawl policy. Robots.txt takes a slot of its own, so that a server never sees two requests
closer than the interval; the page follows one interval later.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Self, cast

from msgspec.structs import replace
from signal_search.contracts.source import FetchOutcome, FetchState, Request
from signal_search.errors import StoreFailed

from budget.frontier import Claim
from budget.redis_frontier import RedisFrontierWorker
from infra import keys
from infra.clock import Clock
from infra.http import HttpClient
from infra.redis import connect_async, store_errors
from infra.settings import Settings
from workers.fetching.backoff import Pacing, suspension_ms
from workers.fetching.cache import origin_of
from workers.fetching.fetcher import Fetched, Fetcher, NeedsRobots
from workers.fetching.fetcher import Finished as Over
from workers.fetching.robots import RobotsRecord
from workers.fetching.robots_store import AsyncStrings, RobotsStore
from workers.fetching.url_guard import UrlGuard
from workers.pipeline.parse import ParsePool

_MAX_SITEMAPS = 3
_FORGET_AFTER = 10_000


@dataclass(frozen=True)
class Finished:
    """An outcome, for how long it may be shared, and how long its host rests."""

    outcome: FetchOutcome
    fresh_ms: int = 0
    pause_ms: int = 0
    suspend_ms: int = 0
    suspend_reason: str = ""


@dataclass(frozen=True)
class Postponed:
    """The slot was used otherwise, or is lost; the request waits for the next one."""


class Exchanges:
    """What the fetch loop needs of the world, opened in its own event loop."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        """Prepare; connections open on first use."""
        self._settings = settings
        self._clock = clock
        self._redis = connect_async(settings.redis_url)
        self.frontier = RedisFrontierWorker(self._redis)
        self._robots = RobotsStore(cast("AsyncStrings", self._redis))
        guard = UrlGuard(settings.fetch.ports, settings.loopback)
        self._client = HttpClient(settings.fetch, settings.loopback, guard.endpoints, clock)
        self._fetcher = Fetcher(settings, self._client, guard, clock)
        self._pool = ParsePool(settings.fetch.parse_processes, settings.fetch.parse_timeout_s)
        self._failures: Counter[str] = Counter()
        self._free_at: dict[str, float] = {}
        self._store_id = b""
        self._lease_ms = int(settings.frontier.lease_s * 1000)

    async def __aenter__(self) -> Self:
        """Return the opened exchanges, ready to parse: what is claimed must not wait for that."""
        await self._pool.warm()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close connections and end the parser processes."""
        self._pool.close()
        await self._client.aclose()
        await self.frontier.aclose()
        await self._redis.aclose()

    @property
    def restart_pause_ms(self) -> int:
        """Return how long every host rests after a restart or a crash, when its last request may be forgotten."""
        pace = self._settings.politeness
        only_loopback = self._settings.loopback.only
        seconds = pace.loopback_interval_s if only_loopback else pace.interval_s
        return int(seconds * 1000) + pace.guard_ms

    async def respect_restart(self) -> None:
        """Let every host rest when the store is another instance than before: it may have forgotten requests."""
        with store_errors():
            info = await self._redis.info("server")
            store_id = str(info["run_id"]).encode()
            if store_id == self._store_id:
                return
            known = await self._redis.get(keys.boot())
        if known != store_id:
            await self.frontier.hold_all(pause_ms=self.restart_pause_ms)
            with store_errors():
                await self._redis.set(keys.boot(), store_id)
        self._store_id = store_id

    async def make(self, claim: Claim, request: Request) -> Finished | Postponed:
        """Use a claim's slot.

        Raises:
            StoreFailed: the store does not answer; nothing was sent.
        """
        early_ms = round((self._free_at.get(claim.host, 0.0) - self._clock.monotonic()) * 1000)
        if early_ms > 0:  # the store forgot what this process remembers
            await self.frontier.postpone(claim, pause_ms=early_ms)
            return Postponed()
        record = None if request.kind == "api" else await self._robots.load(origin_of(request.url))
        if not await self.frontier.renew(claim, lease_ms=self._lease_ms):
            return Postponed()
        async with self._kept(claim):
            made = await self._fetcher.fetch(request, record)
            if isinstance(made, NeedsRobots):
                return await self._read_robots(claim, made.url)
            return await self._finish(claim, request, made, record)

    @asynccontextmanager
    async def _kept(self, claim: Claim) -> AsyncIterator[None]:
        """Prolong a claim for as long as its worker lives: a slow page or a queue of parsers is no crash."""
        keeping = asyncio.create_task(self._keep(claim))
        try:
            yield
        finally:
            keeping.cancel()
            await asyncio.gather(keeping, return_exceptions=True)

    async def _keep(self, claim: Claim) -> None:
        while True:
            await asyncio.sleep(self._lease_ms / 3000)
            with suppress(StoreFailed):
                await self.frontier.renew(claim, lease_ms=self._lease_ms)

    async def _read_robots(self, claim: Claim, url: str) -> Postponed:
        old = await self._robots.load(origin_of(url))
        record = await self._fetcher.fetch_robots(url, old)
        await self._robots.save(record)
        pause_ms = self._pause_ms(claim.host, None)
        self._remember(claim.host, pause_ms)
        await self.frontier.postpone(claim, pause_ms=pause_ms)
        return Postponed()

    async def _finish(
        self, claim: Claim, request: Request, made: Fetched | Over, record: RobotsRecord | None
    ) -> Finished:
        if isinstance(made, Over):
            outcome, fresh = made.outcome, made.fresh_ms
        else:
            outcome = await self._pool.parse(request, made.raw)
            fresh = made.fresh_ms if outcome.state is FetchState.FETCHED else 0
        outcome = _with_sitemaps(request, outcome, record)
        if made.pacing.verdict == "unsent":
            return Finished(outcome)
        pause_ms = self._pause_ms(claim.host, made.pacing.crawl_delay_s)
        self._remember(claim.host, pause_ms)
        suspend_ms = self._suspension_ms(claim.host, made.pacing)
        return Finished(
            outcome,
            fresh_ms=fresh,
            pause_ms=pause_ms,
            suspend_ms=suspend_ms,
            suspend_reason=made.pacing.verdict if suspend_ms else "",
        )

    def _pause_ms(self, host: str, crawl_delay_s: float | None) -> int:
        return max(self._settings.pause_ms(host), int((crawl_delay_s or 0) * 1000))

    def _suspension_ms(self, host: str, pacing: Pacing) -> int:
        if pacing.verdict == "fine":
            self._failures.pop(host, None)
            return 0
        pause_ms = suspension_ms(pacing, self._failures[host], self._settings.politeness)
        self._failures[host] += 1
        return pause_ms

    def _remember(self, host: str, pause_ms: int) -> None:
        """Remember in this process when a host may be asked again, should the store forget it."""
        if len(self._free_at) > _FORGET_AFTER:
            now = self._clock.monotonic()
            self._free_at = {name: at for name, at in self._free_at.items() if at > now}
        self._free_at[host] = self._clock.monotonic() + pause_ms / 1000


def _with_sitemaps(
    request: Request, outcome: FetchOutcome, record: RobotsRecord | None
) -> FetchOutcome:
    """Add the sitemaps that robots.txt names to the start page of a site crawl."""
    if not request.site or request.depth or request.kind != "page" or record is None:
        return outcome
    sitemaps = [url for url in record.sitemaps if url.startswith(request.site)][:_MAX_SITEMAPS]
    asked = tuple(replace(request, url=url, kind="sitemap") for url in sitemaps)
    parsed = replace(outcome.parsed, requests=(*outcome.parsed.requests, *asked))
    return replace(outcome, parsed=parsed)
