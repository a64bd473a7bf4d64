"""The frontier's contract, on every implementation. Times in the tests were worked out by hand, in milliseconds."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Protocol, TypeVar

import pytest
from msgspec.structs import replace
from redis import Redis
from signal_search.errors import Broken, StoreFailed

from budget.frontier import (
    UNCAPPED,
    Caps,
    Claim,
    Completion,
    Delivery,
    Frontier,
    FrontierWorker,
    HostState,
    Offer,
    Placed,
    Turn,
)
from budget.memory_frontier import MemoryFrontier
from budget.redis_frontier import RedisFrontier, RedisFrontierWorker
from infra import keys
from infra.clock import FixedClock
from infra.redis import connect, connect_async

NOW = 1_790_000_000_000
PAUSE = 14_000
LEASE = 60_000
HOUR = 3_600_000
T = TypeVar("T")


class Stage:
    """Both sides of one frontier, driven from synchronous tests at a time that is set."""

    def __init__(
        self, jobs: Frontier, worker: FrontierWorker, run: Callable[[Awaitable[Any]], Any]
    ) -> None:
        self.jobs, self.worker, self._run = jobs, worker, run
        self.now = NOW

    def run(self, work: Awaitable[T]) -> T:
        return self._run(work)  # type: ignore[no-any-return]

    def offer(
        self,
        uid: str = "u1",
        host: str = "a.test",
        job: str = "j1",
        *,
        fetch: str = "f1",
        deadline_ms: int = HOUR,
        weight: float = 1.0,
    ) -> Placed:
        offer = Offer(
            uid=uid,
            host=host,
            payload=b"\x00payload of " + uid.encode(),
            job=job,
            waiter=f"{job}|{fetch}",
            deadline_ms=self.now + deadline_ms,
            pause_ms=PAUSE,
            weight=weight,
        )
        return self.jobs.offer([offer], now_ms=self.now)[0]

    def turn(self, *done: Completion, want: int = 10) -> Turn:
        return self.run(
            self.worker.turn(done, want, lease_ms=LEASE, pause_ms=PAUSE, now_ms=self.now)
        )

    def claim(self) -> Claim:
        (claim,) = self.turn().claims
        return claim

    def complete(self, claim: Claim, **changes: Any) -> tuple[Delivery, ...]:
        return self.turn(done(claim, **changes), want=0).deliveries

    def cancel(self, job: str, *uids: str, host: str = "a.test", fetch: str = "f1") -> int:
        return self.jobs.cancel(job, [(uid, host, f"{job}|{fetch}") for uid in uids])

    def reap(self, max_attempts: int = 3) -> tuple[Delivery, ...]:
        return self.run(self.worker.reap(max_attempts=max_attempts, now_ms=self.now))

    def renew(self, claim: Claim, lease_ms: int = LEASE) -> bool:
        return self.run(self.worker.renew(claim, lease_ms=lease_ms, now_ms=self.now))

    def postpone(self, claim: Claim, pause_ms: int = PAUSE) -> bool:
        return self.run(self.worker.postpone(claim, pause_ms=pause_ms, now_ms=self.now))

    def visit(self, host: str = "a.test", hold_ms: int = LEASE) -> int:
        return self.run(self.worker.visit("v1", host, hold_ms=hold_ms, now_ms=self.now))

    def depart(self, host: str = "a.test", pause_ms: int = PAUSE) -> None:
        self.run(self.worker.depart("v1", host, pause_ms=pause_ms, now_ms=self.now))

    def hold_all(self, pause_ms: int) -> None:
        self.run(self.worker.hold_all(pause_ms=pause_ms, now_ms=self.now))

    def state(self, host: str = "a.test") -> HostState:
        return self.jobs.host_state(host, now_ms=self.now)


class MakeStage(Protocol):
    def __call__(self, caps: Caps = UNCAPPED) -> Stage: ...


def done(claim: Claim, **changes: Any) -> Completion:
    plain = Completion(
        uid=claim.uid,
        host=claim.host,
        fence=claim.fence,
        reply=b"\xffreply of " + claim.uid.encode(),
        fresh_ms=600_000,
        keep_ms=300_000,
        pause_ms=PAUSE,
    )
    return replace(plain, **changes)


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as one:
        yield one


def _run_on(runner: asyncio.Runner) -> Callable[[Awaitable[Any]], Any]:
    async def settle(work: Awaitable[Any]) -> Any:
        return await work

    return lambda work: runner.run(settle(work))


@pytest.fixture(params=["memory", "redis"])
def make_stage(
    request: pytest.FixtureRequest, clock: FixedClock, runner: asyncio.Runner
) -> Iterator[MakeStage]:
    run = _run_on(runner)
    if request.param == "memory":

        def in_memory(caps: Caps = UNCAPPED) -> Stage:
            both = MemoryFrontier(clock, caps)
            return Stage(both, both, run)

        yield in_memory
        return
    redis = request.getfixturevalue("redis")
    client = connect_async(request.getfixturevalue("redis_url"))
    worker = RedisFrontierWorker(client)
    yield lambda caps=UNCAPPED: Stage(RedisFrontier(redis, caps), worker, run)
    run(worker.aclose())
    run(client.aclose())


@pytest.fixture
def stage(make_stage: MakeStage) -> Stage:
    return make_stage()


# The plain way.


def test_an_offer_is_claimed_and_delivered(stage: Stage) -> None:
    assert stage.offer() == Placed(disposition="queued")
    claim = stage.claim()
    assert (claim.uid, claim.host, claim.payload) == ("u1", "a.test", b"\x00payload of u1")
    assert (claim.attempt, claim.lease_until_ms) == (1, NOW + LEASE)
    assert stage.complete(claim) == (Delivery(uid="u1", waiters=("j1|f1",), owner="j1|f1"),)
    assert stage.jobs.reply("u1", "a.test") == b"\xffreply of u1"


def test_with_nothing_queued_a_turn_brings_nothing(stage: Stage) -> None:
    assert stage.turn() == Turn(next_in_ms=-1)


def test_a_host_rests_one_pause_from_completion(stage: Stage) -> None:
    stage.offer("u1")
    stage.offer("u2")
    claim = stage.claim()
    stage.now += 5_000
    assert stage.turn(done(claim)).next_in_ms == PAUSE
    stage.now += PAUSE - 1
    assert stage.turn() == Turn(next_in_ms=1)
    stage.now += 1
    assert stage.claim().uid == "u2"


def test_one_request_of_a_host_is_in_flight_many_hosts_at_once(stage: Stage) -> None:
    for host in ("a.test", "b.test", "c.test"):
        stage.offer(f"1 {host}", host)
        stage.offer(f"2 {host}", host)
    assert sorted(each.uid for each in stage.turn().claims) == ["1 a.test", "1 b.test", "1 c.test"]
    assert stage.turn().claims == ()


def test_the_pace_is_remembered_when_the_queue_is_empty(stage: Stage) -> None:
    stage.offer("u1")
    stage.complete(stage.claim())
    stage.now += 4_000
    assert stage.offer("u2") == Placed(disposition="queued", ready_in_ms=10_000)
    stage.now += 9_999
    assert stage.turn().claims == ()
    stage.now += 1
    assert stage.claim().uid == "u2"


def test_no_more_is_claimed_than_wanted_and_the_rest_is_due(stage: Stage) -> None:
    hosts = [f"h{number}.test" for number in range(12)]
    for host in hosts:
        stage.offer(host, host)
    claimed: list[str] = []
    for want, got, due_in in ((1, 1, 0), (3, 3, 0), (5, 5, 0), (100, 3, -1)):
        turn = stage.turn(want=want)
        assert (len(turn.claims), turn.next_in_ms) == (got, due_in)
        claimed += [each.host for each in turn.claims]
    assert sorted(claimed) == sorted(hosts)


def test_few_claims_go_to_whoever_is_due(stage: Stage) -> None:
    """All due hosts in one shard: a single wanted claim must still find one."""
    hosts = [f"h{number}.test" for number in range(40)]
    same = [each for each in hosts if keys.frontier_shard(each) == 3][:3]
    for host in same:
        stage.offer(host, host)
    assert [len(stage.turn(want=1).claims) for _ in range(4)] == [1, 1, 1, 0]


def test_the_longest_due_host_goes_first(stage: Stage) -> None:
    hosts = [each for n in range(40) if keys.frontier_shard(each := f"h{n}.test") == 1][:3]
    for host in reversed(hosts):
        stage.offer(host, host)
        stage.now += 1
    assert [stage.turn(want=1).claims[0].host for _ in hosts] == hosts[::-1]


# One fetch, many waiters.


def test_identical_requests_are_one_fetch(stage: Stage) -> None:
    assert stage.offer(job="j1").disposition == "queued"
    assert stage.offer(job="j2").disposition == "joined"
    claim = stage.claim()
    assert stage.offer(job="j3") == Placed(disposition="joined")
    waiters = ("j1|f1", "j2|f1", "j3|f1")
    assert stage.complete(claim) == (Delivery(uid="u1", waiters=waiters, owner="j1|f1"),)
    assert stage.turn() == Turn(next_in_ms=-1)


def test_an_offer_is_idempotent_by_uid_and_waiter(stage: Stage) -> None:
    first, second = stage.offer(job="j1"), stage.offer(job="j2")
    assert stage.offer(job="j1") == first
    assert stage.offer(job="j2") == second
    (delivered,) = stage.complete(stage.claim())
    assert delivered.waiters == ("j1|f1", "j2|f1")


def test_when_the_owner_cancels_the_next_one_pays(stage: Stage) -> None:
    for job in ("j1", "j2", "j3"):
        stage.offer(job=job)
    assert stage.cancel("j1", "u1") == 0
    assert stage.offer(job="j2").disposition == "queued"
    (delivered,) = stage.complete(stage.claim())
    assert delivered == Delivery(uid="u1", waiters=("j2|f1", "j3|f1"), owner="j2|f1")


def test_who_comes_back_stands_last(stage: Stage) -> None:
    stage.offer(job="j1")
    stage.offer(job="j2")
    stage.cancel("j1", "u1")
    stage.offer(job="j1")
    (delivered,) = stage.complete(stage.claim())
    assert delivered.waiters == ("j2|f1", "j1|f1")


def test_what_nobody_waits_for_leaves_the_queue(stage: Stage) -> None:
    stage.offer("u1")
    stage.offer("u2")
    assert stage.cancel("j1", "u1", "u2", "unknown") == 2
    assert stage.state().queued == 0
    assert stage.turn() == Turn(next_in_ms=-1)
    assert stage.cancel("j1", "u1") == 0


def test_a_job_cancels_only_its_own_waiters(stage: Stage) -> None:
    stage.offer(job="j1")
    assert stage.jobs.cancel("j2", [("u1", "a.test", "j1|f1")]) == 0
    assert stage.state().queued == 1


def test_a_cancelled_request_in_flight_is_cached_for_others(stage: Stage) -> None:
    stage.offer(job="j1")
    claim = stage.claim()
    assert stage.cancel("j1", "u1") == 0
    assert stage.complete(claim) == (Delivery(uid="u1", waiters=(), owner=""),)
    assert stage.offer(job="j2").disposition == "cached"


def test_who_joins_a_cancelled_request_in_flight_owns_it(stage: Stage) -> None:
    stage.offer(job="j1")
    claim = stage.claim()
    stage.cancel("j1", "u1")
    assert stage.offer(job="j2") == Placed(disposition="queued")
    assert stage.complete(claim) == (Delivery(uid="u1", waiters=("j2|f1",), owner="j2|f1"),)


# Replies.


def test_a_fresh_reply_answers_without_a_slot(stage: Stage) -> None:
    stage.offer(job="j1")
    stage.complete(stage.claim(), fresh_ms=5_000)
    stage.now += 4_999
    assert stage.offer(job="j2") == Placed(disposition="cached", reply=b"\xffreply of u1")
    stage.now += 1
    assert stage.offer(job="j2").disposition == "queued"


def test_a_stale_reply_is_kept_for_who_waited_for_it(stage: Stage) -> None:
    stage.offer(job="j1")
    stage.complete(stage.claim(), fresh_ms=0, keep_ms=300_000)
    stage.now += 299_999
    reply = b"\xffreply of u1"
    assert stage.offer(job="j1") == Placed(disposition="cached", reply=reply, is_owner=True)
    assert stage.jobs.reply("u1", "a.test") == b"\xffreply of u1"
    assert stage.offer(job="j2").disposition == "queued"
    stage.now += 1
    assert stage.offer(job="j1").disposition == "joined"


def test_only_the_owner_is_told_that_a_reply_was_fetched_for_it(stage: Stage) -> None:
    stage.offer(job="j1")
    stage.offer(job="j2")
    claim = stage.claim()
    stage.offer(job="j3")
    stage.cancel("j1", "u1")
    (delivery,) = stage.complete(claim)
    assert delivery.owner == "j2|f1"
    asked = {job: stage.offer(job=job) for job in ("j1", "j2", "j3")}
    assert {each.disposition for each in asked.values()} == {"cached"}
    assert [job for job, each in asked.items() if each.is_owner] == ["j2"]
    assert not stage.offer(job="j2", fetch="f2").is_owner


def test_a_reply_that_nobody_waited_for_has_no_owner(stage: Stage) -> None:
    stage.offer(job="j1")
    claim = stage.claim()
    stage.cancel("j1", "u1")
    stage.complete(claim)
    assert stage.offer(job="j1") == Placed(disposition="cached", reply=b"\xffreply of u1")


def test_a_second_fetch_leaves_the_first_waiters_their_right(stage: Stage) -> None:
    stage.offer(job="j1")
    stage.complete(stage.claim(), fresh_ms=0)
    stage.now += PAUSE
    stage.offer(job="j2")
    stage.complete(stage.claim(), fresh_ms=0, reply=b"second")
    assert stage.offer(job="j1").disposition == "cached"
    assert stage.jobs.reply("u1", "a.test") == b"second"


def test_there_is_no_reply_to_what_was_never_fetched(stage: Stage) -> None:
    stage.offer()
    assert stage.jobs.reply("u1", "a.test") is None


# Refusals.


def test_a_host_takes_no_more_than_its_cap(make_stage: MakeStage) -> None:
    stage = make_stage(replace(UNCAPPED, host=2))
    names = [stage.offer(uid).disposition for uid in ("u1", "u2", "u3", "u1")]
    assert names == ["queued", "queued", "full", "queued"]
    assert stage.offer("u3", "b.test").disposition == "queued"
    assert stage.offer("u2", job="j2").disposition == "joined"


def test_a_job_waits_for_no_more_than_its_cap(make_stage: MakeStage) -> None:
    stage = make_stage(replace(UNCAPPED, job=2))
    names = [stage.offer(uid).disposition for uid in ("u1", "u2", "u3")]
    assert names == ["queued", "queued", "full"]
    assert stage.offer("u3", job="j2").disposition == "queued"
    stage.cancel("j1", "u1")
    assert stage.offer("u4").disposition == "queued"
    stage.cancel("j2", "u3")
    assert stage.offer("u5").disposition == "full"
    stage.complete(stage.claim())
    assert stage.offer("u5").disposition == "queued"


def test_all_together_are_no_more_than_the_cap(make_stage: MakeStage) -> None:
    stage = make_stage(replace(UNCAPPED, total=2 * keys.FRONTIER_SHARDS))
    same = [each for n in range(60) if keys.frontier_shard(each := f"h{n}.test") == 2][:3]
    names = [stage.offer(host, host).disposition for host in same]
    assert names == ["queued", "queued", "full"]


def test_what_would_come_too_late_is_refused_with_the_time_it_needs(stage: Stage) -> None:
    places = [stage.offer(f"u{number}", deadline_ms=30_000) for number in range(4)]
    assert places[2] == Placed(disposition="queued", ready_in_ms=28_000)
    assert places[3] == Placed(disposition="late", ready_in_ms=42_000)
    assert stage.state().queued == 3


def test_one_in_flight_costs_at_least_its_pause(stage: Stage) -> None:
    stage.offer("u1")
    stage.claim()
    assert stage.offer("u2", deadline_ms=13_999) == Placed(disposition="late", ready_in_ms=PAUSE)
    assert stage.offer("u2", deadline_ms=14_000) == Placed(disposition="queued", ready_in_ms=PAUSE)


def test_joining_too_late_is_refused_too(stage: Stage) -> None:
    for number in range(3):
        stage.offer(f"u{number}", job="j1")
    stage.offer("mine", job="j2")  # its finish time is 1: it stands beside u0, before u1
    assert stage.offer("u2", job="j2", deadline_ms=20_000) == Placed(
        disposition="late", ready_in_ms=28_000
    )
    (only, *_) = stage.turn().claims
    assert only.uid == "mine"


def test_a_suspended_host_refuses_what_cannot_wait(stage: Stage) -> None:
    stage.offer()
    stage.complete(stage.claim(), suspend_ms=90_000, suspend_reason="source_rate_limited")
    opens = NOW + 90_000
    assert stage.offer("u2", deadline_ms=89_999) == Placed(
        disposition="suspended", ready_in_ms=90_000, until_ms=opens
    )
    assert stage.offer("u2", deadline_ms=90_000) == Placed(
        disposition="queued", ready_in_ms=90_000, until_ms=opens
    )
    assert stage.state() == HostState(
        host="a.test",
        queued=1,
        next_in_ms=90_000,
        suspended_until_ms=opens,
        reason="source_rate_limited",
    )
    stage.now = opens - 1
    assert stage.turn() == Turn(next_in_ms=1)
    stage.now = opens
    assert stage.claim().uid == "u2"
    assert stage.state().suspended_until_ms is None
    assert stage.state().reason == ""


def test_a_weight_must_be_positive(stage: Stage) -> None:
    with pytest.raises(Broken):
        stage.offer(weight=0.0)


# Fairness.


def test_small_jobs_do_not_wait_behind_a_giant(stage: Stage) -> None:
    """Ten of the giant's 400 are through when 20 jobs of one page come: 22 turns later all of them are."""
    for number in range(400):
        stage.offer(f"g{number:03}", job="giant", deadline_ms=10 * HOUR)
    claimed: list[str] = []
    for turn in range(10 + 22):
        if turn == 10:
            for number in range(20):
                stage.offer(f"s{number:02}", job=f"small{number}")
        claim = stage.claim()
        claimed.append(claim.uid)
        stage.complete(claim)
        stage.now += PAUSE
    assert claimed[:10] == [f"g{number:03}" for number in range(10)]
    assert {f"s{number:02}" for number in range(20)} < set(claimed[10:])


