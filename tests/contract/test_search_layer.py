"""The search layer over the loopback web: four services asked as planned, their answers merged, ordered and told."""

from collections.abc import Mapping
from datetime import date

import httpx
import pytest
from msgspec import convert
from pydantic import SecretStr
from signal_search.contracts.hit import Hit, MergedHit
from signal_search.contracts.search_plan import SearchPlan
from signal_search.contracts.source import Reply

from infra.loopback_web import LoopbackWeb
from infra.settings import load
from scoring.claims.rules import VerifyRules
from scoring.hit_freshness import by_freshness
from scoring.hit_merge import merge_hits
from scoring.hit_rank import HitQuestion, rank_hits
from scoring.hit_rules import HitRules
from workers.fetching.credentials import outgoing
from workers.hits import hits_of
from workers.planning.search_plan import SearchOptions, ask_of, plan_search
from workers.registry import Registry
from workers.synthesis.hit_synthesis import synthesise

KEYS = {
    "brave": "BSAloopback0001",
    "exa": "01234567-89ab-cdef-0123-456789abcdef",
    "tavily": "tvly-loopback0001",
    "grok": "xai-loopback0001",
}
RULES = convert(load().search.model_dump(mode="json"), HitRules)
VERIFY = convert(load().verify.model_dump(), VerifyRules)
NOW_MS = 1_780_056_000_000  # 29 May 2026, 12:00 UTC
ARTICLE = "http://news.test/2026/05/28/tidal-array-record"


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Registry:
    for name, key in KEYS.items():
        monkeypatch.setenv(f"{name.upper()}_API_KEY", key)
    return Registry(load())


def plan(query: str, options: SearchOptions) -> SearchPlan:
    return plan_search([query], configured=KEYS, rules=RULES, now_ms=NOW_MS, options=options)


def answers(web: LoopbackWeb, registry: Registry, asked: SearchPlan) -> Mapping[str, list[Hit]]:
    """Ask what the plan says, each source over all its calls, in the order of the plan."""
    found: dict[str, list[Hit]] = {}
    for call in asked.calls:
        adapter = registry.source(call.source_id).adapter
        [request] = adapter.build(ask_of(asked, call))
        sent = outgoing(request, request.url, {}, SecretStr(KEYS[call.source_id]))
        host, _, rest = sent.url.partition("://")[2].partition("/")
        got = httpx.request(
            sent.method,
            f"http://127.0.0.1:{web.port}/{rest}",
            headers={**sent.headers, "host": host},
            content=sent.body,
            trust_env=False,
        )
        assert got.status_code == 200
        reply = Reply(
            url=request.url,
            status=200,
            content_type=got.headers["content-type"],
            body=got.content,
            text=got.text,
            fetched_at_ms=NOW_MS,
        )
        parsed = adapter.parse(request, reply)
        hits = hits_of(call.source_id, parsed.documents, parsed.hits)
        found.setdefault(call.source_id, []).extend(hits)
    return found


def question(asked: SearchPlan) -> HitQuestion:
    return HitQuestion(
        variants=asked.score_variants,
        weights=asked.weights,
        today=date.fromisoformat(asked.today),
        boost=asked.domain_boost,
        boost_amount=RULES.domain_boost,
    )


def merged(found: Mapping[str, list[Hit]]) -> tuple[MergedHit, ...]:
    return merge_hits(list(found.values()))


def test_one_page_of_four_services_is_one_hit(web: LoopbackWeb, registry: Registry) -> None:
    asked = plan("tidal array record", SearchOptions(expand=False))
    assert (asked.intent, asked.mode) == ("exploratory", "deep")
    [article] = [each for each in merged(answers(web, registry, asked)) if each.url == ARTICLE]
    assert article.source_ids == ("brave", "exa", "tavily", "grok")
    assert (article.title, article.published) == ("Tidal array sets a record in May", "2026-05-28")
    assert not article.by_model


def test_the_order_does_not_depend_on_which_source_is_slow(
    web: LoopbackWeb, registry: Registry
) -> None:
    asked = plan("latest tidal array record", SearchOptions(expand=False, freshness="py"))
    found = answers(web, registry, asked)
    late = dict(reversed(found.items()))
    in_order = {name: late[name] for name in found}
    one, other = (rank_hits(merged(each), question(asked)) for each in (found, in_order))
    assert one == other
    assert one[0].hit.url == ARTICLE


def test_an_age_is_held_against_hits_of_sources_that_ignore_it(
    web: LoopbackWeb, registry: Registry
) -> None:
    asked = plan("tidal array record", SearchOptions(expand=False, freshness="pw"))
    hits = merged(answers(web, registry, asked))
    parted = by_freshness(hits, "pw", date.fromisoformat(asked.today))
    assert ARTICLE in [each.url for each in parted.within]
    assert all(each.published for each in parted.within)
    assert all(not each.published for each in parted.undated)
    assert len(parted.within) + len(parted.undated) + parted.outside == len(hits)


def test_what_is_told_rests_on_pages_and_names_its_sources(
    web: LoopbackWeb, registry: Registry
) -> None:
    asked = plan("tidal array record", SearchOptions(expand=False))
    ranked = rank_hits(merged(answers(web, registry, asked)), question(asked))
    told = synthesise(ranked, asked, VERIFY)
    assert told.answer is not None
    quoted = ranked[told.answer.hits[0] - 1].hit
    assert told.answer.text in quoted.snippet
    assert not quoted.by_model
    assert told.text.startswith("**Answer**: ")
