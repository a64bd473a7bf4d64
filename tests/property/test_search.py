"""What must hold of any query, hit and date: bounds, order, idempotence; nothing of it by example."""

import itertools
from contextlib import suppress
from datetime import date

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import convert, structs
from signal_search.contracts.hit import Hit, HitWeights, MergedHit
from signal_search.contracts.search_plan import SearchIntent
from signal_search.contracts.source import Reply
from signal_search.errors import BadReply

from infra.settings import load
from scoring.claims.rules import VerifyRules
from scoring.date_range import date_range
from scoring.hit_freshness import by_freshness, freshness_score
from scoring.hit_identity import page_key
from scoring.hit_keyword import keyword_match
from scoring.hit_merge import merge_hits
from scoring.hit_rank import HitQuestion, rank_hits
from scoring.hit_rules import HitRules
from scoring.site_authority import boosted, site_authority
from scoring.stated_dates import stated_date
from workers.model_reply import Said, read_said
from workers.planning.search_intent import classify
from workers.planning.search_modes import WEB_SOURCES
from workers.planning.search_plan import SearchOptions, ask_of, plan_search
from workers.planning.search_queries import MOST_SUB_QUERIES, subject_of_search
from workers.planning.search_words import english_variant, with_synonyms
from workers.synthesis.hit_synthesis import synthesise

# The dictionary of Chinese words is read when it is first needed, which takes longer than any example.
NO_DEADLINE = settings(deadline=None)

SETTINGS = load()
RULES = convert(SETTINGS.search.model_dump(mode="json"), HitRules)
VERIFY = convert(SETTINGS.verify.model_dump(), VerifyRules)

WORDS = st.sampled_from(
    [
        "k8s",
        "Go",
        "异步编程",
        "的",
        "区别",
        "vs",
        "和",
        "最新",
        "新闻",
        "how",
        "to",
        "what",
        "is",
        "latest",
        "GitHub",
        "教程",
        "Deno",
        "RISC-V",
        "量子计算",
        "docs",
        "?",
        "！",
    ]
)
QUERIES = st.one_of(st.lists(WORDS, min_size=1, max_size=8).map(" ".join), st.text(max_size=60))
ASKABLE = QUERIES.filter(lambda query: bool(query.split()))
DAYS = st.dates(date(2000, 1, 1), date(2100, 1, 1))
HOSTS = st.sampled_from(["a.example", "www.a.example", "m.a.example", "github.com", "docs.b.org"])
URLS = st.builds(
    lambda scheme, host, path: f"{scheme}://{host}/{path}",
    st.sampled_from(["http", "https"]),
    HOSTS,
    st.sampled_from(["", "x", "x/", "x?utm_source=1", "x#y", "x/amp", "y", "x?amp=1&b=2"]),
)
DATES = st.one_of(
    DAYS.map(date.isoformat),
    st.sampled_from(["", "2026", "2026-05", "3 days ago", "Tue, 05 May 2026 10:00:00 GMT"]),
)
HITS = st.builds(
    Hit,
    url=URLS,
    title=st.text(max_size=20),
    snippet=st.text(max_size=40),
    published=DATES,
    source_id=st.sampled_from(WEB_SOURCES),
    by_model=st.booleans(),
    doi=st.sampled_from(["", "10.1000/x", "10.48550/arXiv.2401.12345"]),
    arxiv_id=st.sampled_from(["", "2401.12345v2"]),
)
ANSWERS = st.lists(st.lists(HITS, max_size=5), max_size=4)


# --- queries ----------------------------------------------------------------------------------------------------------


@NO_DEADLINE
@given(QUERIES)
def test_every_query_has_one_intent_and_a_subject(query: str) -> None:
    assert classify(query) == classify(f" {query} ")
    subject = subject_of_search(query)
    assert bool(subject) is bool(query.split())
    assert subject_of_search(subject) == subject


