"""The plan as a whole: sources, calls, limits, constraints, notes."""

from typing import Any

import pytest
from msgspec import Struct, json
from signal_search.contracts.budget import Budget
from signal_search.contracts.plan import Plan
from signal_search.contracts.query import Constraints, RetrieveRequest, SourcePrefs, Tier
from signal_search.contracts.source import SourceView

from workers.planning.planner import make_plan


class Limits(Struct, frozen=True, kw_only=True):
    tokens: int = 1000
    max_sources: int = 8
    width: int = 8
    max_rounds: int = 2
    calls: int = 40
    searches: int = 80
    fetches: int = 80
    bytes: int = 10_000
    judge_requests: int = 20
    model_tokens: int = 60_000


TIERS = {
    "L0": Limits(max_sources=1, width=1, max_rounds=1, calls=4),
    "L1": Limits(max_sources=3, width=1, max_rounds=1, calls=8),
    "L2": Limits(),
    "L3": Limits(max_sources=20, width=20, max_rounds=3, calls=160),
}


def a_source(name: str, category: str = "reference", *topics: str, **changes: Any) -> SourceView:
    values: dict[str, Any] = {
        "id": name,
        "name": name,
        "kind": "api",
        "category": category,
        "languages": (),
        "topics": topics,
        "access": "open",
        "enabled": True,
        "key_present": None,
        "constraints": (),
        "terms": "",
    }
    return SourceView(**{**values, **changes})


SOURCES = (
    a_source("wiki", constraints=("language",)),
    a_source("data"),
    a_source("papers", "academic_api", "academic", constraints=("freshness",)),
    a_source("stocks", "industry_keyless", "finance"),
    a_source("advisories", "industry_keyless", "security"),
    a_source("off", enabled=False),
    a_source("keyed", access="key", key_present=False),
    a_source("closed", access="closed"),
)


def plan(
    query: str, *, budget: int | Budget | None = None, depth: Any = None, **constraints: Any
) -> Plan:
    request = RetrieveRequest(
        query=query, budget=budget, depth=depth, constraints=Constraints(**constraints)
    )
    return make_plan(request, sources=SOURCES, tiers=TIERS, shared=lambda each: each == "feedlike")


def asked(found: Plan) -> list[str]:
    return list(dict.fromkeys(each.source_id for each in found.calls))


# --- sources ----------------------------------------------------------------------------------------------------------


def test_floor_then_topic() -> None:
    assert asked(plan("why do stock prices react to share_price news", depth="standard")) == [
        "wiki",
        "data",
        "stocks",
    ]


def test_no_topic_means_the_floor_alone() -> None:
    assert asked(plan("推荐一部电影")) == ["wiki", "data"]


def test_what_cannot_be_asked_is_not_asked() -> None:
    assert not {"off", "keyed", "closed"} & set(asked(plan("论文 股票 why", depth="deep")))


def test_identifier_asks_its_registry_first_even_with_one_source() -> None:
    assert asked(plan("/signal L0 CVE-2024-3094")) == ["advisories"]
    assert asked(plan("/signal L0 10.1038/abc")) == ["papers"]
    assert asked(plan("/signal L0 什么是幂等")) == ["wiki"]


def test_topic_is_not_starved_by_the_floor() -> None:
    found = plan("/signal L1 股票", max_sources=2)
    assert asked(found) == ["wiki", "stocks"]
    assert any("data" in each for each in found.notes)


def test_only_wins_and_keeps_its_order() -> None:
    prefs = SourcePrefs(
        only=("papers", "site:https://a.example/docs", "feed:https://a.example/f", "wiki")
    )
    found = plan("anything at all", source_prefs=prefs)
    assert {each.id for each in found.calls} == {"all.site2", "all.feed3", "q1.papers", "q1.wiki"}
    assert asked(plan("x y z", source_prefs=SourcePrefs(only=("Docs.example.org",)))) == [
        "site:https://docs.example.org/"
    ]


def test_only_with_nothing_to_ask_says_so() -> None:
    found = plan("anything", source_prefs=SourcePrefs(only=("nowhere", "closed")))
    assert found.calls == ()
    assert "2 of the named sources cannot be asked" in found.notes


def test_a_source_that_is_always_wanted_comes_first_and_leaves_a_place() -> None:
    own = (a_source("kb", "private_kb", "cooking", force_include=True), a_source("kb2", "private_kb", force_include=True))  # fmt: skip
    request = RetrieveRequest(query="/signal L0 什么是幂等")
    found = make_plan(request, sources=(*SOURCES, *own), tiers=TIERS)
    assert asked(found) == ["kb", "kb2", "wiki"]
    assert "sources asked whatever the question: kb, kb2" in found.notes
    assert "general sources: wiki" in found.notes
    only_own = make_plan(request, sources=own, tiers=TIERS)
    assert asked(only_own) == ["kb", "kb2"]
    blocked = RetrieveRequest(
        query="/signal L0 什么是幂等",
        constraints=Constraints(source_prefs=SourcePrefs(block=("kb", "kb2"))),
    )
    assert asked(make_plan(blocked, sources=(*SOURCES, *own), tiers=TIERS)) == ["wiki"]


