"""Firecrawl's search and crawl as our jobs and back."""

from datetime import date
from typing import Any

import msgspec
import pytest
from msgspec import UNSET
from signal_search.contracts.budget import Budget
from signal_search.contracts.query import Constraints, RetrieveRequest, SourcePrefs
from signal_search.contracts.result import StopReason
from signal_search.contracts.search import SearchRequest
from signal_search.contracts.search_plan import SearchIntent
from signal_search.errors import Failed, Invalid, SignalSearchError, Unsupported

from api_gateway.checks import check_request
from api_gateway.compat.firecrawl_crawl import CrawlRequest, clamped, is_crawl
from api_gateway.compat.firecrawl_crawl import request_of as crawl_of
from api_gateway.compat.firecrawl_search import reply_of, request_of
from api_gateway.compat.firecrawl_wire import FirecrawlSearch
from api_gateway.search_checks import check_search
from tests.fakes.hits import a_hit, a_search_result

TODAY = date(2026, 3, 1)


def asked(**fields: Any) -> FirecrawlSearch:
    return msgspec.convert({"query": "tidal arrays", **fields}, FirecrawlSearch)


def ours(**fields: Any) -> SearchRequest:
    found = request_of(asked(**fields), TODAY, usual_s=10.0)
    check_search(found)
    return found


def told(search: FirecrawlSearch, *hits: Any, **more: Any) -> dict[str, Any]:
    reply = reply_of(search, a_search_result(*hits, **more))
    found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(reply))
    return found


# --- search -----------------------------------------------------------------------------------------------------------


def test_a_plain_search() -> None:
    found = ours(limit=3, origin="python-sdk@4", integration="x", timeout=300_000)
    assert (found.query, found.mode, found.intent, found.ranking) == (
        "tidal arrays",
        "deep",
        None,
        None,
    )
    assert (found.num, found.max_results, found.sources) == (3, 3, None)
    assert found.constraints.deadline_s == 10.0
    assert b"python-sdk" not in msgspec.json.encode(found)


def test_a_short_time_ends_a_search_earlier() -> None:
    assert ours(timeout=2500).constraints.deadline_s == 2.5


