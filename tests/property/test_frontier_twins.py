"""The frontier in Redis and its memory twin through the same random steps: every answer is the same, and polite.

Beside the twins a plain log of claims is kept; politeness and "one fetch per request" are judged by it alone.
"""

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from redis import Redis
from redis.asyncio import Redis as AsyncRedis
from typing_extensions import override

from budget.frontier import Caps, Claim, Completion, Offer
from budget.memory_frontier import MemoryFrontier
from budget.redis_frontier import RedisFrontier, RedisFrontierWorker
from infra.clock import FixedClock
from infra.redis import connect_async

NOW = 1_790_000_000_000
PAUSE = 10_000
LEASE = 30_000
HOSTS = ("a.test", "b.test", "c.test", "d.test", "e.test")
JOBS = ("j1", "j2", "j3")
UIDS = {f"{host}/{number}": host for host in HOSTS[:3] for number in range(6)}
UIDS |= {f"{host}/0": host for host in HOSTS[3:]}
CAPS = Caps(host=5, job=9, total=40)
T = TypeVar("T")

uids = st.sampled_from(sorted(UIDS))
jobs = st.sampled_from(JOBS)
fetches = st.sampled_from(["f1", "f2"])
spans = st.sampled_from([1, 999, PAUSE - 1, PAUSE, LEASE, LEASE + PAUSE, 120_000])
picks = st.integers(0, 10**6)


