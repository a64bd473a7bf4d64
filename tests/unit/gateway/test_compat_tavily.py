"""Tavily's search as ours and back: what is asked for, what is refused by name, what is told."""

from datetime import date
from typing import Any

import msgspec
import pytest
from msgspec import UNSET
from signal_search.contracts.hit_synthesis import HitStatement, HitSynthesis
from signal_search.contracts.result import StopReason
from signal_search.contracts.search_plan import SearchIntent
from signal_search.errors import Failed, Invalid, Unsupported

from api_gateway.compat.tavily import reply_of, request_of
from api_gateway.compat.tavily_wire import TavilySearch
from api_gateway.search_checks import check_search
from tests.fakes.hits import a_hit, a_search_result

TODAY = date(2026, 3, 1)


def asked(**fields: Any) -> TavilySearch:
    return msgspec.convert({"query": "tidal arrays", **fields}, TavilySearch)


def told(search: TavilySearch, *hits: Any, **more: Any) -> dict[str, Any]:
    reply = reply_of(search, a_search_result(*hits, **more), took_s=1.2345, request_id="req_1")
    found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(reply))
    return found


def test_a_plain_search() -> None:
    ours = request_of(asked(), TODAY)
    check_search(ours)
    assert (ours.query, ours.mode, ours.intent, ours.ranking) == (
        "tidal arrays",
        "fast",
        None,
        None,
    )
    assert (ours.num, ours.max_results, ours.freshness, ours.agent) == (5, 5, None, False)


@pytest.mark.parametrize(
    ("depth", "mode"),
    [("basic", "fast"), ("fast", "fast"), ("ultra-fast", "fast"), ("advanced", "fused")],
)
def test_depth_is_a_mode(depth: str, mode: str) -> None:
    assert request_of(asked(search_depth=depth), TODAY).mode == mode


@pytest.mark.parametrize(
    ("fields", "freshness"),
    [
        ({"time_range": "day"}, "pd"),
        ({"time_range": "w"}, "pw"),
        ({"start_date": "2026-01-02"}, "2026-01-02..2026-03-01"),
        ({"end_date": "2025-12-31"}, "1970-01-01..2025-12-31"),
        ({"start_date": "2026-01-02", "end_date": "2026-01-03"}, "2026-01-02..2026-01-03"),
        ({"topic": "news", "days": 1}, "2026-02-28..2026-03-01"),
        ({"topic": "news"}, "pw"),
        ({"topic": "news", "days": 30}, "2026-01-30..2026-03-01"),
        ({"topic": "news", "time_range": "year"}, "py"),
    ],
)
def test_ages(fields: dict[str, Any], freshness: str) -> None:
    ours = request_of(asked(**fields), TODAY)
    check_search(ours)
    assert ours.freshness == freshness


@pytest.mark.parametrize(
    ("fields", "field", "message"),
    [
        (
            {"days": 3, "start_date": "2026-01-01"},
            "days",
            "When days is set, start_date or end_date cannot be set.",
        ),
        ({"days": 3, "end_date": "2026-01-01"}, "days", "When days is set"),
        ({"topic": "news", "time_range": "day", "days": 3}, "time_range", "another time filter"),
        ({"time_range": "day", "start_date": "2026-01-01"}, "time_range", "another time filter"),
        ({"start_date": "2026-02-30"}, "start_date", "not a date"),
        ({"end_date": "2026-02-30"}, "end_date", "not a date"),
        ({"start_date": "2026-01-02", "end_date": "2026-01-01"}, "start_date", "before it begins"),
        ({"start_date": "2026-03-02"}, "start_date", "before it begins"),
        ({"topic": "finance"}, "topic", "general and news"),
        ({"include_domains": ["https://a.test/"]}, "include_domains[0]", "example.org"),
        ({"exclude_domains": ["b.test", "*.com"]}, "exclude_domains[1]", "example.org"),
    ],
)
def test_contradictions_are_refused_before_any_work(
    fields: dict[str, Any], field: str, message: str
) -> None:
    with pytest.raises(Invalid) as caught:
        request_of(asked(**fields), TODAY)
    assert caught.value.field == field
    assert message in caught.value.message


@pytest.mark.parametrize(
    "name",
    [
        "include_raw_content",
        "include_images",
        "include_image_descriptions",
        "include_favicon",
        "auto_parameters",
        "country",
        "exact_match",
        "safe_search",
        "filter_by_language",
        "max_age_hours",
        "fetch_timeout",
        "cache_fallback",
    ],
)
def test_what_cannot_be_honoured_is_refused_by_name(name: str) -> None:
    for value in (True, "france", 7, 0.5, ["x"]):
        with pytest.raises(Unsupported) as caught:
            request_of(asked(**{name: value}), TODAY)
        assert caught.value.field == name
    for nothing in (None, False, ""):
        request_of(asked(**{name: nothing}), TODAY)


