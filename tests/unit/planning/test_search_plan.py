"""The plan of a search: words, mode, age and sources from a query alone, worked out by hand from the search guide."""

from datetime import UTC, date, datetime

import pytest
from msgspec import convert
from signal_search.contracts.search_plan import SearchIntent, SearchPlan
from signal_search.errors import Invalid

from infra.settings import load
from scoring.hit_rules import HitRules
from workers.planning.search_modes import WEB_SOURCES, sources_for
from workers.planning.search_plan import PLAIN, SearchOptions, ask_of, plan_search
from workers.planning.search_queries import MOST_SUB_QUERIES, sub_queries, subject_of_search
from workers.planning.search_words import english_variant, synonyms_of, with_synonyms

RULES = convert(load().search.model_dump(mode="json"), HitRules)
NOW_MS = int(datetime(2026, 5, 28, 23, 59, tzinfo=UTC).timestamp() * 1000)
TODAY = date(2026, 5, 28)


def plan(
    *queries: str, options: SearchOptions = PLAIN, configured: tuple[str, ...] = WEB_SOURCES
) -> SearchPlan:
    return plan_search(queries, configured=configured, rules=RULES, now_ms=NOW_MS, options=options)


# --- who is asked -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "configured", "asked", "instead", "absent"),
    [
        ("fast", "brave exa tavily grok", "brave exa", {"grok": "exa"}, ""),
        ("fast", "brave tavily grok", "brave grok", {}, "exa"),
        ("fast", "brave exa", "brave exa", {}, ""),
        ("fast", "brave", "brave", {}, "exa"),
        ("deep", "brave exa tavily grok", "brave exa tavily grok", {}, ""),
        ("deep", "grok brave", "brave grok", {}, "exa tavily"),
        ("answer", "brave exa tavily grok", "brave tavily", {}, ""),
        ("answer", "brave exa grok", "brave", {}, "tavily"),
        ("deep", "", "", {}, "brave exa tavily grok"),
        ("fused", "brave exa tavily grok", "brave exa tavily grok", {}, ""),
        ("multi", "exa brave", "brave exa", {}, "tavily grok"),
    ],
)
def test_the_matrix(
    mode: str, configured: str, asked: str, instead: dict[str, str], absent: str
) -> None:
    found = sources_for(mode, configured.split())  # type: ignore[arg-type]
    assert found.asked == tuple(asked.split())
    assert found.instead_of == instead
    assert found.not_configured == tuple(absent.split())


def test_a_callers_own_list_counts_alone_and_in_its_order() -> None:
    found = sources_for(
        "deep", ["arxiv", "exa", "wikipedia"], wanted=["wikipedia", "core", "arxiv", "wikipedia"]
    )
    assert (found.asked, found.not_configured) == (("wikipedia", "arxiv"), ("core",))
    assert found.instead_of == {}


def test_sources_that_join_come_last_and_are_asked_the_first_text_only() -> None:
    options = SearchOptions(joining=("arxiv", "wikipedia"))
    found = plan(
        "RISC-V", options=options, configured=("brave", "exa", "tavily", "grok", "wikipedia")
    )
    assert [each.id for each in found.calls if each.source_id == "wikipedia"] == ["q1.wikipedia"]
    assert found.calls[-1].source_id == "wikipedia"
    assert sum(each.source_id == "exa" for each in found.calls) == 3


def test_a_stand_in_is_planned_for_every_text_and_names_whom_it_stands_in_for() -> None:
    found = plan("Anthropic MCP 官网")
    assert found.mode == "fast"
    assert [(each.id, each.instead_of) for each in found.calls] == [
        ("q1.brave", ""),
        ("q1.exa", ""),
        ("q1.grok", "exa"),
    ]


def test_an_answer_is_wanted_once_and_in_answer_mode_only() -> None:
    answering = plan("what is a monad")
    assert [each.id for each in answering.calls if each.with_answer] == ["q1.tavily"]
    assert not any(each.with_answer for each in plan("RISC-V").calls)


# --- what is asked ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "intent", "texts"),
    [
        ("Bun vs Deno", "comparison", ("Bun vs Deno", "Bun advantages", "Deno advantages")),
        ("AI 新闻", "news", ("AI news this week 2026", "AI announcement latest")),
        ("Anthropic MCP", "resource", ("Anthropic MCP official documentation",)),
        (
            "Rust 异步编程",
            "exploratory",
            (
                "Rust 异步编程 概述",
                "Rust 异步编程 生态",
                "Rust 异步编程 应用场景",
                "Rust async programming",
            ),
        ),
        (
            "量子计算 最新进展",
            "status",
            ("量子计算 最新 2026", "量子计算 更新 发布", "quantum computing latest 2026"),
        ),
        (
            "what is k8s",
            "factual",
            ("what is k8s", "k8s explained overview", "what is Kubernetes"),
        ),
        (
            "乐观锁和悲观锁的区别",
            "comparison",
            ("乐观锁和悲观锁的区别", "乐观锁 优点", "悲观锁 优点"),
        ),
        ("why is Rust hard", "comparison", ("why is Rust hard",)),
    ],
)
def test_sub_queries(query: str, intent: str, texts: tuple[str, ...]) -> None:
    assert sub_queries(query, SearchIntent(intent), TODAY) == texts


def test_no_more_sub_queries_than_are_worth_asking() -> None:
    assert len(sub_queries("a vs b vs c vs d vs e", SearchIntent.COMPARISON, TODAY)) == 4
    assert MOST_SUB_QUERIES == 6


