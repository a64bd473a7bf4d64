"""The outline of a research in the walk of a real job: it is asked about before any source, and ends there if left."""

import pytest
from signal_search.contracts.delegation import DelegationReply, OutlineConfirm
from signal_search.contracts.job import JobState
from signal_search.contracts.query import DelegationKind, Tier
from signal_search.contracts.trace import CallStarted, Delegated, Planned

from tests.contract.test_delegations import JOB, LOCAL, desk, waiting, web
from tests.fakes.spine import Spine, a_question

ASPECTS = [
    "default",
    "definition and concepts",
    "mechanism and principles",
    "comparison and differences",
    "present state and applications",
    "controversies and limitations",
]


@pytest.fixture
def spine(redis: object, redis_url: str) -> Spine:
    made = Spine(redis_url)
    made.web = web
    made.submit(
        request=a_question(
            query="Research the climbing of Mount Ansel",
            tier=Tier.L2,
            delegate=(DelegationKind.OUTLINE_CONFIRM,),
        )
    )
    made.run_bells()
    return made


def outline_of(spine: Spine) -> str:
    [asked] = [each for each in spine.entries() if isinstance(each, Delegated)]
    assert isinstance(asked.delegation.question, OutlineConfirm)
    return asked.delegation.question.outline


def test_the_outline_has_the_aspects_and_no_source_was_asked(spine: Spine) -> None:
    lines = outline_of(spine).splitlines()
    assert lines[2:5] == [
        "1. Research the climbing of Mount Ansel",
        "2. climbing of Mount Ansel definition concepts",
        "3. climbing of Mount Ansel mechanism principles",
    ]
    assert lines[-1].endswith("(contrary)")
    assert not [each for each in spine.entries() if isinstance(each, CallStarted | Planned)]


def test_confirmed_as_it_was_shown_the_plan_has_the_aspects(spine: Spine) -> None:
    [asked] = waiting(spine)
    reply = DelegationReply(answer={"outline": outline_of(spine)})
    desk(spine).answer(JOB, LOCAL, asked.delegation.id, reply)
    spine.drive()
    plan = next(each.plan for each in spine.entries() if isinstance(each, Planned))
    assert [each.dimension for each in plan.questions] == ASPECTS
    assert any("mechanism and principles (in detail)" in each for each in plan.notes)
    result = spine.result()
    # The guide is about the mountain and says nothing of concepts, principles, comparisons.
    open_points = {each.text for each in result.uncertainties if each.reason == "aspect_not_closed"}
    assert "climbing of Mount Ansel mechanism principles" in open_points
    assert result.stop.coverage < 1


def test_a_job_that_is_left_at_its_outline_asks_nothing_at_all(spine: Spine) -> None:
    stored = spine.tools.store.get(JOB)
    assert stored is not None
    assert stored.state is JobState.DELEGATED
    assert not [each for each in spine.entries() if isinstance(each, CallStarted)]
