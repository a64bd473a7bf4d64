"""What a search asks of the operator's model: weights, a summary, sides of a goal. Its failures cost no hit."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from signal_search.contracts.budget import Budget
from signal_search.contracts.outcome import AnyResult
from signal_search.contracts.search import SearchRequest, SurveyRequest
from signal_search.contracts.search_result import SearchResult, SurveyResult

from budget.policy import tenant_level
from infra.loopback_web.server import LoopbackWeb, hosts
from infra.settings import load
from tests.fakes.scripted_model import Answer, ScriptedModel, said, scripted
from tests.fakes.walk import Walk

pytestmark = pytest.mark.usefixtures("redis")

WORDS = "Mount Corvel height"
LIMITED = ("model_tokens", "judge_requests")
WEIGHTS = '{"lexical": 0.0, "citation": 1.0, "recency": 0.0}'


@pytest.fixture(scope="module")
def web() -> Iterator[LoopbackWeb]:
    with LoopbackWeb() as web:
        yield web


def walk_with(redis_url: str, web: LoopbackWeb, model: ScriptedModel, **more: Any) -> Walk:
    named = {**hosts(web.port), "model.test": f"127.0.0.1:{model.port}"}
    settings = load(
        redis_url=redis_url,
        loopback={"only": True, "hosts": named},
        politeness={"loopback_interval_s": 0.02},
        fetch={"clients": 2, "concurrency": 8},
        search={
            "agent_enabled": True,
            "agent_base_url": "http://model.test/v1",
            "agent_model": "m",
            "agent_api_key": "k",
        },
        **more,
    )
    return Walk(settings)


def asked(redis_url: str, web: LoopbackWeb, model: ScriptedModel, **request: Any) -> SearchResult:
    walk = walk_with(redis_url, web, model)
    walk.submit(SearchRequest(**{"query": WORDS, "sources": ("crossref",), **request}))
    result: AnyResult = walk.outcome()
    assert isinstance(result, SearchResult)
    return result


def test_a_model_chooses_the_weights(redis_url: str, web: LoopbackWeb) -> None:
    with scripted(lambda _n: said(WEIGHTS)) as model:
        result = asked(redis_url, web, model, ranking="auto")
    assert len(model.questions) == 1
    assert result.ranking.source == "auto"
    assert result.ranking.weights == {"lexical": 0.0, "citation": 1.0, "recency": 0.0}
    assert all(each.score_detail["lexical"] == 0.0 for each in result.hits)
    assert (result.usage.llm_tokens, result.usage.model_tokens) == (41, 41)
    assert result.errors == {}


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (Answer(b"{}", status=500), "model_error"),
        (said("I would weigh the words most."), "model_response_invalid"),
    ],
)
def test_without_its_weights_the_fixed_ones_hold(
    redis_url: str, web: LoopbackWeb, answer: Answer, code: str
) -> None:
    with scripted(lambda _n: answer) as model:
        result = asked(redis_url, web, model, ranking="auto")
    assert result.hits
    assert result.ranking.source == "default"
    assert result.errors == {"intent": code}


def test_a_model_summarises_the_hits(redis_url: str, web: LoopbackWeb) -> None:
    with scripted(lambda _n: said("It is 2,847.3 metres high [1], see http://evil.test [99].")) as model:  # fmt: skip
        result = asked(redis_url, web, model, agent=True)
    assert result.conclusion == "It is 2,847.3 metres high [1], see"
    shown = json.loads(model.questions[0]["messages"][1]["content"])
    assert shown["hits"][0]["title"] == result.hits[0].title
    assert result.usage.llm_tokens == 41


def test_a_summary_that_fails_leaves_the_hits(redis_url: str, web: LoopbackWeb) -> None:
    with scripted(lambda _n: Answer(b"{}", status=503)) as model:
        result = asked(redis_url, web, model, agent=True)
    assert result.hits
    assert (result.conclusion, result.errors) == (None, {"agent": "model_error"})


def test_a_budget_without_model_tokens_asks_nobody(redis_url: str, web: LoopbackWeb) -> None:
    with scripted(lambda _n: said("never")) as model:
        result = asked(redis_url, web, model, agent=True, budget=Budget(model_tokens=0))
    assert model.questions == []
    assert result.errors == {"agent": "budget"}


def test_what_the_model_used_is_paid_by_the_tenant(redis_url: str, web: LoopbackWeb) -> None:
    with scripted(lambda _n: said(WEIGHTS)) as model:
        walk = walk_with(redis_url, web, model, tenant=dict.fromkeys(LIMITED, 9000))
        walk.submit(SearchRequest(query=WORDS, sources=("crossref",), ranking="auto"))
        walk.play()
    day = walk.tools.clock.now_ms()
    spent = walk.tools.ledger.balance(tenant_level("local", "day", day)).used
    walk.tools.redis.close()
    assert spent["model_tokens"] == 41
    assert spent["judge_requests"] == 1


def test_a_model_names_the_sides_of_a_goal(redis_url: str, web: LoopbackWeb) -> None:
    sides = '{"queries": ["Mount Corvel height", "satellite positioning error"]}'
    with scripted(lambda _n: said(sides)) as model:
        walk = walk_with(redis_url, web, model)
        walk.submit(SurveyRequest(goal="How high is Corvel?", sources=("crossref",), agentic=True))
        result = walk.outcome()
    assert isinstance(result, SurveyResult)
    assert [each.query for each in result.queries] == ["Mount Corvel height", "satellite positioning error"]  # fmt: skip
    assert result.plan["queries_by"] == "model"
    assert result.usage.llm_tokens == 41
    assert result.errors == {}


def test_without_its_sides_they_follow_from_the_goal(redis_url: str, web: LoopbackWeb) -> None:
    with scripted(lambda _n: said("no list")) as model:
        walk = walk_with(redis_url, web, model)
        walk.submit(SurveyRequest(goal="Mount Corvel", sources=("crossref",), agentic=True))
        result = walk.outcome()
    assert isinstance(result, SurveyResult)
    assert result.plan["queries_by"] == "goal"
    assert result.errors == {"agent": "model_response_invalid"}
