"""Whole searches with the four web sources and the registers: over HTTP, through the frontier, to the hits."""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from msgspec import UNSET
from redis import Redis
from signal_search.contracts.job import JobEvent
from signal_search.contracts.result import StopReason
from signal_search.contracts.scorer import ScorerProgram
from signal_search.contracts.search import SearchRequest, SurveyRequest, SurveyRules
from signal_search.contracts.search_result import SearchResult, SurveyResult
from signal_search.contracts.trace import Ended, FetchFinished
from signal_search.errors import Position, ProgramError

from api_gateway.job_views import without_result
from infra.loopback_web.faults import Fault
from infra.loopback_web.server import LoopbackWeb, hosts
from tests.fakes.walk import Walk, settings_for
from workers.pipeline.ending import end_job
from workers.pipeline.kinds import strategy_of
from workers.pipeline.parse import _registry
from workers.pipeline.rules import from_log
from workers.pipeline.state import fold

KEYS = {
    "BRAVE_API_KEY": "BSAloopback0001",
    "EXA_API_KEY": "01234567-89ab-cdef-0123-456789abcdef",
    "TAVILY_API_KEY": "tvly-loopback0001",
    "GROK_API_KEY": "xai-loopback0001",
}


@pytest.fixture(scope="module")
def web() -> Iterator[LoopbackWeb]:
    with LoopbackWeb() as web:
        yield web


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    _registry.cache_clear()
    yield monkeypatch
    _registry.cache_clear()


def search(redis_url: str, web: LoopbackWeb, **asked: Any) -> SearchResult:
    walk = Walk(settings_for(redis_url, hosts(web.port)))
    walk.submit(SearchRequest(**asked))
    result = walk.outcome()
    assert isinstance(result, SearchResult)
    return result


WORDS = "tidal array record in May"
HOSTS = {
    "brave": "api.search.brave.com",
    "exa": "api.exa.ai",
    "tavily": "api.tavily.com",
    "grok": "api.x.ai",
}
RECORD = "http://news.test/2026/05/28/tidal-array-record"


def spoilt(web: LoopbackWeb, source: str, **how: Any) -> None:
    web.faults.add(Fault(host=HOSTS[source], count=None, **how))


@pytest.fixture(autouse=True)
def healed(web: LoopbackWeb) -> None:
    web.faults.clear()
    web.log.clear()


def asked(web: LoopbackWeb) -> set[str]:
    return {name for name, host in HOSTS.items() if web.log.entries(host)}


# --- who is asked, and what is missing --------------------------------------------------------------------------------


@pytest.mark.usefixtures("redis", "keys")
def test_a_mode_alone_answers_in_source_order_without_scores(
    redis_url: str, web: LoopbackWeb
) -> None:
    result = search(redis_url, web, query=WORDS, mode="deep")
    assert asked(web) == set(HOSTS)
    assert (result.mode, result.intent, result.queries) == ("deep", None, (WORDS,))
    assert result.hits[0].url == RECORD
    assert result.hits[0].sources == ("brave", "exa", "tavily", "grok")
    assert all(each.score is UNSET and each.score_detail is UNSET for each in result.hits)
    assert result.ranking.source == "source_order"
    assert (result.results, result.count) == (result.hits, len(result.hits))
    assert (result.errors, result.freshness_filter) == ({}, UNSET)
    assert [each.state for each in result.source_outcomes] == ["answered"] * 4
    assert result.stop.reason is StopReason.PLAN_COMPLETE
    # No page behind a hit was read: only the services were asked.
    assert {each.host for each in web.log.entries()} == set(HOSTS.values())


