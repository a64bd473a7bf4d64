"""Submissions together and half way: each gets its own answer, and a crash between two trips leaves nothing behind."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from typing import Any

import msgspec
import pytest
from redis import Redis
from signal_search.contracts.query import Constraints, RetrieveRequest, SourcePrefs
from signal_search.contracts.source import SourceView
from signal_search.errors import Busy, Conflict, Invalid, SignalSearchError, StoreFailed

from api_gateway.desk import Desk
from api_gateway.enqueue import Bell, Ringer
from api_gateway.owners import Reader
from api_gateway.submission import Caller, Submissions
from infra import keys
from infra.clock import FixedClock
from infra.redis import connect
from infra.script_chain import Chain
from infra.settings import Settings, load
from tests.fakes.builders import NOW_MS

Bells = list[tuple[str, str]]


@pytest.fixture
def settings(redis_url: str) -> Settings:
    return load(redis_url=redis_url, gateway={"tenant_slots": 2})


@pytest.fixture
def bells() -> Bells:
    return []


@pytest.fixture
def desk(redis: Redis, settings: Settings, bells: Bells) -> Desk:
    return Desk(redis, settings, FixedClock(NOW_MS), bells.extend)


def asked(
    query: str, tenant: str = "red", key: str | None = None, only: tuple[str, ...] = ()
) -> tuple[RetrieveRequest, Caller]:
    request = RetrieveRequest(
        query=query, constraints=Constraints(source_prefs=SourcePrefs(only=only))
    )
    return request, Caller(tenant=tenant, idempotency_key=key)


def code_of(outcome: Any) -> str:
    return outcome.code if isinstance(outcome, SignalSearchError) else ""


def view(source: str) -> SourceView:
    return SourceView(
        id=source,
        name=source,
        kind="api",
        category="web",
        languages=(),
        topics=(),
        access="open",
        enabled=True,
        key_present=None,
        constraints=(),
        terms="",
    )


def test_everyone_in_a_batch_gets_their_own_answer(desk: Desk, redis: Redis, bells: Bells) -> None:
    redis.set(keys.sources(), msgspec.json.encode([view("known")]))
    outcomes = desk.submit_all(
        [
            asked("a", key="one"),
            asked("b", key="one"),  # another request under the same key
            asked("c", key=""),
            asked("d", only=("unknown",)),
            asked("e", only=("known",)),
            asked("f"),  # red's third place
            asked("g", tenant="blue"),
        ]
    )
    kinds = [type(each) for each in outcomes]
    assert kinds == [tuple, Conflict, Invalid, Invalid, tuple, Busy, tuple]
    assert [each.field for each in outcomes if isinstance(each, Invalid)] == [
        "Idempotency-Key",
        "constraints.source_prefs.only",
    ]
    made = [each for each in outcomes if isinstance(each, tuple)]
    assert [(job.query, is_new) for job, is_new in made] == [("a", True), ("e", True), ("g", True)]
    assert bells == [("plan", f"{job.id}/plan") for job, _ in made]
    for job, _ in made:
        assert desk.job(job.id, Reader(tenant="blue" if job.query == "g" else "red")) == job


def test_the_same_key_twice_in_a_batch_is_one_job(desk: Desk, redis: Redis) -> None:
    first, second = desk.submit_all([asked("a", key="one"), asked("a", key="one")])
    assert isinstance(first, tuple)
    assert isinstance(second, tuple)
    assert first[0].id == second[0].id
    assert [first[1], second[1]] == [True, False]
    assert redis.zcard(keys.slots("jobs:red")) == 1


def test_a_gateway_that_dies_before_it_makes_the_job_holds_a_place_for_a_moment(
    redis: Redis, settings: Settings, bells: Bells
) -> None:
    """As it may on a cluster, where each script is a trip."""
    desk = Desk(redis, settings, FixedClock(NOW_MS), bells.extend)

    def die(chains: Sequence[Chain]) -> list[list[object]]:
        chains[0].calls[0].run(redis)
        raise KeyboardInterrupt

    tools = replace(desk._submissions._tools, run=die)
    desk._submissions = Submissions(settings, tools)
    with pytest.raises(KeyboardInterrupt):
        desk.submit_all([asked("a", key="one")])
    assert (redis.keys("ss:{j:*"), redis.keys("ss:{s:*"), bells) == ([], [], [])
    [(_job, ends_ms)] = redis.zrange(keys.slots("jobs:red"), 0, -1, withscores=True)
    seconds, _micros = redis.time()
    assert 0 < ends_ms / 1000 - seconds <= 31  # gateway.slot_ttl_s
    again, is_new = Desk(redis, settings, FixedClock(NOW_MS), bells.extend).submit(
        *asked("a", key="one")
    )
    assert (is_new, bells) == (True, [("plan", f"{again.id}/plan")])
    assert redis.zcard(keys.slots("jobs:red")) == 1


def test_a_step_is_due_before_its_job_exists_and_both_before_the_bell(
    desk: Desk, redis: Redis, bells: Bells
) -> None:
    """The reconciler looks at steps: a job without one would never be found."""
    [outcome] = desk.submit_all([asked("a")])
    assert isinstance(outcome, tuple)
    step = f"{outcome[0].id}/plan"
    shard = keys.step_shard(step)
    assert redis.zscore(keys.steps_due(shard), step) is not None
    chain = desk._submissions._chain(desk.owned(outcome[0].id, Reader(tenant="red")).spec)
    assert [each.script.name for each in chain.calls] == [
        "slot_admit",
        "step_make",
        "job_watch",
        "job_create",
        "job_list",
        "slot_admit",
    ]


def test_a_full_house_is_cleared_of_ended_jobs_before_anyone_is_refused(
    desk: Desk, redis: Redis, bells: Bells
) -> None:
    """Red may have two. The workers could not give the first one's place back."""
    first, second = desk.submit_all([asked("a"), asked("b")])
    assert isinstance(first, tuple)
    assert isinstance(second, tuple)
    redis.hset(keys.job(first[0].id), "finished_at_ms", NOW_MS)
    bells.clear()
    third, fourth = desk.submit_all([asked("c"), asked("d", key="one")])
    assert isinstance(third, tuple)
    assert isinstance(fourth, Busy)
    assert {*redis.zrange(keys.slots("jobs:red"), 0, -1)} == {
        second[0].id.encode(),
        third[0].id.encode(),
    }
    assert bells == [("plan", f"{third[0].id}/plan")]
    assert redis.keys("ss:{t:red}:idem:*") == []  # whoever was refused may use the key again
    assert redis.zcard(keys.tenant_jobs("red")) == 3