def test_two_jobs_take_turns(stage: Stage) -> None:
    for uid in ("a1", "a2", "a3"):
        stage.offer(uid, job="a")
    for uid in ("b1", "b2", "b3"):
        stage.offer(uid, job="b")
    order = []
    for _ in range(6):
        claim = stage.claim()
        order.append(claim.uid)
        stage.complete(claim)
        stage.now += PAUSE
    assert order == ["a1", "b1", "a2", "b2", "a3", "b3"]


def test_twice_the_weight_is_twice_the_turns(stage: Stage) -> None:
    for number in range(8):
        stage.offer(f"heavy{number}", job="h", weight=2.0)
        stage.offer(f"light{number}", job="l")
    claimed = []
    for _ in range(9):
        claim = stage.claim()
        claimed.append(claim.uid[:5])
        stage.complete(claim)
        stage.now += PAUSE
    assert claimed.count("heavy") == 6


def test_many_jobs_that_share_a_weight_leave_another_job_half_of_the_turns(stage: Stage) -> None:
    """Ten jobs of one tenant weigh a tenth each: with them, and 100 requests before it, a job of ten takes 20 turns."""
    for number in range(100):
        stage.offer(f"many{number}", job=f"m{number % 10}", weight=0.1, deadline_ms=10 * HOUR)
    for number in range(10):
        stage.offer(f"single{number}", job="s", weight=1.0)
    claimed = []
    for _ in range(20):
        claim = stage.claim()
        claimed.append(claim.uid[:6])
        stage.complete(claim)
        stage.now += PAUSE
    assert claimed.count("single") == 10