@pytest.mark.usefixtures("redis", "keys")
@pytest.mark.parametrize(
    ("source", "fault", "reason"),
    [
        ("exa", {"status": 429, "retry_after": 60}, "source_rate_limited"),
        ("tavily", {"status": 503}, "source_server_fault"),
        ("grok", {"reset": True}, "source_unreachable"),
        ("brave", {"html_error": True}, "source_server_fault"),
        ("brave", {"truncate": True}, "source_bad_reply"),
        ("exa", {"status": 401}, "source_denied"),
    ],
)
def test_a_failing_source_is_named_and_the_others_answer(
    redis_url: str, web: LoopbackWeb, source: str, fault: dict[str, Any], reason: str
) -> None:
    spoilt(web, source, **fault)
    result = search(redis_url, web, query=WORDS, mode="deep")
    assert result.errors.keys() == {source}
    assert result.errors[source].startswith(reason)
    assert {name for hit in result.hits for name in hit.sources} == set(HOSTS) - {source}


@pytest.mark.usefixtures("redis")
def test_a_source_without_a_key_is_not_configured(
    redis_url: str, web: LoopbackWeb, keys: pytest.MonkeyPatch
) -> None:
    for name in ("EXA_API_KEY", "GROK_API_KEY"):
        keys.delenv(name)
    result = search(redis_url, web, query=WORDS, mode="deep")
    assert result.errors == {"exa": "not_configured", "grok": "not_configured"}
    assert asked(web) == {"brave", "tavily"}
    assert result.stop.reason is StopReason.PLAN_COMPLETE


@pytest.mark.usefixtures("redis", "keys")
def test_grok_stands_in_for_exa_when_it_fails(redis_url: str, web: LoopbackWeb) -> None:
    spoilt(web, "exa", status=500)
    result = search(redis_url, web, query=WORDS, mode="fast")
    assert asked(web) == {"brave", "exa", "grok"}
    assert {name for hit in result.hits for name in hit.sources} == {"brave", "grok"}
    assert result.errors.keys() == {"exa"}


@pytest.mark.usefixtures("redis", "keys")
def test_it_does_not_stand_in_when_exa_answers(redis_url: str, web: LoopbackWeb) -> None:
    result = search(redis_url, web, query=WORDS, mode="fast")
    assert asked(web) == {"brave", "exa"}
    assert result.errors == {}


@pytest.mark.usefixtures("redis", "keys")
def test_when_nobody_answers_the_search_ends_and_says_so(redis_url: str, web: LoopbackWeb) -> None:
    for source in HOSTS:
        spoilt(web, source, status=500)
    result = search(redis_url, web, query=WORDS, mode="deep")
    assert (result.hits, result.count) == ((), 0)
    assert result.stop.reason is StopReason.NO_SOURCE_REACHED
    assert result.errors.keys() == set(HOSTS)


@pytest.mark.usefixtures("redis", "keys")
def test_a_slow_source_is_left_behind_at_the_deadline(redis_url: str, web: LoopbackWeb) -> None:
    """Not by the clock: the others have all the time they need, then the deadline is over."""
    spoilt(web, "tavily", latency_s=50.0)
    walk = Walk(settings_for(redis_url, hosts(web.port)))
    walk.submit(SearchRequest(query=WORDS, mode="deep"))

    def meanwhile() -> None:
        entries = [entry for _id, entry in walk.tools.log.read("job_1")]
        if sum(isinstance(each, FetchFinished) for each in entries) == len(HOSTS) - 1:
            walk.pass_the_deadline()

    walk.meanwhile = meanwhile
    result = walk.outcome()
    assert isinstance(result, SearchResult)
    assert result.stop.reason is StopReason.DEADLINE
    assert result.stop.exhausted
    assert result.errors == {"tavily": "deadline: it did not answer in time"}
    assert result.hits[0].url == RECORD


# --- order ------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("redis", "keys")
def test_an_intent_scores_by_its_weights(redis_url: str, web: LoopbackWeb) -> None:
    result = search(
        redis_url, web, query=WORDS, intent="exploratory", mode="deep", domain_boost=("news.test",)
    )
    assert result.ranking.source == "intent"
    assert result.ranking.weights == {"keyword": 0.3, "freshness": 0.2, "authority": 0.5}
    scores = [each.score for each in result.hits]
    assert scores == sorted(scores, reverse=True)
    for hit in result.hits:
        parts = hit.score_detail
        total = 0.3 * parts["keyword"] + 0.2 * parts["freshness"] + 0.5 * parts["authority"]
        assert hit.score == pytest.approx(total, abs=2e-4)
    by_url = {each.url: each.score_detail["authority"] for each in result.hits}
    assert by_url[RECORD] == pytest.approx(by_url["http://harbour.test/tides/streams"] + 0.2)