@pytest.mark.parametrize(
    "fields",
    [
        {"query": ""},
        {"query": "x" * 401},
        {"max_results": 0},
        {"max_results": 21},
        {"search_depth": "deep"},
        {"time_range": "hour"},
        {"start_date": "2026/01/01"},
        {"max_result": 3},
    ],
)
def test_what_is_out_of_range_or_unknown_is_no_request(fields: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        asked(**fields)


def test_days_are_for_news_alone_and_said_to_be() -> None:
    """What one of its older callers sends with every search, key and all."""
    body = {
        "query": "tidal arrays",
        "search_depth": "basic",
        "topic": "general",
        "days": 2,
        "include_answer": False,
        "include_raw_content": False,
        "max_results": 10,
        "include_domains": None,
        "exclude_domains": None,
        "include_images": False,
        "api_key": "ss_secret",
        "use_cache": True,
    }
    ours = request_of(asked(**body), TODAY)
    assert (ours.freshness, ours.max_results) == (None, 10)
    assert told(asked(**body))["warnings"] == ["days: not applied; only news are searched by days"]
    with pytest.raises(Unsupported) as caught:
        request_of(asked(**{**body, "use_cache": False}), TODAY)
    assert caught.value.field == "use_cache"


def test_domains_are_chosen_among_many_hits() -> None:
    search = asked(include_domains=["News.test"], max_results=1)
    ours = request_of(search, TODAY)
    assert (ours.max_results, ours.num, ours.domain_boost) == (100, 20, ("news.test",))
    hits = [
        a_hit("https://fakenews.test/"),
        a_hit("https://www.NEWS.test/1"),
        a_hit("http://news.test:8080/2"),
    ]
    assert [each["url"] for each in told(search, *hits)["results"]] == ["https://www.NEWS.test/1"]
    without = told(asked(exclude_domains=["news.test"]), *hits)
    assert [each["url"] for each in without["results"]] == ["https://fakenews.test/"]
    preferred = told(asked(include_domains=["news.test"], include_domains_mode="prefer"), *hits)
    assert len(preferred["results"]) == 3


def test_the_reply_has_what_callers_read() -> None:
    reply = told(asked(), a_hit(score=0.61239, published_date="2026-02-27"))
    assert reply == {
        "query": "tidal arrays",
        "results": [
            {
                "title": "A page",
                "url": "https://example.org/a",
                "content": "What it says.",
                "score": 0.6124,
                "raw_content": None,
            }
        ],
        "response_time": 1.23,
        "request_id": "req_1",
        "answer": None,
        "images": [],
        "follow_up_questions": None,
    }


def test_scores_beyond_one_are_shares_of_the_best() -> None:
    hits = (
        a_hit("https://a.test/", score=1.6),
        a_hit("https://b.test/", score=0.4),
        a_hit("https://c.test/"),
    )
    assert [each["score"] for each in told(asked(), *hits)["results"]] == [1.0, 0.25, 0.0]


def test_news_are_dated_as_mail_is() -> None:
    ours = request_of(asked(topic="news"), TODAY)
    assert (ours.intent, ours.mode, ours.ranking) == (SearchIntent.NEWS, None, UNSET)
    hits = (
        a_hit("https://a.test/", published_date="2026-05-05"),
        a_hit("https://b.test/", published_date="2026-05"),
    )
    full, month = told(asked(topic="news"), *hits)["results"]
    assert full["published_date"] == "Tue, 05 May 2026 00:00:00 GMT"
    assert "published_date" not in month


def test_usage_and_answer_only_when_asked() -> None:
    said = HitSynthesis(
        layout="list",
        language="en",
        text="",
        answer=HitStatement(text="It is 24 megawatts.", hits=(1,), certainty="stated"),
    )
    plain = told(asked(), synthesis=said)
    assert plain["answer"] is None
    assert "usage" not in plain
    full = told(asked(include_answer=True, include_usage=True), synthesis=said)
    assert (full["answer"], full["usage"]) == ("It is 24 megawatts.", {"credits": 3})
    by_model = asked(include_answer="advanced")
    assert request_of(by_model, TODAY).agent
    assert told(by_model, synthesis=said, conclusion="In short.")["answer"] == "In short."
    assert told(asked(include_answer=True))["answer"] is None


def test_what_is_missing_is_named() -> None:
    reply = told(
        asked(),
        errors={"exa": "source_rate_limited: until 12:00"},
        freshness_filter="pw",
        stale=2,
        undated=(a_hit(),),
        warnings=("retracted or withdrawn: https://a.test/",),
    )
    assert reply["warnings"] == [
        "exa: source_rate_limited: until 12:00",
        "only hits of pw are shown; left out: 2 older, 1 without a date",
        "retracted or withdrawn: https://a.test/",
    ]


def test_nobody_reached_is_not_nothing_found() -> None:
    assert told(asked())["results"] == []
    with pytest.raises(Failed):
        told(asked(), reason=StopReason.NO_SOURCE_REACHED)


def test_a_key_in_the_body_goes_no_further() -> None:
    ours = request_of(asked(api_key="ss_secret"), TODAY)
    assert b"ss_secret" not in msgspec.json.encode(ours)