def test_who_joins_brings_a_request_forward_to_the_own_turn(stage: Stage) -> None:
    for number in range(50):
        stage.offer(f"g{number:02}", job="giant")
    assert stage.offer("g40", job="small", deadline_ms=20_000).disposition == "joined"
    first = stage.claim()
    stage.complete(first)
    stage.now += PAUSE
    assert [first.uid, stage.claim().uid] == ["g00", "g40"]


def test_joining_never_pushes_a_request_back(stage: Stage) -> None:
    stage.offer("u1", job="j1")
    for number in range(5):
        stage.offer(f"x{number}", job="j2")
    assert stage.offer("u1", job="j2") == Placed(disposition="joined")
    assert stage.claim().uid == "u1"


# Leases, fences and crashes.


def test_a_crash_frees_its_host_after_lease_and_pause(stage: Stage) -> None:
    stage.offer("u1")
    stage.offer("u2")
    stage.claim()
    stage.now += LEASE + PAUSE - 1
    assert stage.turn() == Turn(next_in_ms=1)
    stage.now += 1
    assert stage.claim().uid == "u2"


def test_a_lost_request_returns_to_the_head_of_its_queue(stage: Stage) -> None:
    for uid in ("u1", "u2"):
        stage.offer(uid)
    lost = stage.claim()
    assert stage.reap() == ()
    stage.now += LEASE
    assert stage.reap() == ()
    assert stage.state().queued == 2
    assert stage.turn() == Turn(next_in_ms=PAUSE)
    stage.now += PAUSE
    again = stage.claim()
    assert (again.uid, again.attempt) == ("u1", 2)
    assert again.fence != lost.fence


