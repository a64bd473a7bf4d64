"""Sources known by their row alone, from the row to documents: real fetchers, a real store, shelf.test on loopback."""

from itertools import pairwise
from typing import Any

import httpx
import msgspec
import pytest
from signal_search.contracts.source import Reply, SourceQuery

from infra.http import RawReply
from infra.loopback_web import LoopbackWeb, hosts
from infra.loopback_web.faults import Fault
from infra.loopback_web.shelf import TOKEN
from infra.settings import Settings, load
from workers.fetching.parsing import extract
from workers.registry import Registry, Source
from workers.source_check import Health, check_live, check_setup

ITEMS = {"url": "link", "title": "heading", "snippet": "teaser", "published": "date", "authors": "people.name"}  # fmt: skip
JSON = {"json_items": "answer.results", "item_map": ITEMS}
ROWS: tuple[dict[str, Any], ...] = (
    {"id": "shelf", "url_template": "http://shelf.test/api/search?q={q}&limit={limit}&from={from}&to={to}", **JSON, "params": {"total": "found"}},
    {"id": "private", "url_template": "http://shelf.test/private/search?q={q}", **JSON, "key_env": "SHELF_KEY"},
    {"id": "by_token", "url_template": "http://shelf.test/private/search?q={q}&token={token}", **JSON, "key_env": "SHELF_KEY"},
    {"id": "atom", "url_template": "http://shelf.test/atom?q={q}", "response": "atom"},
    {"id": "described", "name": "By its description", "adapter": "opensearch", "kind": "feed", "endpoint": "http://shelf.test/opensearch.xml", "params": {"description": "true"}},
    {"id": "page", "url_template": "http://shelf.test/search?q={q}", "response": "html", "params": {"match": "^http://shelf[.]test/2"}},
)  # fmt: skip
TITLES = {"First power from Merrin Sound", "Tidal array sets a record in May"}
ASK = SourceQuery(text="tidal array")


@pytest.fixture
def web(served: LoopbackWeb, monkeypatch: pytest.MonkeyPatch) -> LoopbackWeb:
    served.log.clear()
    served.faults.clear()
    monkeypatch.setenv("SHELF_KEY", TOKEN)
    # The process that parses reads its settings for itself.
    monkeypatch.setenv("SIGNAL_SEARCH_SOURCES__CUSTOM", msgspec.json.encode(ROWS).decode())
    return served


def _settings(web: LoopbackWeb, redis_url: str = "", *, rows: Any = ROWS) -> Settings:
    custom = [{"force_include": False, **row} for row in rows]
    return load(
        redis_url=redis_url,
        loopback={"only": True, "hosts": hosts(web.port)},
        politeness={"loopback_interval_s": 0.05},
        fetch={"clients": 2},
        sources={"enabled": [], "custom": custom},
    )


def _source(web: LoopbackWeb, name: str) -> Source:
    return Registry(_settings(web)).source(name)


def _get(web: LoopbackWeb, url: str, **headers: str) -> httpx.Response:
    path = url.removeprefix("http://shelf.test")
    with httpx.Client(trust_env=False) as client:
        return client.get(
            f"http://127.0.0.1:{web.port}{path}", headers={"host": "shelf.test", **headers}
        )


def _reply(url: str, got: httpx.Response) -> Reply:
    assert got.status_code == 200, got.text
    return Reply(
        url=url,
        status=200,
        content_type=got.headers["content-type"],
        body=got.content,
        text=got.text,
        fetched_at_ms=1,
    )


def test_a_json_row_finds_stories_with_authors_and_dates(web: LoopbackWeb) -> None:
    source = _source(web, "shelf")
    (request,) = source.adapter.build(msgspec.structs.replace(ASK, freshness="2026-01-01..2026-12-31"))  # fmt: skip
    parsed = source.adapter.parse(request, _reply(request.url, _get(web, request.url)))
    (story,) = parsed.documents
    assert (story.title, story.published, parsed.total) == ("Tidal array sets a record in May", "2026-05-28", 1)  # fmt: skip
    assert story.url == "http://shelf.test/2026/05/28/tidal-array-record"
    assert story.authors[0].literal
    assert web.log.entries("shelf.test")[-1].complaint == ""


