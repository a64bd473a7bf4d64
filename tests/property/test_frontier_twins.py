"""The frontier in Redis and its memory twin through the same random steps: every answer is the same, and right.

Both are compared with each other and with plain lists (`tests/fakes/plain_frontier.py`), after every step. Time moves
for the store's own clock too, so that what it forgets by itself is part of the comparison.
"""

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from redis import Redis
from redis.asyncio import Redis as AsyncRedis
from typing_extensions import override

from budget.frontier import Caps, Claim, Completion, Offer
from budget.memory_frontier import MemoryFrontier
from budget.redis_frontier import RedisFrontier, RedisFrontierWorker
from infra.clock import FixedClock
from infra.redis import connect_async
from tests.fakes.plain_frontier import PlainFrontier
from tests.fakes.server_time import pass_time

NOW = 1_790_000_000_000
PAUSE = 10_000
LEASE = 30_000
HOSTS = ("a.test", "b.test", "c.test", "d.test", "e.test")
JOBS = ("j1", "j2", "j3")
FETCHES = ("f1", "f2")
UIDS = {f"{host}/{number}": host for host in HOSTS[:3] for number in range(5)}
UIDS |= {f"{host}/0": host for host in HOSTS[3:]}
CAPS = Caps(host=3, job=3, total=16)
T = TypeVar("T")

uids = st.sampled_from(sorted(UIDS))
jobs = st.sampled_from(JOBS)
fetches = st.sampled_from(FETCHES)
# Lives of replies end seconds away from any sum of these, however many single milliseconds are added.
spans = st.sampled_from([1, 10, PAUSE - 1, PAUSE, LEASE, LEASE + PAUSE, 120_000])
picks = st.sampled_from([0, 0, 0, 0, 1, 2, 3, 5, 8])