def test_a_late_reap_still_puts_the_lost_request_first(stage: Stage) -> None:
    for uid in ("u1", "u2", "u3"):
        stage.offer(uid)
    stage.claim()
    stage.now += LEASE + PAUSE
    second = stage.claim()
    stage.reap()
    stage.offer("u4", job="j9")
    stage.complete(second)
    stage.now += PAUSE
    assert stage.claim().uid == "u1"


def test_a_reap_alone_makes_a_host_due_again(stage: Stage) -> None:
    stage.offer("u1")
    stage.claim()
    stage.now += 10 * LEASE
    assert stage.turn() == Turn(next_in_ms=-1)
    stage.reap()
    assert stage.claim().attempt == 2


def test_what_was_lost_too_often_is_given_up(stage: Stage) -> None:
    stage.offer(job="j1")
    stage.offer(job="j2")
    given_up: tuple[Delivery, ...] = ()
    for attempt in (1, 2, 3):
        assert given_up == ()
        assert stage.claim().attempt == attempt
        stage.now += LEASE
        given_up = stage.reap(max_attempts=3)
        stage.now += PAUSE
    assert given_up == (Delivery(uid="u1", waiters=("j1|f1", "j2|f1"), owner="j1|f1"),)
    assert stage.jobs.reply("u1", "a.test") is None
    assert stage.turn() == Turn(next_in_ms=-1)
    assert stage.offer().disposition == "queued"
    assert stage.claim().attempt == 1