@pytest.mark.parametrize(
    ("query", "subject"),
    [
        ("What's new with Deno?", "Deno"),
        ("本周 AI 大事", "AI"),
        ("latest OpenAI announcements", "OpenAI"),
        ("关于拜占庭容错的一切", "拜占庭容错"),
        ("怎么做 Rust CLI", "Rust CLI"),
        ("getting started with Svelte", "Svelte"),
        ("新闻", "新闻"),
        ("What is", "What is"),
        ("newsletter design", "newsletter design"),
    ],
)
def test_the_subject_is_what_is_left_without_signals(query: str, subject: str) -> None:
    assert subject_of_search(query) == subject


def test_several_queries_are_asked_as_they_are_and_scored_against_the_first() -> None:
    found = plan("Bun vs Deno", "Bun  advantages", "Bun vs Deno")
    assert [each.text for each in found.sub_queries] == ["Bun vs Deno", "Bun advantages"]
    assert (found.scored_against, found.intent) == ("Bun vs Deno", "comparison")


def test_a_query_may_stay_as_it_stands() -> None:
    found = plan("AI 新闻", options=SearchOptions(expand=False))
    assert [each.text for each in found.sub_queries] == ["AI 新闻"]


def test_each_text_is_asked_in_its_own_language() -> None:
    found = plan("Rust 异步编程")
    assert [each.language for each in found.sub_queries] == ["zh", "zh", "zh", "en"]
    call = next(each for each in found.calls if each.id == "q4.exa")
    ask = ask_of(found, call)
    assert (ask.text, ask.language, ask.today, ask.limit) == (
        "Rust async programming",
        "en",
        "2026-05-28",
        5,
    )


# --- words ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "others"),
    [
        ("k8s ingress", ("Kubernetes",)),
        ("K8S ingress", ("Kubernetes",)),
        ("JS and TS", ("JavaScript", "TypeScript")),
        ("js files", ()),
        ("Go generics", ("Golang",)),
        ("go home", ()),
        ("Go to the docs", ()),
        ("React to an event", ()),
        ("Google", ()),
        ("Go-kart", ()),
        ("Next.JS", ()),
        ("Vue.js", ()),
        ("torch in PyTorch", ()),
        ("postgres索引", ("PostgreSQL",)),
        ("k8s部署", ("Kubernetes",)),
        ("mongo tf", ("MongoDB", "TensorFlow")),
    ],
)
def test_short_forms(query: str, others: tuple[str, ...]) -> None:
    assert synonyms_of(query) == others


def test_short_forms_are_written_out_in_place() -> None:
    assert with_synonyms("Go on k8s") == "Golang on Kubernetes"
    assert with_synonyms("Rust") == ""


@pytest.mark.parametrize(
    ("query", "english"),
    [
        ("Rust 异步编程", "Rust async programming"),
        ("Python 的并发编程", "Python concurrent programming"),
        ("分布式锁", "distributed lock"),
        ("向量检索 benchmark", "vector search benchmark"),
        ("Rust async", ""),
        ("乐观锁", ""),  # not in the dictionary: no guess
        ("银行系统", ""),
        ("", ""),
    ],
)
def test_english_comes_from_the_dictionary_or_not_at_all(query: str, english: str) -> None:
    assert english_variant(query) == english


# --- mode, age, weights -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "mode", "freshness", "wider"),
    [
        ("what is a monad", "answer", None, ()),
        ("Zig 语言 现状", "deep", "pw", ("pm",)),
        ("Redis vs Memcached", "deep", "py", ()),
        ("Bun vs Deno 最新对比", "deep", "pm", ("py",)),
        ("Rust 教程", "answer", "py", ()),
        ("RISC-V", "deep", None, ()),
        ("quantum computing news", "deep", "pd", ("pw",)),
        ("Blender 官网", "fast", None, ()),
    ],
)
def test_strategy(query: str, mode: str, freshness: str | None, wider: tuple[str, ...]) -> None:
    found = plan(query)
    assert (found.mode, found.freshness, found.wider_freshness) == (mode, freshness, wider)
    assert found.freshness_by == ("intent" if freshness else "")


def test_what_the_caller_says_counts() -> None:
    options = SearchOptions(
        mode="fast", intent=SearchIntent.NEWS, freshness="2026-05-01..2026-05-20", per_source=9
    )
    found = plan("RISC-V", options=options)
    assert (found.mode, found.intent, found.freshness) == ("fast", "news", options.freshness)
    assert (found.freshness_by, found.wider_freshness, found.per_source) == ("caller", (), 9)
    assert (found.weights.freshness, found.is_scored) == (0.6, True)
    assert found.intent_reason == "named by the caller"
    ask = ask_of(found, found.calls[0])
    assert (ask.freshness, ask.limit, ask.about_news) == ("2026-05-01..2026-05-20", 9, True)


def test_without_an_intent_of_the_callers_nothing_is_scored() -> None:
    assert not plan("AI 新闻").is_scored


@pytest.mark.parametrize(
    ("queries", "freshness", "field"),
    [
        ((), None, "query"),
        (("",), None, "query"),
        ((" \n",), None, "query"),
        (("a", " "), None, "queries"),
        (tuple("abcdefghijk"), None, "queries"),
        (("a",), "", "freshness"),
        (("a",), "pd ", "freshness"),
        (("a",), "last week", "freshness"),
        (("a",), "2026-05-01..", "freshness"),
    ],
)
def test_what_cannot_be_planned_is_refused_by_its_field(
    queries: tuple[str, ...], freshness: str | None, field: str
) -> None:
    with pytest.raises(Invalid) as caught:
        plan(*queries, options=SearchOptions(freshness=freshness))
    assert (caught.value.code, caught.value.field) == ("invalid_request", field)
