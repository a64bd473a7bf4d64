"""SearXNG's parameters as our search and back, with its own refusals."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from signal_search.contracts.result import StopReason
from signal_search.contracts.search_plan import SearchIntent
from signal_search.errors import Forbidden, Invalid

from api_gateway.compat.searxng import in_its_words, reply_of, request_of
from api_gateway.compat.searxng_fields import read
from api_gateway.search_checks import check_search
from tests.fakes.hits import a_hit, a_search_result


def asked(**fields: str) -> Any:
    return read({"q": "tidal arrays", "format": "json", **fields})


def told(search: Any, *hits: Any, **more: Any) -> dict[str, Any]:
    reply = reply_of(search, a_search_result(*hits, **more))
    found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(reply))
    return found


@pytest.mark.parametrize("form", ["html", "csv", "rss", "xml", ""])
def test_other_formats_are_off(form: str) -> None:
    with pytest.raises(Forbidden):
        asked(format=form)


def test_html_is_what_is_meant_without_a_format() -> None:
    with pytest.raises(Forbidden):
        read({"q": "tidal arrays"})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("q", ""),
        ("q", "  "),
        ("q", "x" * 4001),
        ("time_range", "hour"),
        ("time_range", "past_week"),
        ("safesearch", "3"),
        ("pageno", "0"),
        ("pageno", "-1"),
        ("pageno", "two"),
        ("pageno", "99999"),
        ("pageno", "١"),
        ("language", "english"),
        ("language", "en_US"),
        ("categories", "images"),
        ("categories", "general,news"),
    ],
)
def test_values_that_are_refused(name: str, value: str) -> None:
    with pytest.raises(Invalid) as caught:
        asked(**{name: value})
    assert caught.value.field == name


def test_what_a_page_of_settings_sends_passes() -> None:
    fields = {
        "categories": "",
        "engines": "",
        "language": "all",
        "time_range": "",
        "pageno": "1",
        "safesearch": "",
        "theme": "simple",
        "image_proxy": "0",
    }
    ours = request_of(asked(**fields))
    check_search(ours)
    assert (ours.mode, ours.sources, ours.freshness) == ("deep", None, None)
    assert (ours.num, ours.max_results) == (10, 100)
    assert ours.constraints.language is None


@pytest.mark.parametrize(
    ("fields", "mode", "sources", "freshness"),
    [
        ({"time_range": "month"}, "deep", None, "pm"),
        ({"categories": "science"}, "fused", None, None),
        ({"engines": "arxiv, semantic scholar,arXiv"}, "fused", ("arxiv", "semanticscholar"), None),
        ({"categories": "it"}, "fused", ("github", "stackexchange", "mdn", "hackernews"), None),
        ({"categories": "it", "engines": "mdn"}, "fused", ("mdn",), None),
        ({"categories": "news"}, None, None, "py"),
        ({"categories": "news", "time_range": "day"}, None, None, "pd"),
    ],
)
def test_where_is_searched(
    fields: dict[str, str], mode: str | None, sources: Any, freshness: str | None
) -> None:
    ours = request_of(asked(**fields))
    check_search(ours)
    assert (ours.mode, ours.sources, ours.freshness) == (mode, sources, freshness)
    assert (ours.intent is SearchIntent.NEWS) == (fields.get("categories") == "news")
    assert (ours.ranking is UNSET) == (ours.intent is not None)


@pytest.mark.parametrize("language", ["en", "zh-CN", "pt-BR"])
def test_languages(language: str) -> None:
    assert request_of(asked(language=language)).constraints.language == language


@given(st.integers(1, 12), st.integers(0, 100))
def test_pages_part_one_search(page: int, count: int) -> None:
    hits = [a_hit(f"https://a.test/{at}") for at in range(count)]
    search = asked(pageno=str(page))
    assert request_of(search) == request_of(asked())
    shown = told(search, *hits)
    assert [each["url"] for each in shown["results"]] == [
        f"https://a.test/{at}" for at in range(10 * page - 10, min(10 * page, count))
    ]
    assert shown["number_of_results"] == count


def test_the_reply_has_what_callers_read() -> None:
    hit = a_hit(
        "https://example.org:8080/p/q?x=1#top",
        sources=("brave", "exa"),
        published_date="2026-05-28",
        authors=("A. One", "B. Two"),
        venue="Journal",
    )
    [row] = told(asked(), hit)["results"]
    assert row == {
        "url": "https://example.org:8080/p/q?x=1#top",
        "title": "A page",
        "content": "What it says.",
        "engine": "brave",
        "engines": ["brave", "exa"],
        "parsed_url": ["https", "example.org:8080", "/p/q", "", "x=1", "top"],
        "template": "default.html",
        "positions": [1],
        "score": 1.0,
        "category": "general",
        "publishedDate": "2026-05-28T00:00:00",
        "pubdate": "2026-05-28",
        "thumbnail": "",
        "img_src": "",
        "priority": "",
        "author": "A. One, B. Two",
        "metadata": "Journal",
    }


def test_a_year_is_no_instant() -> None:
    [row] = told(asked(), a_hit(published_date="2026", score=0.5))["results"]
    assert (row["publishedDate"], row["pubdate"], row["score"]) == (None, "2026", 0.5)


def test_silent_sources_are_told_in_their_place() -> None:
    reply = told(
        asked(),
        errors={"brave": "challenge: until 12:00"},
        reason=StopReason.NO_SOURCE_REACHED,
    )
    assert reply["unresponsive_engines"] == [["brave", "challenge: until 12:00"]]
    assert reply["results"] == []
    assert "warnings" not in reply


def test_old_and_undated_hits_are_counted() -> None:
    reply = told(
        asked(time_range="week"), freshness_filter="pw", stale=1, undated=(a_hit(), a_hit())
    )
    [note] = reply["warnings"]
    assert "1 older, 2 without a date" in note


@pytest.mark.parametrize(
    ("value", "is_named"), [("", False), ("0", False), ("1", True), ("2", True)]
)
def test_a_filter_that_is_not_applied_is_named(value: str, is_named: bool) -> None:
    notes = told(asked(safesearch=value)).get("warnings", [])
    assert any(each.startswith("safesearch") for each in notes) == is_named


def test_refusals_name_their_parameters() -> None:
    assert in_its_words(Invalid("no", field="sources[3]")).field == "engines"
    assert in_its_words(Invalid("no", field="query")).field == "q"
    assert in_its_words(Invalid("no")).field is None