@pytest.mark.parametrize(
    ("tbs", "freshness"),
    [
        ("qdr:d", "pd"),
        ("qdr:w", "pw"),
        ("qdr:m", "pm"),
        ("qdr:y", "py"),
        ("cdr:1,cd_min:01/02/2026,cd_max:02/28/2026", "2026-01-02..2026-02-28"),
        ("cdr:1,cd_min:1/2/2026", "2026-01-02..2026-03-01"),
        ("cdr:1,cd_max:12/31/2025", "1970-01-01..2025-12-31"),
    ],
)
def test_ages(tbs: str, freshness: str) -> None:
    assert ours(tbs=tbs).freshness == freshness
    assert ours(sources=[{"type": "web", "tbs": tbs}]).freshness == freshness


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"tbs": "qdr:h"}, "tbs"),
        ({"tbs": "sbd:1"}, "tbs"),
        ({"tbs": "cdr:1,cd_min:02/30/2026"}, "tbs"),
        ({"tbs": "cdr:1,cd_min:31/01/2026"}, "tbs"),
        ({"tbs": "cdr:1,cd_min:02/02/2026,cd_max:02/01/2026"}, "tbs"),
        ({"tbs": "cdr:1,cd_min:////////"}, "tbs"),
        ({"sources": ["images"]}, "sources"),
        ({"sources": ["web", "news"]}, "sources"),
        ({"sources": ["news"], "categories": ["github"]}, "sources"),
        ({"sources": [{"type": "web", "location": "Berlin"}]}, "sources[0].location"),
        ({"categories": ["github", "pdf"]}, "categories[1]"),
        ({"includeDomains": ["a.test"], "excludeDomains": ["b.test"]}, "excludeDomains"),
        ({"includeDomains": ["a.test/path"]}, "includeDomains[0]"),
        ({"scrapeOptions": {"formats": ["markdown"]}}, "scrapeOptions"),
        ({"location": "Berlin"}, "location"),
        ({"country": "DE"}, "country"),
        ({"highlights": True}, "highlights"),
        ({"enterprise": ["zdr"]}, "enterprise"),
    ],
)
def test_what_cannot_be_honoured_is_refused_by_name(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(SignalSearchError) as caught:
        ours(**fields)
    assert isinstance(caught.value, Unsupported | Invalid)
    assert caught.value.field == field


@pytest.mark.parametrize(
    "fields",
    [{"query": "x" * 501}, {"limit": 0}, {"limit": 101}, {"timeout": 10}, {"maxResults": 3}],
)
def test_what_is_out_of_range_or_unknown_is_no_request(fields: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        asked(**fields)


def test_categories_are_sources() -> None:
    found = ours(categories=["github", {"type": "research"}])
    assert found.sources == ("github", "openalex", "arxiv", "semanticscholar", "crossref")
    assert found.mode == "fused"
    hits = (
        a_hit("https://a.test/", sources=("github",)),
        a_hit("https://b.test/", sources=("arxiv",)),
    )
    rows = told(asked(categories=["github", "research"]), *hits)["data"]["web"]
    assert [each["category"] for each in rows] == ["github", "research"]


def test_the_reply_has_what_callers_read() -> None:
    hit = a_hit("https://example.org/a", published_date="2026-02-27")
    assert told(asked(), hit) == {
        "success": True,
        "id": "job_00000000000000000000000001",
        "creditsUsed": 3,
        "warning": None,
        "data": {
            "web": [
                {
                    "url": "https://example.org/a",
                    "title": "A page",
                    "description": "What it says.",
                    "position": 1,
                }
            ]
        },
    }


def test_news_are_a_list_of_their_own() -> None:
    found = ours(sources=["news"])
    assert (found.intent, found.mode, found.ranking) == (SearchIntent.NEWS, None, UNSET)
    assert found.freshness == "py"
    data = told(asked(sources=["news"]), a_hit(published_date="2026-02-27"))["data"]
    assert list(data) == ["news"]
    assert data["news"][0]["date"] == "2026-02-27"
    assert data["news"][0]["snippet"] == "What it says."


def test_domains_are_chosen_among_many_hits() -> None:
    search = asked(includeDomains=["news.test"], limit=1)
    assert request_of(search, TODAY, usual_s=10.0).max_results == 100
    hits = [a_hit("https://a.test/"), a_hit("https://x.news.test/"), a_hit("https://news.test/")]
    assert [each["url"] for each in told(search, *hits)["data"]["web"]] == ["https://x.news.test/"]


def test_what_is_missing_is_the_warning() -> None:
    assert (
        told(asked(), errors={"exa": "budget", "grok": "deadline"})["warning"]
        == "exa: budget; grok: deadline"
    )
    with pytest.raises(Failed):
        told(asked(), reason=StopReason.NO_SOURCE_REACHED)


# --- crawl ------------------------------------------------------------------------------------------------------------


def crawl(**fields: Any) -> CrawlRequest:
    return msgspec.convert({"url": "https://docs.test/", **fields}, CrawlRequest)


def job_of(**fields: Any) -> RetrieveRequest:
    found = crawl_of(crawl(**fields), most_pages=12, pause_s=14.0)
    check_request(found)
    return found


def test_a_crawl_is_a_job_on_one_site() -> None:
    assert job_of(limit=5) == RetrieveRequest(
        query="*",
        depth="deep",
        budget=Budget(fetches=5),
        constraints=Constraints(source_prefs=SourcePrefs(only=("site:https://docs.test/",))),
    )
    assert is_crawl(job_of())
    assert job_of(prompt="How are backups kept?").query == "How are backups kept?"


@pytest.mark.parametrize(
    ("limit", "fetches", "is_told"),
    [(None, 12, True), (12, 12, False), (500, 12, True), (1, 1, False)],
)
def test_a_limit_is_kept_and_a_wish_for_more_is_named(
    limit: int | None, fetches: int, is_told: bool
) -> None:
    fields = {} if limit is None else {"limit": limit}
    assert job_of(**fields).budget == Budget(fetches=fetches)
    assert (clamped(crawl(**fields), most_pages=12) is not None) == is_told


@pytest.mark.parametrize(
    "fields",
    [
        {"sitemap": "include"},
        {"allowExternalLinks": False, "ignoreRobotsTxt": False, "regexOnFullURL": False},
        {"delay": 2, "maxConcurrency": 50, "deduplicateSimilarURLs": True},
        {"scrapeOptions": {"formats": ["markdown"], "onlyMainContent": True}},
        {"scrapeOptions": {"formats": [{"type": "markdown"}]}},
        {"includePaths": [], "webhook": None},
        {"url": "https://docs.test"},
        {"url": "https://docs.test/guide/start", "crawlEntireDomain": True},
        {"url": "https://docs.test/guide/start", "limit": 1},
    ],
)
def test_what_is_kept_anyway_passes(fields: dict[str, Any]) -> None:
    assert is_crawl(job_of(**fields))


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"includePaths": ["/docs/.*"]}, "includePaths"),
        ({"excludePaths": ["/blog/.*"]}, "excludePaths"),
        ({"maxDiscoveryDepth": 2}, "maxDiscoveryDepth"),
        ({"ignoreRobotsTxt": True}, "ignoreRobotsTxt"),
        ({"robotsUserAgent": "other"}, "robotsUserAgent"),
        ({"allowExternalLinks": True}, "allowExternalLinks"),
        ({"allowSubdomains": True}, "allowSubdomains"),
        ({"webhook": "https://hook.test/"}, "webhook"),
        ({"sitemap": "skip"}, "sitemap"),
        ({"sitemap": "only"}, "sitemap"),
        ({"delay": 60}, "delay"),
        ({"scrapeOptions": {"formats": ["html"]}}, "scrapeOptions"),
        ({"scrapeOptions": {"onlyMainContent": False}}, "scrapeOptions"),
        ({"url": "https://docs.test/guide/"}, "url"),
        ({"url": "ftp://docs.test/"}, "url"),
        ({"url": "https://me:secret@docs.test/"}, "url"),
        ({"url": "docs.test"}, "url"),
        ({"prompt": "  "}, "prompt"),
    ],
)
def test_a_crawl_that_would_be_another_is_refused(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(SignalSearchError) as caught:
        job_of(**fields)
    assert isinstance(caught.value, Unsupported | Invalid)
    assert caught.value.field == field


def test_other_jobs_are_no_crawls() -> None:
    assert not is_crawl(RetrieveRequest(query="why"))
    two = Constraints(source_prefs=SourcePrefs(only=("site:https://a.test/", "arxiv")))
    assert not is_crawl(RetrieveRequest(query="why", constraints=two))
    assert not is_crawl(SearchRequest(query="why"))