def test_a_lost_request_that_nobody_waits_for_vanishes(stage: Stage) -> None:
    stage.offer()
    stage.claim()
    stage.cancel("j1", "u1")
    stage.now += LEASE
    assert stage.reap(max_attempts=1) == ()
    stage.now += PAUSE
    assert stage.turn() == Turn(next_in_ms=-1)


def test_a_stale_worker_cannot_end_the_claim_of_another(stage: Stage) -> None:
    stage.offer("u1")
    stale = stage.claim()
    stage.now += LEASE
    stage.reap()
    stage.now += PAUSE
    fresh = stage.claim()
    assert stage.complete(stale) == ()
    assert not stage.renew(stale)
    assert not stage.postpone(stale)
    assert stage.jobs.reply("u1", "a.test") is None
    assert stage.renew(fresh)
    assert len(stage.complete(fresh)) == 1


def test_a_fence_is_new_even_for_a_request_that_was_forgotten_meanwhile(stage: Stage) -> None:
    stage.offer("u1")
    stale = stage.claim()
    stage.now += LEASE
    stage.reap(max_attempts=1)
    stage.now += PAUSE
    stage.offer("u1")
    stage.claim()
    assert stage.complete(stale) == ()


def test_a_completion_counts_once(stage: Stage) -> None:
    stage.offer()
    claim = stage.claim()
    assert len(stage.complete(claim)) == 1
    assert stage.complete(claim) == ()


