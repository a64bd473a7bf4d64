"""The caller's model as the judge: asked and answered in the job's log, in time, once, and checked."""

from typing import Any

import msgspec
import pytest
from signal_search.contracts.adaptive import AdaptiveRequest
from signal_search.contracts.adaptive_result import AdaptiveResult
from signal_search.contracts.job import JobState
from signal_search.contracts.judging import NoulQuestion
from signal_search.contracts.outcome import decode_result
from signal_search.contracts.trace import Delegated
from signal_search.errors import Conflict, Invalid, NotFound

from api_gateway.specs import spec_of
from tests.fakes.builders import NOW_MS
from tests.fakes.spine import DEADLINE_MS, PAUSE_MS, Spine
from workers.judges.delegated import answer

ASKED = {"questions": ["How high is Mount Ansel?"], "keywords": ["Mount Ansel"]}


@pytest.fixture
def spine(redis: object, redis_url: str) -> Spine:
    figures = {"judge": "delegate", "sources": ["wikipedia"], "delegate_timeout_s": 60.0}
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
    made.tools.start("job_1/plan", "plan")
    made.run_bells()
    return made


def asked(spine: Spine) -> list[Delegated]:
    return [each for each in spine.entries() if isinstance(each, Delegated)]


def good(delegation: Delegated) -> dict[str, Any]:
    """What a model that finds all worth reading would answer."""
    found: dict[str, Any] = {}
    for name, question in delegation.questions.items():
        if isinstance(question, NoulQuestion):
            found[name] = {"type": "noul", "noul": 0.02 if "injection" in name else 0.9}
        else:
            options = list(question.criteria)
            chosen = "satisfied" if "satisfied" in options else options[0]
            found[name] = {"type": "choice", "choice": chosen, "confidence": 0.9}
    return found


def tell(spine: Spine, name: str, answers: dict[str, Any]) -> None:
    answer(spine.tools.log, "job_1", name, answers, now_ms=spine.tools.clock.now_ms())


def ring(spine: Spine) -> None:
    spine.bells.append(("reduce", "job_1/reduce"))
    spine.run_bells()


def result(spine: Spine) -> AdaptiveResult:
    raw = spine.tools.store.result("job_1")
    assert raw is not None
    found = decode_result(raw)
    assert isinstance(found, AdaptiveResult)
    return found


def test_the_job_waits_for_its_caller_and_goes_on_with_the_answer(spine: Spine) -> None:
    for _ in range(12):
        if spine.is_over():
            break
        open_ = asked(spine)[-1]
        stored = spine.tools.store.get("job_1")
        assert stored is not None
        try:
            tell(spine, open_.id, good(open_))
        except Conflict:  # answered before: the sources are at work
            spine.fetch()
            spine.clock.advance(PAUSE_MS)
        else:
            assert stored.state is JobState.DELEGATED
        ring(spine)
    page = result(spine)
    assert (page.stop_reason, page.total_results) == ("keyword_queue_empty", 1)
    assert [each.id for each in asked(spine)] == ["1", "2", "3"]
    assert not isinstance(page.judge, msgspec.UnsetType)
    assert (page.judge.driver, page.judge.http_attempts) == ("delegate", 0)


def test_an_answer_is_taken_once(spine: Spine) -> None:
    [open_] = asked(spine)
    tell(spine, open_.id, good(open_))
    with pytest.raises(Conflict) as refused:
        tell(spine, open_.id, good(open_))
    assert refused.value.code == "delegation_closed"


def test_an_answer_after_its_time_is_refused_and_the_job_ends(spine: Spine) -> None:
    [open_] = asked(spine)
    spine.clock.advance(60_001)
    with pytest.raises(Conflict):
        tell(spine, open_.id, good(open_))
    spine.drive()
    assert result(spine).stop_reason == "jev_unavailable"


def test_nothing_that_was_not_asked_is_answered(spine: Spine) -> None:
    with pytest.raises(NotFound) as unknown:
        tell(spine, "99", {})
    assert unknown.value.code == "delegation_not_found"
    [open_] = asked(spine)
    for wrong in ({}, {"other": {"type": "noul", "noul": 1}}, dict.fromkeys(open_.questions, 1)):
        with pytest.raises(Invalid) as refused:
            tell(spine, open_.id, wrong)
        assert refused.value.field == "answers"