@pytest.mark.usefixtures("redis", "keys")
def test_a_wanted_age_parts_the_hits(redis_url: str, web: LoopbackWeb) -> None:
    result = search(redis_url, web, query=WORDS, mode="deep", freshness="2021-01-01..2021-12-31")
    assert result.freshness_filter == "2021-01-01..2021-12-31"
    assert all(each.published_date.startswith("2021") for each in result.hits)
    assert all(each.published_date == "" for each in result.undated)
    assert not {each.url for each in result.hits} & {each.url for each in result.undated}


@pytest.mark.usefixtures("redis")
def test_registers_are_merged_and_ranked_by_the_formula(redis_url: str, web: LoopbackWeb) -> None:
    result = search(
        redis_url,
        web,
        query="Mount Corvel height satellite positioning",
        sources=("arxiv", "crossref"),
        ranking=None,
    )
    assert (result.mode, result.ranking.source) == ("fused", "default")
    [best, *_] = result.hits
    assert best.doi == "10.5555/merrin.2020.014"
    assert best.sources == ("arxiv", "crossref")
    assert best.citations == 41
    assert best.authors == ("Ilse Tamarin", "Bo van der Quill")
    assert set(best.score_detail) == {"lexical", "phrase", "citation", "recency", "agreement"}
    assert best.score == pytest.approx(sum(best.score_detail.values()), abs=3e-4)


@pytest.mark.usefixtures("redis")
def test_a_program_orders_and_explains(redis_url: str, web: LoopbackWeb) -> None:
    program = ScorerProgram(
        language="qatlas-expr-v1", filter="lexical > 0", score="0 - coalesce(year, 0)"
    )
    result = search(
        redis_url,
        web,
        query="Mount Corvel",
        sources=("crossref",),
        ranking="scorer",
        scorer=program,
        explain=True,
    )
    years = [each.year for each in result.hits]
    assert years == sorted(years)
    assert [each.score for each in result.hits] == [-float(each) for each in years]
    assert all(each.score_detail is None for each in result.hits)
    assert all(each.score_explanation is not UNSET for each in result.hits)
    used = result.ranking
    assert (used.source, used.weights, used.score_scale) == ("scorer", None, "custom")
    assert used.scorer == program
    assert used.as_of_year == 2026


@pytest.mark.usefixtures("redis")
def test_a_program_that_fails_on_a_candidate_fails_the_search(
    redis_url: str, redis: Redis, web: LoopbackWeb
) -> None:
    program = ScorerProgram(language="qatlas-expr-v1", score="1 / (lexical - lexical)")
    walk = Walk(settings_for(redis_url, hosts(web.port)))
    walk.submit(
        SearchRequest(query="Mount Corvel", sources=("crossref",), ranking="scorer", scorer=program)
    )
    walk.play()
    ended = walk.entries()[-1]
    assert isinstance(ended, Ended)
    assert (ended.state, ended.error_code, ended.error_field) == (
        "failed",
        "division_by_zero",
        "score",
    )
    assert ended.candidate_index == 0
    assert ended.error_position == Position(line=1, column=1, end_line=1, end_column=24)


def test_too_many_candidates_are_the_program_s_fault_too(
    redis_url: str, redis: Redis, web: LoopbackWeb
) -> None:
    walk = Walk(settings_for(redis_url, hosts(web.port)))
    walk.submit(SearchRequest(query="q"))
    fault = ProgramError("too many", code="candidate_limit")
    queued = walk.tools.store.get("job_1")
    assert queued is not None
    end_job(walk.tools, queued, JobEvent.FAIL, error=fault)
    stored, ended = walk.tools.store.get("job_1"), walk.entries()[-1]
    assert stored is not None
    assert isinstance(ended, Ended)
    told = without_result(stored, ended)
    assert (told.status, told.code, told.field) == (422, "candidate_limit", "scorer")


