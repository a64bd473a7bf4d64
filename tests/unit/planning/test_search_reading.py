"""Whose conduct a search request asks for: the search guide's by intent, its plain one, or the scorer guide's."""

from typing import Any

import pytest
from signal_search.contracts.hit import HitWeights
from signal_search.contracts.search import SearchRequest, SurveyRequest
from signal_search.contracts.search_plan import SearchIntent
from signal_search.errors import Invalid

from scoring.hit_rules import HitRules
from workers.planning.search_reading import (
    follows_intent,
    mode_of,
    named_sources,
    plan_request,
    plan_survey,
    queries_of,
)

NOW_MS = 1_790_000_000_000  # 2026-09-21
WEB = {"brave", "exa", "tavily", "grok"}
JOINING = ("openalex", "wikipedia")
ANY = HitWeights(keyword=0.5, freshness=0.25, authority=0.25)
RULES = HitRules(weights={each.value: ANY for each in SearchIntent}, per_source=5)


def planned(configured: set[str] = WEB, **asked: Any) -> Any:
    request = SearchRequest(**{"query": "Deno 最新进展", **asked})
    return plan_request(
        request, configured=configured | set(JOINING), joining=JOINING, rules=RULES, now_ms=NOW_MS
    )


@pytest.mark.parametrize(
    ("asked", "mode", "by_intent"),
    [
        ({}, None, True),
        ({"intent": SearchIntent.NEWS}, None, True),
        ({"intent": SearchIntent.NEWS, "mode": "fast"}, "fast", True),
        ({"mode": "deep"}, "deep", False),
        ({"ranking": None}, "fused", False),
        ({"ranking": "auto"}, "fused", False),
        ({"sources": ("arxiv",)}, "fused", False),
        ({"doi": "10.1/x"}, "fused", False),
        ({"mode": "multi"}, "multi", False),
    ],
)
def test_what_a_request_means(asked: dict[str, Any], mode: str | None, by_intent: bool) -> None:
    request = SearchRequest(query="q", **asked)
    assert (mode_of(request), follows_intent(request)) == (mode, by_intent)


def test_words_alone_are_planned_by_their_intent() -> None:
    plan = planned()
    assert (plan.intent, plan.mode, plan.freshness) == (SearchIntent.STATUS, "deep", "pw")
    assert len(plan.sub_queries) > 1
    assert {each.source_id for each in plan.calls} == WEB


def test_a_mode_alone_searches_for_the_words_as_they_are() -> None:
    plan = planned(mode="deep")
    assert [each.text for each in plan.sub_queries] == ["Deno 最新进展"]
    assert plan.freshness is None


def test_a_freshness_of_the_caller_s_own_stays() -> None:
    assert planned(mode="deep", freshness="pm").freshness == "pm"


def test_without_a_key_those_that_need_none_are_asked() -> None:
    plan = planned(configured=set(), mode="deep")
    assert {each.source_id for each in plan.calls} == set(JOINING)
    assert plan.not_configured == ("brave", "exa", "tavily", "grok")


def test_fused_asks_them_besides() -> None:
    assert {each.source_id for each in planned(mode="fused").calls} == WEB | set(JOINING)


@pytest.mark.parametrize(
    ("asked", "per_source"),
    [
        ({"mode": "deep"}, 5),
        ({"mode": "deep", "max_results": 30}, 5),
        ({"mode": "fused", "max_results": 30}, 30),
        ({"mode": "fused", "max_results": 2}, 5),
        ({"mode": "fused", "num": 3, "max_results": 30}, 3),
    ],
)
def test_how_many_hits_a_source_is_asked_for(asked: dict[str, Any], per_source: int) -> None:
    assert planned(**asked).per_source == per_source


@pytest.mark.parametrize(
    ("asked", "queries"),
    [
        ({"query": "a"}, ("a",)),
        ({"query": "a", "queries": ("b", "c")}, ("a", "b", "c")),
        ({"title": "T", "doi": "10.1/x"}, ("T",)),
        ({"doi": "10.1/x"}, ("10.1/x",)),
        ({"query": "a", "doi": "10.1/x"}, ("a",)),
    ],
)
def test_what_is_searched_for(asked: dict[str, Any], queries: tuple[str, ...]) -> None:
    assert queries_of(SearchRequest(**asked)) == queries


def test_nothing_to_search_for() -> None:
    with pytest.raises(Invalid) as caught:
        queries_of(SearchRequest(query="  "))
    assert caught.value.field == "query"


def test_names_of_the_scorer_guide_become_ids_once() -> None:
    request = SearchRequest(query="q", sources=("semantic_scholar", "arxiv", "semanticscholar"))
    assert named_sources(request) == ("semanticscholar", "arxiv")


@pytest.mark.parametrize(
    ("asked", "sides"),
    [
        ({"queries": ("a", "b")}, ["a", "b"]),
        ({"goal": "RISC-V"}, ["RISC-V overview", "RISC-V ecosystem", "RISC-V use cases"]),
    ],
)
def test_the_sides_of_a_survey(asked: dict[str, Any], sides: list[str]) -> None:
    plan = plan_survey(
        SurveyRequest(**{"goal": "g", **asked}),
        configured={"arxiv"},
        wanted=("arxiv", "openalex"),
        rules=RULES,
        now_ms=NOW_MS,
    )
    assert [each.text for each in plan.sub_queries] == sides
    assert [each.source_id for each in plan.calls] == ["arxiv"] * len(sides)
    assert plan.not_configured == ("openalex",)
    assert plan.freshness is None
