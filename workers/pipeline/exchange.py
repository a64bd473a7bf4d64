"""One claimed request from its slot to its outcome: robots first, one last check, send, parse; and how long to rest.

The order is that of the crawl policy. Robots.txt takes a slot of its own, so that a server never sees two requests
closer than the interval; the page follows one interval later.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Self, cast

from msgspec.structs import replace
from signal_search.contracts.source import FetchOutcome, FetchState, Request, SkipReason
from signal_search.errors import Broken, StoreFailed

from budget.frontier import Claim, Completion, Turn
from budget.redis_frontier import RedisFrontierWorker
from infra import keys
from infra.clock import Clock
from infra.gathering import gathered
from infra.http import HttpClient
from infra.redis import connect_async, identity, store_errors
from infra.settings import Settings
from workers.fetching.cache import host_key, is_shareable, origin_of
from workers.fetching.fetcher import Fetched, Fetcher, NeedsRobots, Unchanged
from workers.fetching.fetcher import Finished as Over
from workers.fetching.host_memory import AsyncKeys, HostMemory
from workers.fetching.pace import paces_of
from workers.fetching.robots import RobotsRecord
from workers.fetching.robots_store import AsyncStrings, RobotsStore
from workers.fetching.stored_reply import (
    Kept,
    StoredReply,
    is_served_on_failure,
    kept,
    renewed,
    stale,
)
from workers.fetching.url_guard import UrlGuard
from workers.pipeline.delivery import unpack_reply
from workers.pipeline.parse import ParsePool
from workers.pipeline.remarks import with_robots_line, with_sitemaps, with_until
from workers.pipeline.rests import Rests

_LEAST_WAIT_MS = 50
_ASK_AGAIN_S = 0.1


@dataclass(frozen=True)
class Finished:
    """What is kept of a fetch, how long its host rests (milliseconds), and why, if for longer than usual.

    ended_s: when the reply was there, by the monotonic clock; the pause counts from then (None: from its completion).
    """

    kept: Kept
    pause_ms: int = 0
    suspend_ms: int = 0
    suspend_reason: str = ""
    ended_s: float | None = None

    @property
    def outcome(self) -> FetchOutcome:
        """Return how the fetch ended for the jobs that wait for it."""
        return self.kept.reply.outcome


@dataclass(frozen=True)
class Postponed:
    """The slot was used otherwise, or is lost; the request waits for the next one."""


class Exchanges:
    """What the fetch loop needs of the world, opened in its own event loop."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        """Prepare; connections open on first use."""
        self._settings = settings
        self._clock = clock
        self._redis = gathered(connect_async(settings.redis_url))
        self.frontier = RedisFrontierWorker(self._redis)
        self._robots = RobotsStore(cast("AsyncStrings", self._redis))
        guard = UrlGuard(settings.fetch.ports, settings.loopback)
        self._client = HttpClient(settings.fetch, settings.loopback, guard.endpoints, clock)
        self._fetcher = Fetcher(settings, self._client, guard, clock)
        memory = HostMemory(cast("AsyncKeys", self._redis), settings.politeness.reset_after)
        self._rests = Rests(settings, clock, memory, paces_of(settings))
        self._pool = ParsePool(
            settings.fetch.parse_processes,
            settings.fetch.parse_timeout_s,
            memory_mib=settings.fetch.parse_memory_mib,
        )
        self._instances = ""
        self._lease_ms = int(settings.frontier.lease_s * 1000)

    async def __aenter__(self) -> Self:
        """Return the opened exchanges, ready to parse: what is claimed must not wait for that."""
        try:
            await self._pool.warm()
        except asyncio.CancelledError:  # told to end before it began
            self._pool.close()
            raise
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
        return self._rests.restart_pause_ms

    async def turn(self, done: Sequence[Completion], want: int) -> Turn:
        """Complete what is done and claim what is due, in one trip.

        A store that is another instance than before may have forgotten requests: what it hands out is put back, and
        every host rests.

        Raises:
            StoreFailed: the store does not answer.
        """
        pause_ms = self.restart_pause_ms
        turn = await self.frontier.turn(done, want, lease_ms=self._lease_ms, pause_ms=pause_ms)
        if self.frontier.instances == self._instances:
            return turn
        await self._respect_restart()
        self._instances = self.frontier.instances
        for claim in turn.claims:
            await self.frontier.postpone(claim, pause_ms=pause_ms)
        return replace(turn, claims=(), next_in_ms=pause_ms)

    async def _respect_restart(self) -> None:
        """Let every host rest, unless another worker has seen to it."""
        found = await identity(self._redis)
        with store_errors():
            known = await self._redis.get(keys.boot())
        if known != found.encode():
            await self.frontier.hold_all(pause_ms=self.restart_pause_ms)
            with store_errors():
                await self._redis.set(keys.boot(), found)

    async def make(self, claim: Claim, request: Request) -> Finished | Postponed:
        """Use a claim's slot.

        Raises:
            StoreFailed: the store does not answer; nothing was sent.
        """
        owed_ms = await self._rests.owed_ms(request, claim.host)
        if owed_ms > 0:
            await self.frontier.postpone(claim, pause_ms=owed_ms)
            return Postponed()
        # One trip, and nothing between it and sending.
        record, stored, is_ours = await asyncio.gather(
            self._record(request),
            self._stored(claim, request),
            self.frontier.renew(claim, lease_ms=self._lease_ms),
        )
        if not is_ours:
            return Postponed()
        async with self._held(claim):
            made = await self._fetcher.fetch(request, record, stored)
            ended_s = self._clock.monotonic()
            if isinstance(made, NeedsRobots):
                return await self._read_robots(claim, made.url)
            if isinstance(made, Over) and made.was_dropped:
                pause_ms = await self._rests.after_nothing(request, claim.host, made.pacing)
                await self.frontier.postpone(claim, pause_ms=pause_ms)
                return Postponed()
            keep = await self._kept(request, made, stored)
            keep = with_sitemaps(request, keep, record)
            return await self._finish(claim, request, made, keep, ended_s)

    async def _record(self, request: Request) -> RobotsRecord | None:
        return None if request.kind == "api" else await self._robots.load(origin_of(request.url))

    async def _stored(self, claim: Claim, request: Request) -> StoredReply | None:
        """Return the earlier reply to the same request, if any may be renewed or served."""
        if not is_shareable(request):
            return None
        raw = await self.frontier.kept(claim.uid, claim.host)
        return None if raw is None else unpack_reply(raw)

    @asynccontextmanager
    async def _held(self, claim: Claim) -> AsyncIterator[None]:
        """Prolong a claim for as long as its worker lives: a slow page or a queue of parsers is no crash."""
        keeping = asyncio.create_task(self._keep(claim))
        try:
            yield
        finally:
            # The client's library loses a cancellation that comes while it connects: ask until it is heard. Else this
            # would wait for ever, and the claim be prolonged for ever.
            while not keeping.done():
                keeping.cancel()
                await asyncio.wait([keeping], timeout=_ASK_AGAIN_S)

    async def _keep(self, claim: Claim) -> None:
        while True:
            await asyncio.sleep(self._lease_ms / 3000)
            with suppress(StoreFailed):
                await self.frontier.renew(claim, lease_ms=self._lease_ms)

    async def _read_robots(self, claim: Claim, url: str) -> Postponed:
        """Use the slot for one step towards a robots.txt; the request waits for the next one."""
        old = await self._robots.load(origin_of(url))
        host = host_key(self._fetcher.robots_url(url, old))
        if host == claim.host:
            await self._robots.save(await self._fetcher.fetch_robots(url, old))
            pause_ms = self._rests.after_robots(host)
        else:
            pause_ms = await self._read_elsewhere(claim, url, old, host)
        await self.frontier.postpone(claim, pause_ms=pause_ms)
        return Postponed()

    async def _read_elsewhere(
        self, claim: Claim, url: str, old: RobotsRecord | None, host: str
    ) -> int:
        """Take the step at another host, at that host's pace; return how long the claim's own host rests, in ms.

        It was not asked, so it need not rest; but nobody asks in circles whether the other host is free.
        """
        usual_ms = self._settings.pause_ms(host)
        wait_ms = await self.frontier.visit(claim.uid, host, hold_ms=self._lease_ms + usual_ms)
        if wait_ms:
            return min(wait_ms, max(usual_ms, _LEAST_WAIT_MS))
        await self._robots.save(await self._fetcher.fetch_robots(url, old))
        pause_ms = self._rests.after_robots(host)
        await self.frontier.depart(claim.uid, host, pause_ms=pause_ms)
        return 0

    async def _kept(
        self, request: Request, made: Fetched | Unchanged | Over, stored: StoredReply | None
    ) -> Kept:
        """Return what is kept: the parsed reply, the stored one renewed or in place of a failure, or the failure."""
        limits = self._settings.cache
        if isinstance(made, Unchanged) and stored is not None:
            return renewed(stored, made.raw, limits)
        if isinstance(made, Fetched):
            outcome = await self._pool.parse(request, made.raw)
            return kept(
                request, made.raw, with_robots_line(outcome, made.robots), made.fresh_ms, limits
            )
        if not isinstance(made, Over):
            raise Broken  # a 304 that nobody asked for is an outcome of the fetcher's
        now_ms = self._clock.now_ms()
        if _is_origin_failure(made) and stored is not None and is_served_on_failure(stored, now_ms):
            return stale(stored, made.outcome, now_ms, limits)
        reply = StoredReply(outcome=with_robots_line(made.outcome, made.robots))
        return Kept(reply=reply, fresh_ms=made.fresh_ms)

    async def _finish(
        self,
        claim: Claim,
        request: Request,
        made: Fetched | Unchanged | Over,
        kept: Kept,
        ended_s: float,
    ) -> Finished:
        if made.pacing.verdict == "unsent":
            return Finished(kept)
        failure = made.outcome if isinstance(made, Over) else kept.reply.outcome
        rests = await self._rests.after(request, claim.host, made.pacing, failure, ended_s=ended_s)
        return Finished(with_until(kept, rests[1], self._clock.now_ms()), *rests, ended_s)


def _is_origin_failure(made: Over) -> bool:
    """Say whether a fetch failed for want of its origin: also for want of its robots.txt, but not by our refusal."""
    if made.outcome.reason == SkipReason.ROBOTS_UNREACHABLE:
        return True
    return made.outcome.state is FetchState.MISSED and made.pacing.verdict in {"limited", "fault"}