@pytest.mark.usefixtures("redis", "keys")
def test_multi_keeps_each_source_apart(redis_url: str, web: LoopbackWeb) -> None:
    result = search(redis_url, web, query=WORDS, mode="multi", sources=("tavily", "brave"))
    assert isinstance(result.results, dict)
    assert list(result.results) == ["tavily", "brave"]
    assert all(each.source == "brave" for each in result.results["brave"])
    assert result.count == sum(map(len, result.results.values()))
    assert result.hits == ()


@pytest.mark.usefixtures("redis", "keys")
def test_an_answer_is_asked_for_with_the_first_of_several_queries(
    redis_url: str, web: LoopbackWeb
) -> None:
    result = search(redis_url, web, queries=(WORDS, "harbour crane"), mode="answer")
    assert asked(web) == {"brave", "tavily"}
    assert result.answer is not UNSET
    assert result.queries == (WORDS, "harbour crane")


@pytest.mark.usefixtures("redis")
def test_a_summary_without_a_model_is_an_error_beside_the_hits(
    redis_url: str, web: LoopbackWeb
) -> None:
    result = search(redis_url, web, query="Mount Corvel", sources=("crossref",), agent=True)
    assert result.hits
    assert result.conclusion is None
    assert result.errors == {"agent": "not_configured"}


@pytest.mark.usefixtures("redis", "keys")
def test_a_search_replays_to_the_same_bytes(redis_url: str, redis: Redis, web: LoopbackWeb) -> None:
    walk = Walk(settings_for(redis_url, hosts(web.port)))
    walk.submit(SearchRequest(query=WORDS, intent="news", domain_boost=("news.test",)))
    result = walk.outcome()
    view = fold(walk.entries())
    ids = [each for entry in view.fetches() if entry.finished for each in entry.finished.documents]
    documents = walk.tools.log.documents("job_1", ids)
    again = strategy_of(view.spec).publish(view, documents, from_log(view.planned.rules))
    walk.tools.redis.close()
    assert msgspec.json.encode(again) == msgspec.json.encode(result)


# --- surveys ----------------------------------------------------------------------------------------------------------


def survey(redis_url: str, web: LoopbackWeb, **asked: Any) -> SurveyResult:
    walk = Walk(settings_for(redis_url, hosts(web.port)))
    walk.submit(SurveyRequest(**asked))
    result = walk.outcome()
    assert isinstance(result, SurveyResult)
    return result


@pytest.mark.usefixtures("redis")
def test_a_survey_groups_papers_by_side(redis_url: str, web: LoopbackWeb) -> None:
    result = survey(
        redis_url,
        web,
        goal="the height of Mount Corvel",
        queries=("Mount Corvel height", "tea bitterness temperature"),
        sources=("crossref",),
        rules=SurveyRules(year_from=1900, sort="newest"),
    )
    years = [each.year for each in result.hits]
    assert years == sorted(years, reverse=True)
    assert [each.query for each in result.queries] == [
        "Mount Corvel height",
        "tea bitterness temperature",
    ]
    first, second = (set(each.hits) for each in result.queries)
    assert first
    assert second
    assert first | second == set(range(len(result.hits)))
    assert result.coverage.exhaustive is False
    assert result.coverage.mode == "post_filter_bounded"
    assert result.plan["queries_by"] == "caller"


@pytest.mark.usefixtures("redis")
def test_rules_leave_out_and_say_how_many(redis_url: str, web: LoopbackWeb) -> None:
    asked = {
        "goal": "Mount Corvel",
        "queries": ("Mount Corvel", "tea bitterness"),
        "sources": ("crossref",),
    }
    result = survey(redis_url, web, **asked, rules=SurveyRules(authors=("tamarin",)), max_results=1)
    assert [each.doi for each in result.hits] == ["10.5555/merrin.2020.014"]
    told = result.coverage
    assert told.filtered_out > 0
    assert told.candidates == told.filtered_out + told.cut + 1