@NO_DEADLINE
@given(ASKABLE, DAYS, st.sets(st.sampled_from(WEB_SOURCES)))
def test_every_query_has_a_plan(query: str, today: date, configured: set[str]) -> None:
    now_ms = (today.toordinal() - date(1970, 1, 1).toordinal()) * 86_400_000
    plan = plan_search([query], configured=configured, rules=RULES, now_ms=now_ms)
    assert 1 <= len(plan.sub_queries) <= MOST_SUB_QUERIES
    assert all(each.text.strip() for each in plan.sub_queries)
    assert len({each.text.casefold() for each in plan.sub_queries}) == len(plan.sub_queries)
    assert len({each.id for each in plan.calls}) == len(plan.calls)
    assert {each.source_id for each in plan.calls} <= configured
    assert not set(plan.not_configured) & configured
    assert ("brave" in {each.source_id for each in plan.calls}) is ("brave" in configured)
    assert plan.today == today.isoformat()
    for call in plan.calls:
        assert ask_of(plan, call).text


@NO_DEADLINE
@given(ASKABLE, st.sampled_from(SearchIntent))
def test_a_named_intent_counts(query: str, intent: SearchIntent) -> None:
    options = SearchOptions(intent=intent)
    plan = plan_search([query], configured=(), rules=RULES, now_ms=0, options=options)
    assert (plan.intent, plan.is_scored) == (intent, True)


@NO_DEADLINE
@given(QUERIES)
def test_other_forms_are_final(query: str) -> None:
    written = with_synonyms(query)
    assert with_synonyms(written) == ""
    english = english_variant(query)
    assert english_variant(english) == ""


# --- hits -------------------------------------------------------------------------------------------------------------


@NO_DEADLINE
@given(URLS)
def test_a_page_key_is_its_own_key(url: str) -> None:
    assert page_key(page_key(url)) == page_key(url)


@NO_DEADLINE
@given(ANSWERS)
def test_merging_loses_no_page_and_repeats_none(answers: list[list[Hit]]) -> None:
    merged = merge_hits(answers)
    flat = [each for answer in answers for each in answer]
    assert len({each.key for each in merged}) == len(merged)
    assert {page_key(each.url) for each in flat} >= {page_key(each.url) for each in merged}
    assert {s for each in merged for s in each.source_ids} == {each.source_id for each in flat}
    urls = [each.url for each in flat]
    places = [urls.index(each.url) for each in merged]
    assert places == sorted(places)


@NO_DEADLINE
@given(ANSWERS)
def test_merging_what_is_merged_changes_nothing(answers: list[list[Hit]]) -> None:
    merged = merge_hits(answers)
    again = merge_hits(
        [[Hit(url=each.url, doi=each.doi, arxiv_id=each.arxiv_id) for each in merged]]
    )
    assert [each.key for each in again] == [each.key for each in merged]


@NO_DEADLINE
@given(st.lists(HITS, max_size=4), st.data())
def test_who_is_in_a_group_does_not_depend_on_order(hits: list[Hit], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(hits))
    one, other = merge_hits([hits]), merge_hits([shuffled])
    assert sorted(each.source_ids and sorted(each.source_ids) for each in one) == sorted(
        each.source_ids and sorted(each.source_ids) for each in other
    )
    assert sorted(each.published for each in one) == sorted(each.published for each in other)


MERGED = st.builds(
    MergedHit,
    key=URLS,
    url=URLS,
    title=st.text(max_size=20),
    snippet=st.text(max_size=40),
    published=DATES.map(stated_date),
)
WEIGHTS = st.tuples(*(st.floats(0, 1) for _ in range(3))).filter(lambda each: sum(each) > 0)


@NO_DEADLINE
@given(st.lists(MERGED, max_size=6), QUERIES, DAYS, WEIGHTS)
def test_scores_lie_between_0_and_1_and_fall(
    hits: list[MergedHit], query: str, today: date, shares: tuple[float, float, float]
) -> None:
    total = sum(shares)
    keyword, freshness, authority = (each / total for each in shares)
    question = HitQuestion(
        variants=(query,),
        weights=HitWeights(keyword=keyword, freshness=freshness, authority=authority),
        today=today,
    )
    ranked = rank_hits(hits, question)
    scores = [each.score.score for each in ranked if each.score]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= each <= 1 for each in scores)
    assert sorted(each.hit.key for each in ranked) == sorted(each.key for each in hits)
    assert rank_hits([each.hit for each in ranked], question) == ranked