def test_a_slow_completion_counts_while_nobody_else_has_the_request(stage: Stage) -> None:
    stage.offer("u1")
    stage.offer("u2")
    slow = stage.claim()
    stage.now += LEASE + PAUSE
    other = stage.claim()
    assert other.uid == "u2"
    assert len(stage.complete(slow)) == 1
    stage.offer("u3")
    assert stage.turn().claims == ()  # the host is still the other claim's


def test_a_slow_completion_lengthens_the_rest_of_its_host(stage: Stage) -> None:
    for uid in ("u1", "u2", "u3"):
        stage.offer(uid)
    slow = stage.claim()
    stage.now += LEASE + PAUSE
    stage.complete(stage.claim())
    stage.now += 5_000
    assert stage.turn(done(slow)).next_in_ms == PAUSE


def test_renewing_prolongs_the_hold_on_the_host(stage: Stage) -> None:
    stage.offer("u1")
    stage.offer("u2")
    claim = stage.claim()
    stage.now += LEASE - 1
    assert stage.renew(claim)
    stage.now += LEASE - 1
    assert stage.reap() == ()
    stage.now += PAUSE
    assert stage.turn() == Turn(next_in_ms=1)


def test_renewing_never_shortens(stage: Stage) -> None:
    stage.offer()
    claim = stage.claim()
    assert stage.renew(claim, lease_ms=1)
    stage.now += LEASE - 1
    assert stage.renew(claim)


