"""Submissions together and half way: each gets its own answer, and a crash between two trips leaves nothing behind."""

from collections.abc import Sequence
from dataclasses import replace
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
from infra.scripts import Call
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


def test_everyone_in_a_batch_gets_their_own_answer(desk: Desk, redis: Redis, bells: Bells) -> None:
    view = SourceView(
        id="known",
        name="Known",
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
    redis.set(keys.sources(), msgspec.json.encode([view]))
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
    desk = Desk(redis, settings, FixedClock(NOW_MS), bells.extend)

    def die(_calls: Sequence[Call]) -> list[object]:
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
    calls = desk._submissions._calls(desk.owned(outcome[0].id, Reader(tenant="red")).spec)
    assert [each.script.name for each in calls] == [
        "step_make",
        "job_watch",
        "job_create",
        "job_list",
        "slot_admit",
    ]


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