@pytest.mark.parametrize("name", ["atom", "described"])
def test_an_atom_row_finds_the_same_stories(web: LoopbackWeb, name: str) -> None:
    source = _source(web, name)
    (request,) = source.adapter.build(ASK)
    parsed = source.adapter.parse(request, _reply(request.url, _get(web, request.url)))
    if name == "described":
        (request,) = parsed.requests
        parsed = source.adapter.parse(request, _reply(request.url, _get(web, request.url)))
    assert {each.title for each in parsed.documents} == TITLES


def test_a_result_page_leads_to_the_stories_and_is_no_document(web: LoopbackWeb) -> None:
    source = _source(web, "page")
    (request,) = source.adapter.build(ASK)
    got = _get(web, request.url)
    raw = RawReply(
        url=request.url, status=200, headers=dict(got.headers), body=got.content, fetched_at_ms=1
    )
    outcome = Registry(_settings(web)).read_page(request, extract(request, raw))
    assert outcome.parsed.documents == ()
    assert {each.url for each in outcome.parsed.requests} == {
        "http://shelf.test/2026/05/28/tidal-array-record",
        "http://shelf.test/2021/03/09/tidal-array-starts",
    }


def test_the_emulator_is_strict(web: LoopbackWeb) -> None:
    for path, status in (
        ("/api/search", 400),
        ("/api/search?q=x&colour=red", 400),
        ("/api/search?q=x&limit=99", 422),
        ("/api/search?q=x&from=today", 422),
        ("/private/search?q=x", 401),
        ("/private/search?q=x&token=wrong", 401),
        ("/nowhere", 404),
    ):
        assert _get(web, f"http://shelf.test{path}").status_code == status


# --- live: through frontier, robots, pace -----------------------------------------------------------------------------


def _check(settings: Settings, *names: str) -> dict[str, Health]:
    return {each.source_id: each for each in check_live(settings, within_s=60, only=names)}


@pytest.mark.timeout(240)
def test_each_source_is_asked_once_politely_and_says_how_it_does(
    web: LoopbackWeb, redis_url: str
) -> None:
    settings = _settings(web, redis_url)
    found = _check(settings)
    assert set(found) == {row["id"] for row in ROWS}
    assert {each.state for each in found.values()} == {"answered"}
    assert {name: each.results for name, each in found.items()} == {
        "shelf": 1,
        "private": 2,
        "by_token": 2,
        "atom": 2,
        "described": 1,
        "page": 2,
    }
    seen = web.log.entries("shelf.test")
    assert sum(each.path == "/robots.txt" for each in seen) == 1
    assert len(seen) == 1 + len(ROWS)
    ordered = sorted(seen, key=lambda each: each.t_start)
    pauses = [later.t_start - earlier.t_end for earlier, later in pairwise(ordered)]
    assert min(pauses) >= 50


@pytest.mark.timeout(240)
def test_what_fails_says_why_and_until_when(
    web: LoopbackWeb, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELF_KEY", "an-old-key")
    settings = _settings(web, redis_url)
    refused = _check(settings, "private")["private"]
    assert (refused.is_well, refused.results) == (False, 0)
    assert "an-old-key" not in repr(refused)
    web.faults.add(Fault(host="shelf.test", status=429, retry_after=300))
    busy = _check(settings, "shelf")["shelf"]
    assert (busy.state, busy.is_well) == ("failed", False)
    suspended = _check(settings, "atom")["atom"]
    assert (suspended.state, suspended.reason) == ("refused", "suspended")
    assert suspended.until.endswith("Z")


# --- without a network ------------------------------------------------------------------------------------------------


def test_the_setup_is_checked_without_a_request(web: LoopbackWeb) -> None:
    found = check_setup(_settings(web))
    assert {each.state for each in found} == {"ready"}
    assert web.log.entries() == []


def test_an_address_that_may_not_be_asked_is_not_well(web: LoopbackWeb) -> None:
    row = {**ROWS[0], "id": "inside", "url_template": "http://10.0.0.8/api?q={q}"}
    settings = _settings(web, rows=(row,)).model_copy(update={"loopback": load().loopback})
    (health,) = check_setup(settings)
    assert (health.state, health.reason, health.is_well) == ("refused", "address", False)