def test_a_lease_that_ended_is_not_renewed_reaped_or_not(stage: Stage) -> None:
    stage.offer()
    claim = stage.claim()
    stage.now += LEASE
    assert not stage.renew(claim)


def test_a_postponed_claim_is_next_and_its_attempt_uncounted(stage: Stage) -> None:
    for uid in ("u1", "u2"):
        stage.offer(uid)
    claim = stage.claim()
    stage.now += 1_000
    assert stage.postpone(claim, pause_ms=20_000)
    assert not stage.postpone(claim)
    assert stage.turn() == Turn(next_in_ms=20_000)
    stage.now += 20_000
    again = stage.claim()
    assert (again.uid, again.attempt) == ("u1", 1)


def test_a_postponed_claim_that_nobody_waits_for_vanishes(stage: Stage) -> None:
    stage.offer()
    claim = stage.claim()
    stage.cancel("j1", "u1")
    assert stage.postpone(claim)
    stage.now += PAUSE
    assert stage.turn() == Turn(next_in_ms=-1)


def test_a_visit_holds_its_host_and_lets_it_rest_afterwards(stage: Stage) -> None:
    assert stage.visit() == 0
    stage.offer()
    stage.offer("u2", host="b.test")
    assert [each.host for each in stage.turn().claims] == ["b.test"]
    stage.now += 5_000
    stage.depart()
    stage.now += PAUSE - 1
    assert stage.turn().claims == ()
    stage.now += 1
    assert stage.claim().uid == "u1"


def test_a_visit_waits_for_claims_rests_suspensions_and_restarts(stage: Stage) -> None:
    stage.offer()
    claim = stage.claim()
    assert stage.visit() == LEASE + PAUSE
    stage.complete(claim, suspend_ms=50_000)
    assert stage.visit() == 50_000
    stage.now += 50_000
    assert stage.visit() == 0
    assert stage.visit() == LEASE  # two visitors are one too many
    stage.hold_all(1_000)
    assert stage.visit("b.test") == 1_000


def test_a_visit_whose_end_is_never_told_frees_its_host_by_itself(stage: Stage) -> None:
    stage.offer()
    assert stage.visit(hold_ms=20_000) == 0
    stage.now += 20_000
    claim = stage.claim()
    stage.depart()  # late: the claim keeps its hold
    assert stage.state().next_in_ms == LEASE + PAUSE
    assert stage.renew(claim)


def test_after_a_restart_every_host_rests(stage: Stage) -> None:
    stage.offer("u1", "a.test")
    stage.offer("u2", "b.test")
    stage.hold_all(PAUSE)
    stage.now += 1_000
    stage.hold_all(1_000)
    assert stage.turn() == Turn(next_in_ms=13_000)
    assert stage.offer("u3", "c.test") == Placed(disposition="queued", ready_in_ms=13_000)
    assert stage.offer("u4", "d.test", deadline_ms=12_999).disposition == "late"
    assert stage.state("e.test").next_in_ms == 13_000
    stage.now += 13_000
    assert len(stage.turn().claims) == 3


def test_listening_hears_of_new_requests_only(stage: Stage) -> None:
    assert stage.run(stage.worker.listen(5_000))  # nobody listened before
    assert not stage.run(stage.worker.listen(1))
    stage.offer("u1")
    stage.offer("u2")
    assert stage.run(stage.worker.listen(5_000))
    while stage.run(stage.worker.listen(200)):
        pass  # there may be one wake for each offer; through the nodes of a cluster it takes its time
    stage.offer("u1", job="j2")
    assert not stage.run(stage.worker.listen(20))
    stage.claim()
    stage.now += LEASE
    stage.reap()
    assert stage.run(stage.worker.listen(5_000))


# What is peculiar to Redis.


def _keys(redis: Redis) -> list[str]:
    return [bytes(each).decode() for each in redis.scan_iter()]


@pytest.fixture
def redis_stage(
    redis: Redis, redis_url: str, runner: asyncio.Runner
) -> Iterator[tuple[Stage, Redis]]:
    run = _run_on(runner)
    client = connect_async(redis_url)
    yield Stage(RedisFrontier(redis), RedisFrontierWorker(client), run), redis
    run(client.aclose())


