"""The caller's model as the judge: asked and answered in the job's log, in time, once, and checked."""

from typing import Any

import jsonschema_rs
import msgspec
import pytest
from signal_search.contracts.adaptive import AdaptiveRequest
from signal_search.contracts.adaptive_result import AdaptiveResult
from signal_search.contracts.delegation import Delegation, DelegationReply, DelegationState
from signal_search.contracts.job import JobState
from signal_search.contracts.judging import NoulQuestion, Screen
from signal_search.contracts.outcome import decode_result
from signal_search.contracts.trace import Delegated, Expanded
from signal_search.errors import Conflict, Invalid, NotFound

from api_gateway.specs import spec_of
from tests.contract.test_delegations import JOB, LOCAL, desk, same_when_replayed, state_of, waiting
from tests.fakes.builders import NOW_MS
from tests.fakes.spine import DEADLINE_MS, PAUSE_MS, Spine

ASKED = {"questions": ["How high is Mount Ansel?"], "keywords": ["Mount Ansel"]}


@pytest.fixture
def spine(redis: object, redis_url: str) -> Spine:
    figures = {"judge": "delegate", "sources": ["wikipedia"]}
    made = Spine(redis_url, adaptive=figures)
    spec = spec_of(
        msgspec.convert(ASKED, AdaptiveRequest),
        id="job_1",
        tenant="local",
        created_at_ms=NOW_MS,
        deadline_ms=NOW_MS + DEADLINE_MS,
        result_ttl_s=600,
    )
    made.tools.store.create(spec)
    made.tools.start(["job_1/plan"])
    made.run_bells()
    return made


def asked(spine: Spine) -> list[Delegation]:
    return [each.delegation for each in spine.entries() if isinstance(each, Delegated)]


def asked_of(state: DelegationState) -> Screen:
    question = state.delegation.question
    assert isinstance(question, Screen)
    return question


def good(question_set: Screen) -> dict[str, Any]:
    """What a model that finds all worth reading would answer."""
    found: dict[str, Any] = {}
    for name, question in question_set.questions.items():
        if isinstance(question, NoulQuestion):
            found[name] = {"type": "noul", "noul": 0.02 if "injection" in name else 0.9}
        else:
            options = list(question.criteria)
            chosen = "satisfied" if "satisfied" in options else options[0]
            found[name] = {"type": "choice", "choice": chosen, "confidence": 0.9}
    return found


def reply(answers: dict[str, Any], tokens: int = 0) -> DelegationReply:
    return DelegationReply(answer={"answers": answers}, tokens=tokens)


def tell(spine: Spine, name: str, answers: dict[str, Any], tokens: int = 0) -> DelegationState:
    return desk(spine).answer(JOB, LOCAL, name, reply(answers, tokens))


def ring(spine: Spine) -> None:
    spine.bells.append(("reduce", "job_1/reduce"))
    spine.run_bells()


def result(spine: Spine) -> AdaptiveResult:
    raw = spine.tools.store.result("job_1")
    assert raw is not None
    found = decode_result(raw)
    assert isinstance(found, AdaptiveResult)
    return found


def play(spine: Spine) -> None:
    """Answer everything, three tokens each, until the job has ended."""
    for _ in range(20):
        if spine.is_over():
            return
        for each in waiting(spine):
            assert state_of(spine) is JobState.DELEGATED
            tell(spine, each.delegation.id, good(asked_of(each)), tokens=3)
            spine.run_bells()
        spine.fetch()
        spine.clock.advance(PAUSE_MS)
        ring(spine)
    raise AssertionError("the job did not end")


def test_the_job_waits_for_its_caller_and_goes_on_with_the_answer(spine: Spine) -> None:
    play(spine)
    page = result(spine)
    assert (page.stop_reason, page.total_results) == ("keyword_queue_empty", 1)
    assert [each.id for each in asked(spine)] == ["screen.1", "screen.2", "screen.3"]
    assert not isinstance(page.judge, msgspec.UnsetType)
    assert (page.judge.driver, page.judge.http_attempts) == ("delegate", 0)
    assert not isinstance(page.usage, msgspec.UnsetType)
    assert (page.usage.judge_requests, page.usage.model_tokens) == (3, 9)
    assert same_when_replayed(spine)


def test_an_answer_is_taken_once(spine: Spine) -> None:
    [open_] = waiting(spine)
    name, said = open_.delegation.id, good(asked_of(open_))
    first = tell(spine, name, said)
    assert tell(spine, name, said) == first
    with pytest.raises(Conflict) as refused:
        tell(spine, name, said, tokens=1)
    assert refused.value.code == "delegation_answered"


def test_an_answer_after_its_time_is_refused_and_the_job_ends(spine: Spine) -> None:
    [open_] = waiting(spine)
    spine.clock.advance(open_.delegation.deadline_ms - spine.clock.now_ms())
    with pytest.raises(Conflict) as late:
        tell(spine, open_.delegation.id, good(asked_of(open_)))
    assert late.value.code == "delegation_late"
    spine.drive()
    assert result(spine).stop_reason == "jev_unavailable"


def test_a_caller_that_declines_costs_no_time_and_nobody_else_is_asked(spine: Spine) -> None:
    [open_] = waiting(spine)
    before = spine.clock.now_ms()
    desk(spine).answer(JOB, LOCAL, open_.delegation.id, DelegationReply(decline=True))
    spine.run_bells()
    assert any(isinstance(each, Expanded) for each in spine.entries())  # one plain search
    assert (spine.clock.now_ms(), state_of(spine)) == (before, JobState.CRAWLING)
    spine.drive()
    assert result(spine).stop_reason == "jev_unavailable"
    assert [each.id for each in asked(spine)] == ["screen.1"]


def test_nothing_that_was_not_asked_is_answered(spine: Spine) -> None:
    with pytest.raises(NotFound) as unknown:
        tell(spine, "screen.99", {})
    assert unknown.value.code == "delegation_not_found"
    [open_] = waiting(spine)
    questions = asked_of(open_).questions
    name = next(iter(questions))
    for wrong in (
        {},
        {"other": {"type": "noul", "noul": 1}},
        dict.fromkeys(questions, 1),
        {name: {"type": "noul", "noul": 1.5}},
        {name: {"type": "choice", "choice": "none of the options"}},
        {name: {**good(asked_of(open_))[name], "why": "free words"}},
    ):
        with pytest.raises(Invalid) as refused:
            tell(spine, open_.delegation.id, wrong)
        assert (refused.value.field or "").startswith("answer.answers")
    assert waiting(spine) == [open_]


def test_the_schema_takes_what_may_be_said(spine: Spine) -> None:
    [open_] = waiting(spine)
    schema = open_.delegation.answer_schema
    jsonschema_rs.meta.validate(schema)
    validator = jsonschema_rs.validator_for(dict(schema))
    said = good(asked_of(open_))
    assert validator.is_valid({"answers": said})
    assert validator.is_valid({"answers": dict(list(said.items())[:1])})