class FrontierTwins(RuleBasedStateMachine):
    redis: Redis
    client: AsyncRedis
    runner: asyncio.Runner

    def __init__(self) -> None:
        super().__init__()
        self.redis.flushall()
        self.clock = FixedClock(NOW)
        self.memory = MemoryFrontier(self.clock, CAPS)
        self.jobs = RedisFrontier(self.redis, CAPS)
        self.worker = RedisFrontierWorker(self.client)
        self.seen: list[Claim] = []
        self.live: dict[str, Claim] = {}  # by uid: claims whose workers live
        self.open_at: dict[str, int] = {}  # by host: not before, by the log alone
        self.suspended: dict[str, int] = {}
        self.floor = 0
        self.visitors: set[str] = set()  # hosts whose visitor was the last to take them

    @property
    def now(self) -> int:
        return self.clock.now_ms()

    def run(self, work: Awaitable[T]) -> T:
        async def settle() -> T:
            return await work

        return self.runner.run(settle())

    def both(self, name: str, *args: Any, **named: Any) -> Any:
        expected = getattr(self.memory, name)(*args, **named, now_ms=self.now)
        assert getattr(self.jobs, name)(*args, **named, now_ms=self.now) == expected
        return expected

    def both_async(self, name: str, *args: Any, **named: Any) -> Any:
        expected = self.run(getattr(self.memory, name)(*args, **named, now_ms=self.now))
        real = self.run(getattr(self.worker, name)(*args, **named, now_ms=self.now))
        assert real == expected, (name, args, named)
        return expected

    @rule(
        uid=uids,
        job=jobs,
        fetch=fetches,
        deadline=st.sampled_from([5_000, 25_000, 100_000, 10**7]),
        weight=st.sampled_from([0.3, 1.0, 3.0]),
    )
    def offer(self, uid: str, job: str, fetch: str, deadline: int, weight: float) -> None:
        offer = Offer(
            uid=uid,
            host=UIDS[uid],
            payload=uid.encode(),
            job=job,
            waiter=f"{job}|{fetch}",
            deadline_ms=self.now + deadline,
            pause_ms=PAUSE,
            weight=weight,
        )
        (placed,) = self.both("offer", [offer])
        if placed.disposition in {"queued", "joined"}:
            assert placed == self.both("offer", [offer])[0]
        if placed.disposition == "late":
            assert placed.ready_in_ms > deadline

    @rule(want=st.integers(0, 6))
    def claim(self, want: int) -> None:
        self._turn([], want)

    @rule(
        pick=picks,
        want=st.integers(0, 3),
        fresh=st.sampled_from([0, 200_000]),
        keep=st.sampled_from([0, 300_000]),
        stale=st.sampled_from([0, 400_000]),
        suspend=st.sampled_from([0, 0, 0, 50_000]),
    )
    def complete(
        self, pick: int, want: int, fresh: int, keep: int, stale: int, suspend: int
    ) -> None:
        """End a claim, perhaps for the second time or after its lease was lost."""
        if not self.seen:
            return
        claim = self.seen[pick % len(self.seen)]
        done = Completion(
            uid=claim.uid,
            host=claim.host,
            fence=claim.fence,
            reply=b"%d" % pick,
            fresh_ms=fresh,
            keep_ms=keep,
            stale_ms=stale,
            pause_ms=PAUSE,
            suspend_ms=suspend,
            suspend_reason="asked to" if suspend else "",
        )
        self._turn([done], want)

    def _turn(self, done: list[Completion], want: int) -> None:
        turn = self.both_async("turn", done, want, lease_ms=LEASE, pause_ms=PAUSE)
        for delivery in turn.deliveries:
            self._ended(delivery.uid, done[0].suspend_ms)
            assert delivery.owner == (delivery.waiters[0] if delivery.waiters else "")
            assert len(set(delivery.waiters)) == len(delivery.waiters)
        assert len(turn.claims) <= want
        for claim in turn.claims:
            self._claimed(claim)

    def _claimed(self, claim: Claim) -> None:
        assert self.now >= self.open_at.get(claim.host, 0)
        assert self.now >= self.suspended.get(claim.host, 0)
        assert self.now >= self.floor
        assert claim.uid not in self.live, "one fetch per request"
        assert all(claim.fence > old.fence for old in self.seen if old.uid == claim.uid)
        self.live[claim.uid] = claim
        self.seen.append(claim)
        self.open_at[claim.host] = claim.lease_until_ms + PAUSE
        self.visitors.discard(claim.host)

    def _ended(self, uid: str, suspend: int = 0, pause: int = PAUSE) -> None:
        claim = self.live.pop(uid)
        self.suspended[claim.host] = max(
            self.suspended.get(claim.host, 0), self.now + suspend if suspend else 0
        )
        others = [each for each in self.live.values() if each.host == claim.host]
        holds = [each.lease_until_ms + PAUSE for each in others]
        self.open_at[claim.host] = max([self.now + pause, *holds])

    @rule(pick=picks, pause=st.sampled_from([0, PAUSE]))
    def postpone(self, pick: int, pause: int) -> None:
        if self.seen:
            claim = self.seen[pick % len(self.seen)]
            if self.both_async("postpone", claim, pause_ms=pause):
                self._ended(claim.uid, pause=pause)

    @rule(pick=picks, lease=st.sampled_from([1, LEASE, 2 * LEASE]))
    def renew(self, pick: int, lease: int) -> None:
        if not self.seen:
            return
        claim = self.seen[pick % len(self.seen)]
        if self.both_async("renew", claim, lease_ms=lease):
            assert self.live[claim.uid].fence == claim.fence
            assert self.now < self.open_at[claim.host]
            self.open_at[claim.host] = max(self.open_at[claim.host], self.now + lease + PAUSE)

    @rule(host=st.sampled_from(HOSTS), hold=st.sampled_from([PAUSE, LEASE]))
    def visit(self, host: str, hold: int) -> None:
        if self.both_async("visit", "visitor", host, hold_ms=hold) == 0:
            assert self.now >= self.open_at.get(host, 0)
            assert self.now >= max(self.suspended.get(host, 0), self.floor)
            self.open_at[host] = self.now + hold
            self.visitors.add(host)

    @rule(host=st.sampled_from(HOSTS), pause=st.sampled_from([0, PAUSE]))
    def depart(self, host: str, pause: int) -> None:
        """End a visit, perhaps after someone else took the host."""
        self.both_async("depart", "visitor", host, pause_ms=pause)
        held = 0 if host in self.visitors else self.open_at.get(host, 0)
        self.open_at[host] = max(held, self.now + pause)
        self.visitors.discard(host)

    @rule(max_attempts=st.sampled_from([1, 2, 3]), limit=st.integers(1, 4))
    def reap(self, max_attempts: int, limit: int) -> None:
        for delivery in self.both_async("reap", max_attempts=max_attempts, limit=limit):
            assert delivery.waiters
        in_flight = {
            bytes(uid).decode()
            for key in self.redis.scan_iter("*:leases")
            for uid, _ in self.redis.zscan_iter(key)
        }
        self.live = {uid: claim for uid, claim in self.live.items() if uid in in_flight}

    @rule(job=jobs, names=st.lists(uids, max_size=6), fetch=fetches)
    def cancel(self, job: str, names: list[str], fetch: str) -> None:
        waiters = [(uid, UIDS[uid], f"{job}|{fetch}") for uid in names]
        assert self.memory.cancel(job, waiters) == self.jobs.cancel(job, waiters)

    @rule(pause=st.sampled_from([0, 1_000, PAUSE]))
    def hold_all(self, pause: int) -> None:
        self.both_async("hold_all", pause_ms=pause)
        self.floor = max(self.floor, self.now + pause)

    @rule(by=spans)
    def advance(self, by: int) -> None:
        self.clock.advance(by)

    @rule(uid=uids)
    def reply(self, uid: str) -> None:
        expected = self.memory.reply(uid, UIDS[uid])
        if (
            expected is not None
        ):  # the server's own clock does not jump, so there it may stay longer
            assert self.jobs.reply(uid, UIDS[uid]) == expected
            assert self.run(self.worker.kept(uid, UIDS[uid])) == expected

    @invariant()
    def hosts_agree(self) -> None:
        for host in HOSTS:
            self.both("host_state", host)

    @override
    def teardown(self) -> None:
        """When everyone has cancelled and every lease has ended, nothing is left queued or counted."""
        everyone = [
            (uid, UIDS[uid], f"{j}|{f}") for uid in UIDS for j in JOBS for f in ("f1", "f2")
        ]
        for job in JOBS:
            assert self.memory.cancel(job, everyone) == self.jobs.cancel(job, everyone)
        self.clock.advance(10**6)
        assert self.both_async("reap", max_attempts=1) == ()
        left = {bytes(key).decode().split("}:")[1].split(":")[0] for key in self.redis.scan_iter()}
        assert left <= {"host", "reply", "given", "floor", "fence"}
        shards = self.memory._shards
        assert not any(
            each._requests or each._ready or each._leases or each._hosts for each in shards
        )
        assert not any(each._load for each in shards)


@pytest.mark.timeout(120)
def test_frontier_twins(redis: Redis, redis_url: str) -> None:
    with asyncio.Runner() as runner:
        client = connect_async(redis_url)
        parts = {"redis": redis, "client": client, "runner": runner}
        run_state_machine_as_test(
            type("Machine", (FrontierTwins,), parts),
            settings=settings(
                max_examples=60,
                stateful_step_count=50,
                deadline=None,
                suppress_health_check=list(HealthCheck),
            ),
        )
        runner.run(client.aclose())