def test_redis_no_key_stays_for_ever_but_the_fence(redis_stage: tuple[Stage, Redis]) -> None:
    stage, redis = redis_stage
    for number in range(6):
        stage.offer(f"u{number}", f"h{number}.test", job="j1")
        stage.offer(f"u{number}", f"h{number}.test", job="j2")
    stage.offer("u9", "h0.test")
    claims = stage.turn().claims
    assert len(claims) == 6
    for claim in claims[:3]:
        stage.complete(claim)
    stage.hold_all(PAUSE)
    stage.cancel("j1", "u9", host="h0.test")
    stage.now += LEASE
    assert len(stage.reap(max_attempts=1)) == 3
    forever = {each for each in _keys(redis) if redis.pttl(each) == -1}
    assert forever == {
        f"{keys.frontier_tag(keys.frontier_shard(each.host))}:fence" for each in claims
    }


def test_redis_every_key_of_a_busy_frontier_is_of_a_listed_kind(
    redis_stage: tuple[Stage, Redis],
) -> None:
    stage, redis = redis_stage
    stage.offer("u1")
    stage.complete(stage.claim())
    stage.offer("u2")
    stage.offer("u3", "b.test")
    stage.claim()
    stage.hold_all(PAUSE)
    kinds = {each.split("}:")[1].split(":")[0] for each in _keys(redis)}
    listed = {kind for kind in kinds if f"ss:{{f:SHARD}}:{kind}" in (keys.__doc__ or "")}
    assert kinds == listed
    assert {"ready", "queue", "fair", "host", "req", "wait", "leases", "load"} <= kinds
    assert {"floor", "fence", "reply", "given"} <= kinds


def test_redis_asks_the_store_for_the_time(redis_stage: tuple[Stage, Redis]) -> None:
    stage, redis = redis_stage
    stage.now = 0
    seconds, _ = redis.time()
    stage.jobs.offer(
        [
            Offer(
                uid="u1",
                host="a.test",
                payload=b"",
                job="j1",
                waiter="j1|f1",
                deadline_ms=(int(seconds) + 60) * 1000,
                pause_ms=PAUSE,
            )
        ]
    )
    claim = stage.claim()
    assert 0 <= claim.lease_until_ms - LEASE - int(seconds) * 1000 < 20_000


def test_without_the_store_nothing_is_sent(runner: asyncio.Runner) -> None:
    url = "unix:///nonexistent/redis.sock"
    client = connect_async(url)
    stage = Stage(RedisFrontier(connect(url)), RedisFrontierWorker(client), _run_on(runner))
    claim = Claim(uid="u", host="a", payload=b"", attempt=1, fence=1, lease_until_ms=0)
    for call in (
        stage.offer,
        stage.turn,
        stage.reap,
        stage.state,
        lambda: stage.renew(claim),
        lambda: stage.cancel("j1", "u1"),
        lambda: stage.jobs.reply("u1", "a.test"),
        lambda: stage.run(stage.worker.listen(1)),
    ):
        with pytest.raises(StoreFailed):
            call()
    stage.run(client.aclose())


# --- stale replies ----------------------------------------------------------------------------------------------------


def test_a_stale_reply_is_kept_for_who_fetches_again_but_answers_nobody(stage: Stage) -> None:
    stage.offer()
    stage.complete(stage.claim(), fresh_ms=10_000, keep_ms=0, stale_ms=50_000)
    stage.now += 10_000
    assert stage.offer(job="j2").disposition == "queued"
    stage.now += PAUSE
    claim = stage.claim()
    assert stage.run(stage.worker.kept(claim.uid, claim.host)) == b"\xffreply of u1"
    stage.complete(claim, reply=b"newer", fresh_ms=0, keep_ms=0, stale_ms=0)
    assert stage.run(stage.worker.kept(claim.uid, claim.host)) is None


def test_a_reply_that_may_not_be_kept_stale_leaves_with_its_freshness(
    redis: Redis, redis_url: str
) -> None:
    """The server's clock drops it: the key lives for the freshness and what follows it, no longer."""
    with asyncio.Runner() as runner:
        client = connect_async(redis_url)
        stage = Stage(RedisFrontier(redis), RedisFrontierWorker(client), runner.run)
        for uid, stale_ms, expected_ms in (("u1", 0, 20_000), ("u2", 70_000, 90_000)):
            stage.offer(uid, host=f"{uid}.test")
            stage.complete(stage.claim(), fresh_ms=20_000, keep_ms=5_000, stale_ms=stale_ms)
            left_ms = redis.pttl(keys.frontier_reply(f"{uid}.test", uid))
            assert expected_ms - 15_000 < left_ms <= expected_ms
        runner.run(client.aclose())