def test_notes_say_why_a_source_is_asked() -> None:
    found = plan("why do stock prices react to share_price news", depth="standard")
    assert "general sources: wiki, data" in found.notes
    assert any(each.startswith("sources for finance (") and each.endswith("stocks") for each in found.notes)  # fmt: skip
    named = plan("/signal L0 what is tea", domain="docs.example.org")
    assert "sources of the wanted domain: site:https://docs.example.org/" in named.notes


def test_an_api_is_asked_before_a_site_of_equal_worth() -> None:
    sites = (a_source("pages", "authoritative", "dev", kind="web"), a_source("api", "authoritative", "dev"))  # fmt: skip
    request = RetrieveRequest(query="/signal L1 css", constraints=Constraints(max_sources=1))
    assert asked(make_plan(request, sources=sites, tiers=TIERS)) == ["api"]


def test_block_and_boost() -> None:
    assert asked(plan("推荐一部电影", source_prefs=SourcePrefs(block=("wiki",)))) == ["data"]
    assert asked(plan("论文 引用", source_prefs=SourcePrefs(boost=("papers",))))[0] == "papers"


def test_shared_source_is_asked_once_for_all_questions() -> None:
    prefs = SourcePrefs(only=("site:https://a.example/", "wiki"))
    found = plan("对比 A1/B1/C1 的价格", source_prefs=prefs)
    shared = [each for each in found.calls if each.shared]
    assert [(each.id, each.question_id) for each in shared] == [("all.site1", "*")]
    assert len(found.calls) == 1 + len(found.questions)


# --- calls and limits -------------------------------------------------------------------------------------------------


def test_calls_are_named_by_question_and_source() -> None:
    found = plan("推荐一部电影")
    assert [each.id for each in found.calls] == ["q1.wiki", "q1.data"]
    assert (found.tier, len(found.questions)) == (Tier.L1, 1)


def test_coverage_tiers_look_for_the_other_side_within_their_width() -> None:
    found = plan("对比 A/B/C 三家在 GDPR/HIPAA/SOC2 的隐私差异")
    assert len(found.questions) == 8
    assert [each.role for each in found.questions].count("contrary") == 1
    assert found.questions[-1].role == "contrary"
    assert "(宽度超限，原 9 叶子截断至 7)" in found.notes


@pytest.mark.parametrize("query", ["什么是幂等", "推荐一部电影"])
def test_narrow_tiers_have_no_contrary_question(query: str) -> None:
    assert all(each.role == "main" for each in plan(query).questions)


def test_budget_replaces_the_tier_and_zero_counts() -> None:
    assert plan("推荐一部电影").limits["tokens"] == 1000
    assert plan("推荐一部电影", budget=0).limits["tokens"] == 0
    limits = plan("推荐一部电影", budget=Budget(calls=1)).limits
    assert (limits["calls"], limits["fetches"]) == (1, 80)


def test_ceilings_only_lower() -> None:
    request = RetrieveRequest(query="推荐一部电影")
    found = make_plan(
        request, sources=SOURCES, tiers=TIERS, ceilings={"tokens": 10, "fetches": 10**6}
    )
    assert (found.limits["tokens"], found.limits["fetches"]) == (10, 80)


def test_calls_beyond_the_limit_are_cut_from_the_last_source() -> None:
    found = plan("对比 A1/B1 的价格", budget=Budget(calls=4))
    assert [each.id for each in found.calls] == ["q1.wiki", "q2.wiki", "q3.wiki", "q1.data"]
    assert "calls beyond the limit: 2" in found.notes


def test_waiting_questions_belong_to_a_later_round() -> None:
    found = plan("/signal L2 万维网的发明者的母校")
    assert {each.question_id: each.round for each in found.calls} == {"q1": 1, "q2": 2, "q3": 1}


def test_unclear_question_asks_for_clarification() -> None:
    assert "clarification_suggested" in plan("???").notes
    assert "clarification_suggested" not in plan("推荐一部电影").notes


# --- constraints ------------------------------------------------------------------------------------------------------


def test_each_source_says_what_becomes_of_the_constraints() -> None:
    found = plan(
        "论文 引用 数量", language="zh", freshness="py", domain="example.org", max_sources=9
    )
    use = {each.source_id: each for each in found.constraint_use}
    assert use["wiki"].pushed_down == ("language",)
    assert use["wiki"].applied_after == ("domain", "freshness")
    assert use["papers"].pushed_down == ("freshness",)
    assert use["papers"].applied_after == ("language", "domain")
    site = use["site:https://example.org/"]
    assert (site.pushed_down, site.applied_after) == (("domain",), ("language", "freshness"))


def test_domain_may_be_a_topic() -> None:
    found = plan("随便看看", domain="finance")
    assert asked(found) == ["wiki", "data", "stocks"]
    only = plan("随便看看", domain="finance", source_prefs=SourcePrefs(only=("wiki",)))
    assert only.constraint_use[0].not_honoured == ("domain",)


def test_nothing_wanted_nothing_said() -> None:
    assert all(
        not (each.pushed_down or each.applied_after or each.not_honoured)
        for each in plan("推荐一部电影").constraint_use
    )


def test_same_request_same_plan_bit_for_bit() -> None:
    query = "系统调研 2025–2026 多智能体研究系统的架构范式"
    assert json.encode(plan(query)) == json.encode(plan(query))