def test_a_submission_is_one_trip(desk: Desk, redis: Redis) -> None:
    desk.submit_all([asked("a")])  # the scripts are known from now on
    before = redis.info("stats")["total_reads_processed"]
    desk.submit_all([asked("b"), asked("c", tenant="blue"), asked("d", tenant="blue")])
    after = redis.info("stats")["total_reads_processed"]
    assert after - before == 2  # the other one asked for these figures


def test_a_source_is_known_as_soon_as_a_worker_says_so(redis: Redis, settings: Settings) -> None:
    """What is remembered never refuses; and what was taken away is remembered for five seconds."""
    clock = FixedClock(NOW_MS)
    desk = Desk(redis, settings, clock, lambda _bells: None)

    def outcome(source: str) -> str:
        [each] = desk.submit_all([asked("a", tenant=str(next(numbers)), only=(source,))])
        return "refused" if isinstance(each, Invalid) else "made"

    numbers = count()
    redis.set(keys.sources(), msgspec.json.encode([view("one")]))
    assert (outcome("one"), outcome("two")) == ("made", "refused")
    redis.set(keys.sources(), msgspec.json.encode([view("two")]))
    assert (outcome("two"), outcome("one")) == ("made", "refused")
    redis.set(keys.sources(), msgspec.json.encode([view("three")]))
    clock.advance(4_999)
    assert outcome("two") == "made"
    clock.advance(1)
    assert outcome("two") == "refused"


def test_a_store_that_does_not_answer_refuses_all(settings: Settings, bells: Bells) -> None:
    away = connect("unix:///nonexistent/redis.sock")
    with pytest.raises(StoreFailed):
        Desk(away, settings, FixedClock(NOW_MS), bells.extend).submit_all([asked("a")])
    assert bells == []


def test_bells_of_one_task_share_messages_eight_at_most(redis: Redis, settings: Settings) -> None:
    ringer = Ringer(Bell(settings))
    steps = [f"job_{number}/plan" for number in range(250)]
    ringer.ring([("plan", each) for each in steps[:240]])
    ringer.ring([("plan", each) for each in steps[240:]])
    ringer.close()
    messages = [msgspec.json.decode(each) for each in redis.lrange("ss:mq:plan", 0, -1)]
    named = [each["headers"]["argsrepr"][2:-2].split("', '") for each in reversed(messages)]
    assert [step for each in named for step in each] == steps
    assert [len(each) for each in named] == [8] * 30 + [8, 2]
    assert len({each["headers"]["id"] for each in messages}) == 32
