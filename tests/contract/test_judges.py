"""The three judges behind one port: whoever says TRUE meets the same guards, and whoever fails leaves the claim open."""

from collections.abc import Iterator
from typing import Any

import pytest
from signal_search.contracts.delegation import DelegationReply, Entail
from signal_search.contracts.finding import Claim, Verdict
from signal_search.contracts.query import DelegationKind
from signal_search.contracts.result import Result
from signal_search.contracts.source import FetchOutcome, Request
from signal_search.contracts.trace import Judged

from infra.loopback_web import LoopbackWeb, hosts
from tests.contract.test_delegations import (
    JOB,
    LOCAL,
    desk,
    finished,
    same_when_replayed,
    until_asked,
)
from tests.fakes.builders import a_document
from tests.fakes.judge import KEY, model_calls
from tests.fakes.spine import SITE, Spine, a_question, got, small_web

# Says what the encyclopedia says in other words, and a height that differs: only a judge could call either stated.
OTHER = "Paul Weir and three others climbed Mount Ansel for the first time in 1903."


@pytest.fixture(scope="module")
def model() -> Iterator[LoopbackWeb]:
    with LoopbackWeb() as web:
        yield web


def spine_with(redis_url: str, **changes: Any) -> Spine:
    made = Spine(redis_url, **changes)
    guide = a_document(
        doc_id="guide",
        url=SITE + "ansel",
        site="site.test",
        source_id=f"site:{SITE}",
        text=f"With its 2,141 metres Mount Ansel is a rather high mountain. {OTHER}",
    )

    def web(request: Request) -> FetchOutcome:
        is_guide = request.url == SITE + "ansel"
        return got(request, documents=(guide,)) if is_guide else small_web(request)

    made.web = web
    return made


def operated(redis_url: str, web: LoopbackWeb, scenario: str) -> Spine:
    return spine_with(
        redis_url,
        verify={"judge": "operator"},
        search={
            "agent_base_url": "http://model.test/v1",
            "agent_model": f"scenario:{scenario}",
            "agent_api_key": KEY,
        },
        loopback={"only": True, "hosts": hosts(web.port)},
    )


def claims(result: Result) -> list[Claim]:
    return [claim for each in result.findings for claim in each.claims]


def asked(result: Result) -> set[str]:
    return {each.reason for each in claims(result)}


def with_verdict(spine: Spine, verdict: str) -> Result:
    """Run a job whose caller's model says the same of every pair."""
    spine.submit(request=a_question(delegate=(DelegationKind.ENTAIL,)))
    [question] = until_asked(spine)
    assert isinstance(question.delegation.question, Entail)
    number = len(question.delegation.question.pairs)
    reply = DelegationReply(answer={"verdicts": [verdict] * number})
    desk(spine).answer(JOB, LOCAL, "entail", reply)
    return finished(spine)


def test_a_judge_that_says_true_of_everything_cannot_make_a_wrong_number_true(
    redis: object, redis_url: str
):
    spine = spine_with(redis_url)
    result = with_verdict(spine, "TRUE")
    heights = [each for each in claims(result) if "2,114" in each.text]
    assert heights
    for each in heights:
        assert all("2,141" not in span.quote for span in each.supporting)
        assert each.independent == 0
    assert same_when_replayed(spine)


def test_a_judge_that_says_false_of_everything_makes_nothing_true_or_false_alone(
    redis: object, redis_url: str
):
    result = with_verdict(spine_with(redis_url), "FALSE")
    stated = [each for each in claims(result) if each.supporting]
    assert stated
    assert all(each.verdict is not Verdict.FALSE for each in stated)


@pytest.mark.parametrize("scenario", ["all_true", "all_false"])
def test_the_operators_model_judges_where_the_settings_say_so(
    redis: object, redis_url: str, model: LoopbackWeb, scenario: str
):
    model.log.clear()
    spine = operated(redis_url, model, scenario)
    spine.submit(request=a_question())
    result = finished(spine)
    [judged] = [each for each in spine.entries() if isinstance(each, Judged)]
    assert set(judged.verdicts) == {Verdict(scenario.removeprefix("all_").upper())}
    assert (result.usage.judge_requests, result.usage.model_tokens) == (1, 41)
    assert model_calls(model) == 1
    assert result.degradations == ()
    assert all(
        "2,141" not in s.quote for c in claims(result) for s in c.supporting if "2,114" in c.text
    )
    assert same_when_replayed(spine)


@pytest.mark.parametrize(
    ("scenario", "error", "reason"),
    [
        ("status_500", "model_error", "judge_failed"),
        ("html", "model_response_invalid", "judge_invalid"),
        ("prose", "model_response_invalid", "judge_invalid"),
        ("odd_verdicts", "model_response_invalid", "judge_invalid"),
        ("few_verdicts", "model_response_invalid", "judge_invalid"),
        ("huge", "model_response_too_large", "judge_failed"),
        ("gzip", "model_response_invalid", "judge_invalid"),
    ],
)
def test_a_model_that_misbehaves_leaves_claims_open_and_says_why(
    redis: object, redis_url: str, model: LoopbackWeb, scenario: str, error: str, reason: str
):
    spine = operated(redis_url, model, scenario)
    spine.submit(request=a_question())
    result = finished(spine)
    [judged] = [each for each in spine.entries() if isinstance(each, Judged)]
    assert (judged.error, judged.verdicts) == (error, ())
    assert f"judge of the operator: {error}" in result.degradations
    undecided = [each for each in claims(result) if each.verdict is Verdict.UNCERTAIN]
    assert all(each.reason in {reason, "contradicted_elsewhere"} for each in undecided)
    assert not [each for each in claims(result) if each.reason == "judged"]
    assert KEY not in str(result)
    assert same_when_replayed(spine)


def test_the_callers_model_goes_before_the_operators(
    redis: object, redis_url: str, model: LoopbackWeb
):
    model.log.clear()
    spine = operated(redis_url, model, "all_true")
    result = with_verdict(spine, "UNCERTAIN")
    assert model_calls(model) == 0
    assert result.usage.judge_requests == 1
