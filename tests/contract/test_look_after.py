"""Jobs whose step was lost with a part of the store, or that were ended half: somebody finds them and sees to it."""

from typing import Any

import msgspec
import pytest
from redis import Redis
from signal_search.contracts.job import JobEvent, JobState
from signal_search.contracts.result import Result
from signal_search.contracts.trace import Ended

from infra import keys
from tests.fakes.builders import NOW_MS
from tests.fakes.spine import PAUSE_MS, Spine, charged
from workers.pipeline.look_after import look_after_jobs

# What stays of a job that nobody sees to: steps, open holds, waiting or queued requests, its place among the unfinished.
LEFTOVERS = (":step:", ":due", ":holds", "ss:{b}:open:", ":wait:", ":req:", ":queue:", ":leases", "ss:open")  # fmt: skip


@pytest.fixture
def spine(redis: Redis, redis_url: str) -> Spine:
    return Spine(redis_url, in_redis=True)


def leftovers(spine: Spine) -> list[str]:
    names = [key.decode() for key in spine.redis.scan_iter("*")]
    return [name for name in names if any(part in name for part in LEFTOVERS)]


def walk(spine: Spine, *, lost_in_round: int = -1) -> Result:
    """Let the job go its way by bells and the reconciler alone; lose the whole ledger of steps in one round."""
    spine.submit()
    for number in range(20):
        if number == lost_in_round:
            lose(spine, "ss:{s:*}:*")
        spine.run_bells()
        if spine.is_over():
            return spine.result()
        spine.fetch()
        spine.clock.advance(PAUSE_MS)
        spine.look()
    pytest.fail("the job did not come to an end")


def lose(spine: Spine, pattern: str) -> None:
    for key in spine.redis.scan_iter(pattern):
        spine.redis.delete(key)
    spine.bells.clear()


def without_trace(result: Result) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(result)
    return {name: value for name, value in plain.items() if name != "trace"}


def pass_time(spine: Spine, seconds: int = 46) -> None:
    """As long as the latest look at a job may be away: the first after 30 s, and then every 15 s."""
    spine.clock.advance(seconds * 1000)


@pytest.mark.parametrize("lost_in_round", range(4))
def test_a_job_outlives_the_loss_of_all_its_steps(
    redis: Redis, redis_url: str, lost_in_round: int
) -> None:
    expected = without_trace(walk(Spine(redis_url, in_redis=True)))
    redis.flushall()
    spine = Spine(redis_url, in_redis=True)
    result = walk(spine, lost_in_round=lost_in_round)
    assert without_trace(result) == expected
    assert (spine.used(), spine.held()) == (charged(result), {})
    assert set(spine.fetched.values()) == {1}
    spine.look()
    spine.run_bells()
    assert leftovers(spine) == []


def test_a_plan_that_died_half_way_and_lost_its_step_is_made_again(spine: Spine) -> None:
    spine.submit()
    spine.tools.store.transition("job_1", JobEvent.PLAN)
    lose(spine, "ss:{s:*}:*")
    pass_time(spine)
    spine.look()
    assert spine.bells == [("plan", "job_1/plan")]
    spine.drive()
    assert spine.tools.store.get("job_1").state is JobState.SUCCEEDED  # type: ignore[union-attr]


def test_a_job_is_not_disturbed_while_its_steps_are_there(spine: Spine) -> None:
    spine.submit()
    spine.run_bells()
    pass_time(spine)
    assert look_after_jobs(spine.tools) == 0
    assert spine.bells == []


@pytest.mark.parametrize("task", ["plan", "crawl"])
def test_a_step_that_nobody_would_ring_is_rung(spine: Spine, task: str) -> None:
    spine.submit()
    if task == "crawl":
        spine.try_step("plan", "job_1/plan")
        spine.bells = [each for each in spine.bells if each[0] != "crawl"]
        spine.run_bells()
    lose(spine, "ss:{s:*}:due")
    spine.tools.steps.ring("job_1/reduce")  # the reducer is well
    pass_time(spine)
    look_after_jobs(spine.tools)
    rung = {step_id for name, step_id in spine.bells if name == task}
    calls = {"job_1/crawl/q1.wikipedia", "job_1/crawl/all.feed2", "job_1/crawl/all.site3"}
    assert rung == ({"job_1/plan"} if task == "plan" else calls)


def test_a_poison_step_whose_last_worker_did_not_end_the_job_fails_it_all_the_same(
    spine: Spine,
) -> None:
    spine.submit()
    claims = [spine.tools.steps.claim("job_1/plan").outcome for _ in range(6)]
    assert claims == ["claimed"] * 5 + ["dead"]  # and here it died
    spine.bells.clear()
    spine.look()
    assert spine.bells == []  # nobody would ever ring it
    pass_time(spine)
    spine.look()
    spine.run_bells()
    stored = spine.tools.store.get("job_1")
    assert stored is not None
    assert (stored.state, stored.error_code) == (JobState.FAILED, "internal")
    assert leftovers(spine) == []


def test_a_job_that_was_ended_but_not_cleared_is_cleared(spine: Spine) -> None:
    """As when the gateway dies right after it cancelled a job."""
    spec = spine.submit()
    spine.run_bells()
    assert spine.held()["fetches"] >= 3
    ended = Ended(at_ms=NOW_MS, key="ended", state=JobState.CANCELLED)
    assert spine.tools.store.end(spec, JobEvent.CANCEL, ended) is JobState.CANCELLED
    lose(spine, "ss:{s:*}:*")
    pass_time(spine)
    spine.look()
    assert spine.held() == {}
    assert leftovers(spine) == []


def test_a_job_that_never_came_is_forgotten(spine: Spine) -> None:
    spine.redis.zadd(keys.open_jobs(), {"job_9": NOW_MS})
    spine.look()
    assert leftovers(spine) == []


def test_one_worker_looks_after_a_job_at_a_time(spine: Spine) -> None:
    spine.submit()
    now_ms = NOW_MS + 30_000
    assert spine.tools.store.overdue(now_ms=now_ms - 1, again_ms=15_000) == []
    assert spine.tools.store.overdue(now_ms=now_ms, again_ms=15_000) == ["job_1"]
    assert spine.tools.store.overdue(now_ms=now_ms + 14_999, again_ms=15_000) == []
    assert spine.tools.store.overdue(now_ms=now_ms + 15_000, again_ms=15_000) == ["job_1"]
