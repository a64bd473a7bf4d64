"""The behaviour that the search guide promises, case by case (CONFORMANCE_DIR/search-layer.json)."""

import json
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from msgspec import convert
from signal_search.contracts.hit import Hit
from signal_search.contracts.search_plan import SearchIntent
from signal_search.contracts.source import FetchState, SourceQuery
from signal_search.errors import Invalid

from infra.http import RawReply
from infra.settings import load
from scoring.hit_freshness import freshness_score
from scoring.hit_identity import page_key
from scoring.hit_keyword import keyword_match
from scoring.hit_merge import merge_hits
from scoring.hit_rules import HitRules
from scoring.site_authority import boosted, site_authority
from scoring.stated_dates import stated_date
from tests.conformance.cases import Case, params
from workers.hits import hits_of
from workers.pipeline.parse import parse_reply
from workers.planning.search_intent import classify
from workers.planning.search_modes import GROK, WEB_SOURCES, sources_for
from workers.planning.search_plan import SearchOptions, plan_search
from workers.planning.search_queries import sub_queries
from workers.planning.search_strategy import strategy_for
from workers.planning.search_words import synonyms_of
from workers.registry import Registry
from workers.synthesis.hit_layout import layout_of

RULES = convert(load().search.model_dump(mode="json"), HitRules)
TODAY = date(2026, 5, 28)
NOW_MS = int(datetime(2026, 5, 28, 12, tzinfo=UTC).timestamp() * 1000)
# Told by what runs, not by the plan: who answered when a source failed.
LATER = {"degrade": "needs a running search: see the tests of search jobs"}
LAYOUTS = {"topic clusters": "topics", "overview + top 5": "overview", "list": "list"}


# --- planning ---------------------------------------------------------------------------------------------------------


def check_weights(given: Case, expect: Case) -> None:
    weights = RULES.weights[given["intent"]]
    assert {name: getattr(weights, name) for name in expect} == expect


def check_strategy(given: Case, expect: Case) -> None:
    strategy = strategy_for(SearchIntent(given["intent"]))
    assert strategy.mode == expect["mode"]
    assert list(strategy.freshness) == [each for each in expect["freshness_any_of"] if each]


def check_mode_matrix(given: Case, expect: Case) -> None:
    """Brave is asked by the same plan here; a Grok key without an address makes no configured source."""
    configured = {"brave", *(each for each in given["keys"] if each in WEB_SOURCES)}
    chosen = sources_for(given["mode"], configured)
    assert list(chosen.asked) == ["brave", *expect["sources_called"]]


def check_intent(given: Case, expect: Case) -> None:
    assert classify(given["query"]).intent == expect["intent"]


def check_expand(given: Case, expect: Case) -> None:
    texts = sub_queries(
        given["query"], SearchIntent(given["intent"]), date(given.get("year", 2026), 5, 28)
    )
    if "queries" in expect:
        assert list(texts) == expect["queries"]
    for part in expect.get("some_contain", ()):
        assert any(part in each for each in texts)
    if "each_contains" in expect:
        assert all(expect["each_contains"] in each for each in texts)


def check_synonym(given: Case, expect: Case) -> None:
    assert synonyms_of(given["term"]) == ((expect["adds"],) if expect["adds"] else ())


def check_keyword_query(given: Case, expect: Case) -> None:
    plan = plan_search(given["queries"], configured=WEB_SOURCES, rules=RULES, now_ms=NOW_MS)
    assert plan.scored_against == expect["scored_against"]
    assert [each.text for each in plan.sub_queries] == given["queries"]


# --- scoring ----------------------------------------------------------------------------------------------------------


def check_authority(given: Case, expect: Case) -> None:
    assert site_authority(given["url"])[0] == expect["score"]


def check_domain_boost(given: Case, expect: Case) -> None:
    plain, _reason = site_authority(given["url"])
    amount = RULES.domain_boost
    assert boosted(plain, given["url"], given["boost"], amount) == pytest.approx(
        expect["authority"]
    )


def check_keyword(given: Case, expect: Case) -> None:
    found = keyword_match((given["query"],), given["title"], given["snippet"])
    assert found == pytest.approx(expect["score"])


def check_freshness(given: Case, expect: Case) -> None:
    today = datetime.fromisoformat(given["now"]).date() if "now" in given else TODAY
    if "age_days" in given:
        published = (today - timedelta(days=given["age_days"])).isoformat()
    else:
        published = stated_date(given["published_date"])
    score, _reason = freshness_score(published, _this_year(given.get("snippet", "")), today)
    assert score == expect["score"]