@NO_DEADLINE
@given(DAYS, DAYS, DAYS)
def test_the_newer_is_never_less_fresh(today: date, one: date, other: date) -> None:
    older, newer = sorted((one, other))
    if newer <= today:
        assert (
            freshness_score(newer.isoformat(), "", today)[0]
            >= freshness_score(older.isoformat(), "", today)[0]
        )


@NO_DEADLINE
@given(st.lists(MERGED, max_size=6), st.sampled_from(["pd", "pw", "pm", "py"]), DAYS)
def test_parting_by_age_keeps_every_hit_once(
    hits: list[MergedHit], freshness: str, today: date
) -> None:
    found = by_freshness(hits, freshness, today)
    assert len(found.within) + len(found.undated) + found.outside == len(hits)
    assert by_freshness(found.within, freshness, today).within == found.within


@NO_DEADLINE
@given(DAYS)
def test_longer_ages_hold_shorter_ones(today: date) -> None:
    ranges = [date_range(each, today) for each in ("pd", "pw", "pm", "py")]
    for shorter, longer in itertools.pairwise(ranges):
        assert shorter is not None
        assert longer is not None
        assert longer[0] < shorter[0]
        assert longer[1] == shorter[1]


@NO_DEADLINE
@given(st.one_of(st.text(max_size=120), st.from_regex(r"[0-9TZ:./ -]{0,30}")))
def test_a_date_is_a_date_or_nothing(stated: str) -> None:
    found = stated_date(stated)
    assert stated_date(found) == found
    if found:
        assert date.fromisoformat(found + "-01-01"[: 10 - len(found)] if len(found) < 10 else found)


@NO_DEADLINE
@given(QUERIES, st.text(max_size=40), st.text(max_size=40))
def test_more_text_never_matches_fewer_words(query: str, title: str, more: str) -> None:
    assert 0 <= keyword_match((query,), title, "") <= 1
    assert keyword_match((query,), title, more) >= keyword_match((query,), title, "") - 1e-9


@NO_DEADLINE
@given(URLS, st.lists(HOSTS, max_size=3), st.floats(0, 1))
def test_a_boost_never_lowers_and_never_passes_one(
    url: str, sites: list[str], amount: float
) -> None:
    plain, _reason = site_authority(url)
    assert plain <= boosted(plain, url, sites, amount) <= 1
    assert boosted(plain, url, [*sites, *sites], amount) == boosted(plain, url, sites, amount)


# --- words ------------------------------------------------------------------------------------------------------------


@NO_DEADLINE
@given(ANSWERS, ASKABLE)
def test_every_hit_has_one_topic_and_every_position_exists(
    answers: list[list[Hit]], query: str
) -> None:
    plan = plan_search([query], configured=WEB_SOURCES, rules=RULES, now_ms=0)
    question = HitQuestion(
        variants=plan.score_variants, weights=plan.weights, today=date(2026, 5, 28)
    )
    ranked = rank_hits(merge_hits(answers), question)
    found = synthesise(ranked, plan, VERIFY)
    assert bool(found.text) is bool(ranked)
    if found.topics:
        placed = sorted(at for each in found.topics for at in each.hits)
        assert placed == list(range(1, len(ranked) + 1))
    if found.answer is not None:
        assert all(1 <= at <= len(ranked) for at in found.answer.hits)
        assert found.answer.text in ranked[found.answer.hits[0] - 1].hit.snippet
    assert structs.replace(found, text="") == structs.replace(
        synthesise(ranked, plan, VERIFY), text=""
    )


@NO_DEADLINE
@given(
    st.one_of(st.binary(max_size=200), st.text(max_size=200).map(lambda s: f"data: {s}".encode()))
)
def test_a_models_reply_is_read_or_refused(body: bytes) -> None:
    reply = Reply(
        url="https://api.example/", status=200, content_type="", body=body, text="", fetched_at_ms=0
    )
    with suppress(BadReply):
        assert isinstance(read_said(reply), Said)
