"""When a search ends, whom it asks in another's place, and what it says of those who did not answer."""

from typing import Any

import pytest
from signal_search.contracts.hit import HitWeights
from signal_search.contracts.job import SearchSpec
from signal_search.contracts.plan import PlannedCall, SearchFrame
from signal_search.contracts.result import StopReason
from signal_search.contracts.search import SearchRequest
from signal_search.contracts.search_plan import SearchCall, SearchIntent, SearchPlan, SubQuery
from signal_search.contracts.source import FetchState

from infra.settings import load
from tests.fakes.builders import NOW_MS, a_log, a_request, call_refused, finished, queued, started
from workers.pipeline.rules import snapshot
from workers.pipeline.search_decide import decide_search
from workers.pipeline.search_outcomes import errors_of, search_outcomes
from workers.pipeline.state import JobView, fold

RULES = snapshot(load())
DEADLINE_MS = NOW_MS + 10_000


def a_search_plan() -> SearchPlan:
    return SearchPlan(
        queries=("q",),
        scored_against="q",
        score_variants=("q",),
        language="en",
        intent=SearchIntent.RESOURCE,
        intent_reason="",
        mode="fast",
        sub_queries=(SubQuery(id="q1", text="q"),),
        calls=(
            SearchCall(id="q1.brave", source_id="brave", query_id="q1"),
            SearchCall(id="q1.exa", source_id="exa", query_id="q1"),
            SearchCall(id="q1.grok", source_id="grok", query_id="q1", instead_of="exa"),
        ),
        weights=HitWeights(keyword=0.5, freshness=0.1, authority=0.4),
        not_configured=("tavily",),
    )


def a_view(*entries: Any) -> JobView:
    calls = (
        PlannedCall(id="q1.brave", source_id="brave", question_id="q1"),
        PlannedCall(id="q1.exa", source_id="exa", question_id="q1"),
        PlannedCall(id="q1.grok", source_id="grok", question_id="q1", round=2),
    )
    job = SearchSpec(
        id="job_1",
        tenant="local",
        request=SearchRequest(query="q"),
        created_at_ms=NOW_MS,
        deadline_ms=DEADLINE_MS,
        result_ttl_s=600,
    )
    frame = SearchFrame(plan=a_search_plan())
    log = a_log(*entries, job=job, calls=calls, deadline_ms=DEADLINE_MS, search=frame)
    return fold(log)


def asked(source: str) -> list[Any]:
    return [started(f"q1.{source}", 1, source_id=source), queued(f"q1.{source}#1", kind="api")]


def answered(source: str, **how: Any) -> list[Any]:
    return [*asked(source), finished(f"q1.{source}#1", **how)]


def failed(source: str) -> list[Any]:
    how = {"state": FetchState.MISSED, "status": 500, "reason": "source_server_fault"}
    return answered(source, **how)


def test_it_waits_while_somebody_is_to_answer() -> None:
    decision = decide_search(a_view(*answered("brave"), *asked("exa")), RULES, now_ms=NOW_MS)
    assert (decision.stop, decision.fetches, decision.calls) == (None, [], ())


def test_it_ends_when_all_have_answered_and_nobody_stands_in() -> None:
    decision = decide_search(a_view(*answered("brave"), *answered("exa")), RULES, now_ms=NOW_MS)
    assert decision.stop is not None
    assert (decision.stop.reason, decision.stop.coverage) == (StopReason.PLAN_COMPLETE, 1.0)
    assert not decision.stop.exhausted


@pytest.mark.parametrize("how", ["failed", "refused"])
def test_another_is_asked_as_soon_as_one_fails(how: str) -> None:
    lost = failed("exa") if how == "failed" else [call_refused("q1.exa", "budget")]
    decision = decide_search(a_view(*asked("brave"), *lost), RULES, now_ms=NOW_MS)
    assert [(each.id, each.round) for each in decision.calls] == [("q1.grok", 2)]


def test_no_results_are_an_answer() -> None:
    decision = decide_search(a_view(*answered("brave"), *answered("exa", total=0)), RULES, now_ms=NOW_MS)  # fmt: skip
    assert decision.calls == ()


def test_pages_behind_hits_are_not_read_but_the_api_s_next_step_is() -> None:
    page = a_request(url="http://page.test/", kind="page")
    step = a_request(url="http://api.test/2", kind="api")
    view = a_view(*answered("brave", requests=(page, step)), *asked("exa"))
    decision = decide_search(view, RULES, now_ms=NOW_MS)
    assert [each.request.url for each in decision.fetches] == ["http://api.test/2"]


@pytest.mark.parametrize(
    ("entries", "reason", "coverage"),
    [
        ([*answered("brave"), *asked("exa")], StopReason.DEADLINE, 0.5),
        ([*asked("brave"), *asked("exa")], StopReason.NO_SOURCE_REACHED, 0.0),
    ],
)
def test_the_deadline_ends_it_with_what_is_there(
    entries: list[Any], reason: StopReason, coverage: float
) -> None:
    decision = decide_search(a_view(*entries), RULES, now_ms=DEADLINE_MS)
    assert decision.stop is not None
    assert (decision.stop.reason, decision.stop.coverage) == (reason, coverage)


def test_what_is_said_of_each_source() -> None:
    late = queued("q1.exa#1", kind="api")
    view = a_view(*failed("brave"), started("q1.exa", 1, source_id="exa"), late)
    outcomes = search_outcomes(view, a_frame(), {})
    assert [(each.source_id, each.state) for each in outcomes] == [
        ("brave", "failed"),
        ("exa", "failed"),
        ("tavily", "refused"),
    ]
    assert errors_of(outcomes) == {
        "brave": "source_server_fault",
        "exa": "deadline: it did not answer in time",
        "tavily": "not_configured",
    }


def a_frame() -> SearchFrame:
    return SearchFrame(plan=a_search_plan())
