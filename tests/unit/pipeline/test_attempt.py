"""One try of one step, on the real ledger of steps."""

from dataclasses import replace

import pytest
from redis import Redis
from signal_search.contracts.job import JobState
from signal_search.contracts.trace import Ended

from infra.steps import StepRules, Steps
from tests.fakes.spine import Crash, Spine
from workers.pipeline.attempt import Leave, Next, Rest, Step, Work, attempt
from workers.toolbox import Toolbox

STEP = "job_1/reduce"


@pytest.fixture
def spine(redis: Redis, redis_url: str) -> Spine:
    spine = Spine(redis_url)
    spine.submit()
    spine.bells.clear()
    spine.tools.steps.make(STEP, "reduce")
    return spine


def resting(tools: Toolbox, step: Step) -> Next:
    return Rest(60_000)


def leaving(tools: Toolbox, step: Step) -> Next:
    return Leave()


def crashing(tools: Toolbox, step: Step) -> Next:
    raise Crash


def ringing(then: Next) -> Work:
    def work(tools: Toolbox, step: Step) -> Next:
        tools.ring(step.id)
        return then

    return work


def nested(inner: Work, seen: list[str]) -> Work:
    def work(tools: Toolbox, step: Step) -> Next:
        seen.append(attempt(tools, step.id, inner))
        return Leave()

    return work


def patient(spine: Spine) -> Toolbox:
    """The same tools with a lease that lasts."""
    rules = StepRules(lease_ms=60_000, grace_ms=60_000, max_attempts=3, ttl_ms=60_000)
    return replace(spine.tools, steps=Steps(spine.tools.redis, rules))


@pytest.mark.parametrize(
    ("work", "outcome", "bells"),
    [
        (resting, "resting", []),
        (leaving, "left", []),
        (ringing(Rest(60_000)), "again", [("reduce", STEP)]),
        (ringing(Leave()), "left", []),
    ],
)
def test_what_becomes_of_a_step(
    spine: Spine, work: Work, outcome: str, bells: list[tuple[str, str]]
) -> None:
    assert attempt(spine.tools, STEP, work) == outcome
    assert spine.bells == bells


def test_a_step_that_left_is_gone_and_one_that_rests_can_be_tried_again(spine: Spine) -> None:
    assert attempt(spine.tools, STEP, resting) == "resting"
    assert attempt(spine.tools, STEP, leaving) == "left"
    assert attempt(spine.tools, STEP, crashing) == "gone"


def test_a_held_step_is_left_alone(spine: Spine) -> None:
    seen: list[str] = []
    assert attempt(patient(spine), STEP, nested(crashing, seen)) == "left"
    assert seen == ["held"]


def test_a_worker_whose_lease_ran_out_is_not_heard(spine: Spine) -> None:
    """Its lease of zero milliseconds is over at once, so the second worker gets the step meanwhile."""
    seen: list[str] = []
    assert attempt(spine.tools, STEP, nested(resting, seen)) == "superseded"
    assert seen == ["resting"]


def test_the_bell_of_a_named_step_is_that_of_its_task(spine: Spine) -> None:
    spine.tools.steps.make("job_1/crawl/q1.one", "crawl")
    assert attempt(spine.tools, "job_1/crawl/q1.one", ringing(Rest(60_000))) == "again"
    assert spine.bells == [("crawl", "job_1/crawl/q1.one")]


def test_what_a_step_raises_passes_through_and_the_step_is_tried_again(spine: Spine) -> None:
    with pytest.raises(Crash):
        attempt(spine.tools, STEP, crashing)
    assert attempt(spine.tools, STEP, leaving) == "left"


def count_until_dead(spine: Spine, work: Work) -> int:
    for tries in range(100):
        try:
            if attempt(spine.tools, STEP, work) == "dead":
                return tries
        except Crash:
            continue
    pytest.fail("the step was tried for ever")


def test_a_poison_step_ends_its_job_as_failed_once(spine: Spine) -> None:
    assert count_until_dead(spine, crashing) == spine.tools.settings.queue.max_attempts
    stored = spine.tools.store.get("job_1")
    assert stored is not None
    assert (stored.state, stored.error_code) == (JobState.FAILED, "internal")
    assert attempt(spine.tools, STEP, crashing) == "gone"
    ends = [each for each in spine.entries() if isinstance(each, Ended)]
    assert [(each.state, each.error_code) for each in ends] == [(JobState.FAILED, "internal")]


def test_success_forgives_earlier_tries(spine: Spine) -> None:
    for _ in range(20):
        with pytest.raises(Crash):
            attempt(spine.tools, STEP, crashing)
        assert attempt(spine.tools, STEP, resting) == "resting"