def _this_year(text: str) -> str:
    return re.sub(r"THISYEAR(?:-(\d+))?", lambda found: str(TODAY.year - int(found[1] or 0)), text)


def check_canonical_url(given: Case, expect: Case) -> None:
    if "same_key" in expect:
        assert (page_key(given["a"]) == page_key(given["b"])) is expect["same_key"]
    else:
        assert page_key(given["url"]) == expect["key"]


def check_dedupe(given: Case, expect: Case) -> None:
    answers = [
        [
            Hit(
                url=each["url"],
                source_id=each["source"],
                snippet=each.get("snippet", ""),
                published=each.get("published_date", ""),
            )
        ]
        for each in given["results"]
    ]
    merged = merge_hits(answers)
    first = merged[0]
    found = {
        "count": len(merged),
        "source": ", ".join(first.source_ids),
        "kept_url": first.url,
        "snippet": first.snippet,
        "published_date": first.published,
    }
    assert {name: found[name] for name in expect} == expect


# --- sources ----------------------------------------------------------------------------------------------------------


def _body(source: str, ask: SourceQuery) -> Any:
    [request] = Registry(load()).source(source).adapter.build(ask)
    return json.loads(request.body)


def _sent_to_grok(ask: SourceQuery) -> str:
    return str(_body("grok", ask)["input"][1]["content"])


def check_freshness_param(given: Case, expect: Case) -> None:
    """Tavily's own words for spans of days: a day, a week, a month, a year."""
    ask = SourceQuery(text="tea", freshness=given["freshness"])
    days = {"day": 1, "week": 7, "month": 30, "year": 365}
    assert days[_body("tavily", ask)["time_range"]] == expect["tavily_days"]
    assert expect["grok_hint"] in _sent_to_grok(ask)


def check_grok_parse(given: Case, expect: Case) -> None:
    said = {"choices": [{"message": {"content": given["content"]}}]}
    source = Registry(load()).source(GROK)
    [request] = source.adapter.build(SourceQuery(text="tea"))
    raw = RawReply(
        url=request.url,
        status=200,
        headers={"content-type": "application/json"},
        body=json.dumps(said).encode(),
        fetched_at_ms=0,
    )
    outcome = parse_reply(request, raw)
    found = [
        {
            "title": each.title,
            "url": each.url,
            "snippet": each.snippet,
            "published_date": each.published,
            "source": each.source_id,
        }
        for each in hits_of(GROK, outcome.parsed.documents, outcome.parsed.hits)
    ]
    wanted = [{**each, "url": each["url"]} for each in expect["results"]]
    assert [{**each, "url": each["url"].rstrip("/")} for each in found] == wanted
    if expect.get("raises") is False:
        assert outcome.state == FetchState.MISSED


def check_grok_time(given: Case, expect: Case) -> None:
    said = _sent_to_grok(SourceQuery(text=given["query"], today="2026-05-28"))
    assert ("2026-05-28" in said) is expect["time_context_added"]


# --- the answer -------------------------------------------------------------------------------------------------------


def check_synthesis(given: Case, expect: Case) -> None:
    assert layout_of(given["n_results"]) == LAYOUTS[expect["layout"]]


def check_output(given: Case, expect: Case) -> None:
    """The parts of the output that are settled by the plan: the rest is the command line's and the result's."""
    if "exit" in expect:
        with pytest.raises(Invalid) as caught:
            plan_search([], configured=WEB_SOURCES, rules=RULES, now_ms=NOW_MS)
        assert caught.value.field == "query"
    elif "answer" in expect:
        options = SearchOptions(mode="answer")
        plan = plan_search(
            ["a", "b", "c"], configured=WEB_SOURCES, rules=RULES, now_ms=NOW_MS, options=options
        )
        assert [each.id for each in plan.calls if each.with_answer] == ["q1.tavily"]
    else:
        options = SearchOptions(mode="answer", intent=SearchIntent.FACTUAL, freshness="pw")
        plan = plan_search(
            ["q"], configured=WEB_SOURCES, rules=RULES, now_ms=NOW_MS, options=options
        )
        assert (plan.mode, plan.intent, plan.freshness, plan.is_scored) == (
            "answer",
            "factual",
            "pw",
            True,
        )


_CHECKS: dict[str, Callable[[Case, Case], None]] = {
    name.removeprefix("check_"): check
    for name, check in globals().items()
    if name.startswith("check_")
}


@pytest.mark.parametrize("case", params("search-layer.json", functions=_CHECKS, later=LATER))
def test_the_search_guide(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TAVILY_API_KEY", "GROK_API_KEY"):
        monkeypatch.setenv(name, "no-real-key")
    _CHECKS[case["area"]](case["input"], case["expect"])
