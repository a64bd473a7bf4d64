"""The frontier in this process, both sides in one: the twin that tests compare with Redis, and for runs without one.

For one thread; nothing survives the process.
"""

import asyncio
from collections.abc import Sequence

from budget.frontier import (
    UNCAPPED,
    Caps,
    Claim,
    Completion,
    Delivery,
    HostState,
    Offer,
    Placed,
    Turn,
)
from budget.memory_shard import MemoryShard
from budget.shards import Rounds, one_by_one, waiters_by_shard
from infra.clock import Clock, SystemClock
from infra.keys import FRONTIER_SHARDS, frontier_shard


class MemoryFrontier:
    """The `Frontier` and `FrontierWorker` ports in memory."""

    def __init__(self, clock: Clock | None = None, caps: Caps = UNCAPPED) -> None:
        """Ask `clock` where a call does not say what time it is."""
        self._clock = clock or SystemClock()
        per_shard = Caps(host=caps.host, job=caps.job, total=max(1, caps.total // FRONTIER_SHARDS))
        self._shards = [MemoryShard(per_shard) for _ in range(FRONTIER_SHARDS)]
        self._rounds = Rounds(one_by_one)
        self._wake = asyncio.Event()
        self._wake.set()  # nobody listened before, so nobody knows

    def _now(self, now_ms: int) -> int:
        return now_ms or self._clock.now_ms()

    def _shard(self, host: str) -> MemoryShard:
        return self._shards[frontier_shard(host)]

    def offer(self, offers: Sequence[Offer], *, now_ms: int = 0) -> list[Placed]:
        """Queue, join or answer from the cache."""
        answers = [self._shard(each.host).offer(each, self._now(now_ms)) for each in offers]
        if any(is_new for _, is_new in answers):
            self._wake.set()
        return [placed for placed, _ in answers]

    def reply(self, uid: str, host: str) -> bytes | None:
        """Return the stored reply."""
        return self._shard(host).reply(uid, self._now(0))

    def cancel(self, job: str, waiters: Sequence[tuple[str, str, str]]) -> int:
        """Drop a job's waiters."""
        return sum(
            self._shards[shard].cancel(*each)
            for shard, group in waiters_by_shard(job, waiters).items()
            for each in group
        )

    def host_state(self, host: str, *, now_ms: int = 0) -> HostState:
        """Return what is known of a host."""
        return self._shard(host).host_state(host, self._now(now_ms))

    async def turn(
        self,
        done: Sequence[Completion],
        want: int,
        *,
        lease_ms: int,
        pause_ms: int,
        now_ms: int = 0,
    ) -> Turn:
        """Complete `done`, then claim up to `want` requests."""
        now_ms = self._now(now_ms)

        async def ask(shard: int, finished: Sequence[Completion], share: int) -> Turn:
            return self._shards[shard].turn(finished, share, lease_ms, pause_ms, now_ms)

        return await self._rounds.take(ask, done, want)

    async def postpone(self, claim: Claim, *, pause_ms: int, now_ms: int = 0) -> bool:
        """Put a claim back at the head of its host's queue."""
        return self._shard(claim.host).postpone(claim, pause_ms, self._now(now_ms))

    async def renew(self, claim: Claim, *, lease_ms: int, now_ms: int = 0) -> bool:
        """Prolong a claim just before sending."""
        return self._shard(claim.host).renew(claim, lease_ms, self._now(now_ms))

    async def visit(self, uid: str, host: str, *, hold_ms: int, now_ms: int = 0) -> int:
        """Take a free host for a request that stands in no queue."""
        return self._shard(host).visit(uid, host, hold_ms, self._now(now_ms))

    async def depart(self, uid: str, host: str, *, pause_ms: int, now_ms: int = 0) -> None:
        """End a visit."""
        self._shard(host).depart(uid, host, pause_ms, self._now(now_ms))

    async def kept(self, uid: str, host: str) -> bytes | None:
        """Return the reply to an earlier request."""
        return self.reply(uid, host)

    async def reap(
        self, *, max_attempts: int, limit: int = 100, now_ms: int = 0
    ) -> tuple[Delivery, ...]:
        """Return expired claims to their queues."""
        now_ms = self._now(now_ms)
        outcomes = [each.reap(max_attempts, limit, now_ms) for each in self._shards]
        if any(woken for _, woken in outcomes):
            self._wake.set()
        return tuple(each for given_up, _ in outcomes for each in given_up)

    async def hold_all(self, *, pause_ms: int, now_ms: int = 0) -> None:
        """Let every host rest for pause_ms."""
        for each in self._shards:
            each.hold_all(self._now(now_ms) + pause_ms)

    async def listen(self, timeout_ms: int) -> bool:
        """Wait until something may have been queued."""
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                await self._wake.wait()
        except TimeoutError:
            return False
        self._wake.clear()
        return True