def offer_of(
    uid: str, job: str, fetch: str, deadline_ms: int, weight: float = 1.0, *, pause_ms: int = PAUSE
) -> Offer:
    return Offer(
        uid=uid,
        host=UIDS[uid],
        payload=uid.encode(),
        job=job,
        waiter=f"{job}|{fetch}",
        deadline_ms=deadline_ms,
        pause_ms=pause_ms,
        weight=weight,
    )


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
        self.plain = PlainFrontier(CAPS, PAUSE)
        self.seen: list[Claim] = []

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
        """Offer a request, and once more where it waits: it keeps its place."""
        offer = offer_of(uid, job, fetch, self.now + deadline, weight)
        (placed,) = self.both("offer", [offer])
        self.plain.offered(offer, placed, self.now)
        if placed.disposition in {"queued", "joined"}:
            assert placed == self.both("offer", [offer])[0]

    @precondition(lambda self: self.seen)
    @rule(pick=picks, job=jobs, fetch=fetches, deadline=st.sampled_from([25_000, 10**7]))
    def offer_what_was_claimed(self, pick: int, job: str, fetch: str, deadline: int) -> None:
        self.offer(self.picked(pick).uid, job, fetch, deadline, 1.0)

    @rule(names=st.lists(uids, max_size=8), job=jobs, fetch=fetches, pause=st.just(PAUSE))
    def offer_many(self, names: list[str], job: str, fetch: str, pause: int) -> None:
        deadline_ms = self.now + 100_000
        offers = [offer_of(uid, job, fetch, deadline_ms, pause_ms=pause) for uid in names]
        for offer, placed in zip(offers, self.both("offer", offers), strict=True):
            self.plain.offered(offer, placed, self.now)

    @initialize(names=st.lists(uids, min_size=3, max_size=8, unique=True), job=jobs)
    def begin(self, names: list[str], job: str) -> None:
        self.offer_many(names, job, "f1", PAUSE)
        self.turn([], 1)

    def picked(self, pick: int) -> Claim:
        """Return a claim, mostly one that still holds: the newest first."""
        newest = sorted(self.seen, key=self.plain.holds)
        return newest[-1 - pick % len(newest)]

    @rule(want=st.integers(0, 6))
    def claim(self, want: int) -> None:
        self.turn([], want)

    @precondition(lambda self: self.seen)
    @rule(
        pick=picks,
        want=st.integers(0, 3),
        times=st.tuples(
            st.sampled_from([0, 203_500]),
            st.sampled_from([0, 305_000]),
            st.sampled_from([0, 403_500]),
        ),
        suspend=st.sampled_from([0, 0, 0, 50_000]),
        pause=st.sampled_from([PAUSE, PAUSE, 0, 3 * PAUSE]),
    )
    def complete(
        self, pick: int, want: int, times: tuple[int, int, int], suspend: int, pause: int
    ) -> None:
        """End a claim, perhaps for the second time or after its lease was lost."""
        fresh, keep, stale = times
        claim = self.picked(pick)
        done = Completion(
            uid=claim.uid,
            host=claim.host,
            fence=claim.fence,
            reply=b"%d" % pick,
            fresh_ms=fresh,
            keep_ms=keep,
            stale_ms=stale,
            pause_ms=pause,
            suspend_ms=suspend,
            suspend_reason="asked to" if suspend else "",
        )
        self.turn([done], want)

    def turn(self, done: list[Completion], want: int) -> None:
        turn = self.both_async("turn", done, want, lease_ms=LEASE, pause_ms=PAUSE)
        counted = [each for each in done if self.plain.holds(each)]
        assert [each.uid for each in turn.deliveries] == [each.uid for each in counted]
        for each, delivery in zip(counted, turn.deliveries, strict=True):
            assert delivery.waiters == self.plain.completed(each, self.now)
            assert delivery.owner == (delivery.waiters[0] if delivery.waiters else "")
        assert len(turn.claims) <= want
        for claim in turn.claims:
            self.plain.claimed(claim, self.now)
            self.seen.append(claim)
        assert len(turn.claims) == want or not self.plain.is_due(self.now)

    @precondition(lambda self: self.seen)
    @rule(pick=picks, pause=st.sampled_from([0, PAUSE]))
    def postpone(self, pick: int, pause: int) -> None:
        claim = self.picked(pick)
        done = self.both_async("postpone", claim, pause_ms=pause)
        assert done == self.plain.holds(claim)
        if done:
            self.plain.postponed(claim, pause, self.now)

    @precondition(lambda self: self.seen)
    @rule(pick=picks, lease=st.sampled_from([1, LEASE, 2 * LEASE]))
    def renew(self, pick: int, lease: int) -> None:
        claim = self.picked(pick)
        found = self.plain.requests.get(claim.uid)
        renewed = self.both_async("renew", claim, lease_ms=lease)
        ends_ms = found.lease_ms if found and self.plain.holds(claim) else None
        assert renewed == (ends_ms is not None and ends_ms > self.now)
        if renewed and found and ends_ms:
            found.lease_ms = max(ends_ms, self.now + lease)
            self.plain.hold(claim.host, claim.uid, found.lease_ms + PAUSE)

    @rule(host=st.sampled_from(HOSTS), hold=st.sampled_from([PAUSE, LEASE]))
    def visit(self, host: str, hold: int) -> None:
        wait_ms = self.both_async("visit", "visitor", host, hold_ms=hold)
        assert wait_ms == max(0, self.plain.free_at(host) - self.now)
        if not wait_ms:
            self.plain.hold(host, "visitor", self.now + hold)

    @rule(host=st.sampled_from(HOSTS), pause=st.sampled_from([0, PAUSE]))
    def depart(self, host: str, pause: int) -> None:
        """End a visit, perhaps after someone else took the host."""
        self.both_async("depart", "visitor", host, pause_ms=pause)
        self.plain.free(host, "visitor", self.now + pause)

    @rule(max_attempts=st.sampled_from([1, 2, 3]), limit=st.integers(1, 4))
    def reap(self, max_attempts: int, limit: int) -> None:
        given_up = self.both_async("reap", max_attempts=max_attempts, limit=limit)
        expected = self.plain.reaped(max_attempts, limit, self.now)
        assert {each.uid: each.waiters for each in given_up} == expected
        assert len(given_up) == len(expected)

    @precondition(lambda self: self.seen)
    @rule(pick=picks, renewed=st.booleans(), max_attempts=st.sampled_from([1, 2, 3]))
    def crash(self, pick: int, renewed: bool, max_attempts: int) -> None:
        """Workers are lost with all they claimed, one of them just after it renewed."""
        if renewed:
            self.renew(pick, LEASE)
        self.advance(LEASE)
        self.reap(max_attempts, 4)
        uid = self.seen[-1].uid
        self.offer_many([uid], "j3", "f2", PAUSE // 4)
        self.advance(PAUSE)
        self.turn([], 2)

    @rule(
        job=jobs,
        names=st.lists(uids, max_size=6),
        fetch=fetches,
        whose=st.sampled_from([None, *JOBS]),
    )
    def cancel(self, job: str, names: list[str], fetch: str, whose: str | None) -> None:
        """Drop waiters; those of another job are not this one's to drop."""
        waiters = [(uid, UIDS[uid], f"{whose or job}|{fetch}") for uid in names]
        removed = self.memory.cancel(job, waiters)
        assert self.jobs.cancel(job, waiters) == removed == self.plain.cancelled(job, waiters)

    @rule(pause=st.sampled_from([0, 1_000, PAUSE]))
    def hold_all(self, pause: int) -> None:
        self.both_async("hold_all", pause_ms=pause)
        self.plain.floor = max(self.plain.floor, self.now + pause)

    @rule(by=spans)
    def advance(self, by: int) -> None:
        self.clock.advance(by)
        pass_time(self.redis, by)

    @invariant()
    def hosts_agree(self) -> None:
        for host in HOSTS:
            state = self.both("host_state", host)
            assert state.queued == len(self.plain.queued(host))
            assert state.next_in_ms == max(0, self.plain.free_at(host) - self.now)
            until = self.plain.suspended.get(host, 0)
            assert state.suspended_until_ms == (until if until > self.now else None)
            assert len(self.plain.in_flight(host, self.now)) <= 1

    @invariant()
    def replies_agree(self) -> None:
        for uid, host in UIDS.items():
            if uid in self.plain.replies:
                expected = self.plain.kept(uid, self.now)
                assert self.memory.reply(uid, host) == self.jobs.reply(uid, host) == expected
                assert self.run(self.worker.kept(uid, host)) == expected

    @override
    def teardown(self) -> None:
        """When everyone has cancelled and every lease has ended, nothing is left queued or counted."""
        for job in JOBS:
            everyone = [(uid, UIDS[uid], f"{job}|{fetch}") for uid in UIDS for fetch in FETCHES]
            removed = self.plain.cancelled(job, everyone)
            assert self.memory.cancel(job, everyone) == self.jobs.cancel(job, everyone) == removed
        self.advance(10**6)
        assert self.both_async("reap", max_attempts=1) == ()
        left = {bytes(key).decode().split("}:")[1].split(":")[0] for key in self.redis.scan_iter()}
        assert left <= {"fence"}
        shards = self.memory._shards
        assert not any(
            len(each._requests) + len(each._ready) + len(each._leases) + len(each._hosts)
            for each in shards
        )
        assert not any(len(each._load) for each in shards)
        assert not any(len(each._replies._ends) for each in shards)


@pytest.mark.timeout(300)
def test_frontier_twins(redis: Redis, redis_url: str) -> None:
    with asyncio.Runner() as runner:
        client = connect_async(redis_url)
        parts = {"redis": redis, "client": client, "runner": runner}
        run_state_machine_as_test(
            type("Machine", (FrontierTwins,), parts),
            settings=settings(
                max_examples=80,
                stateful_step_count=50,
                deadline=None,
                suppress_health_check=list(HealthCheck),
            ),
        )
        runner.run(client.aclose())
