"""The general and developer sources: what is asked for, what strict hosts say to it, and that nothing they send does harm."""

import gzip
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from signal_search.contracts.source import Parsed, Reply, Request, SourceQuery
from signal_search.errors import BadReply

from infra.catalog.catalog import shipped_rows
from infra.loopback_web.app import sites
from infra.loopback_web.exchange import Answer, Ask, Host
from infra.loopback_web.faults import Fault, spoil
from infra.settings import load
from workers.registry import Registry

AGENT = "SignalSearchBot/0.1 (+https://github.com/signal-search/signal-search)"
NOW_MS = 1_790_000_000_000
DAYS = "2020-01-31..2021-06-30"
CVE = "CVE-1998-90001"
IDS = [
    "wikidata",
    "github",
    "stackexchange",
    "hackernews",
    "internetarchive",
    "openlibrary",
    "cratesio",
    "mdn",
    "ietf",
    "nvd",
    "osv",
]
ROWS = {row.id: row for row in shipped_rows()}
RECORDINGS = Path(__file__).with_name("recordings")


@cache
def _registry() -> Registry:
    return Registry(load())


def _built(source_id: str, ask: SourceQuery) -> tuple[Request, ...]:
    return _registry().source(source_id).adapter.build(ask)


def _query(request: Request) -> dict[str, str]:
    return {name: values[-1] for name, values in parse_qs(urlsplit(request.url).query).items()}


def _asked(source_id: str, text: str = "x", **more: Any) -> dict[str, str]:
    (request,) = _built(source_id, SourceQuery(text=text, **more))
    return _query(request)


@cache
def _lenient() -> dict[str, Host]:
    return sites(enforce_pace=False)


class Web:
    """The virtual hosts, called as functions."""

    def __init__(self, *, enforce_pace: bool = False) -> None:
        self.hosts = sites(enforce_pace=True) if enforce_pace else _lenient()
        self.complaints: list[str] = []

    def get(self, url: str, *, agent: str = AGENT, at_ms: int = NOW_MS, active: int = 1) -> Answer:
        parts = urlsplit(url)
        answer = self.hosts[parts.netloc](
            Ask(
                host=parts.netloc,
                method="GET",
                path=unquote(parts.path),
                query=parts.query,
                headers={"user-agent": agent} if agent else {},
                now_ms=at_ms,
                active=active,
            )
        )
        self.complaints += [answer.complaint] if answer.complaint else []
        return answer


def _body(answer: Answer) -> bytes:
    packed = answer.headers.get("content-encoding") == "gzip"
    return gzip.decompress(answer.body) if packed else answer.body


def _reply(url: str, answer: Answer) -> Reply:
    body = _body(answer)
    return Reply(
        url=url,
        status=answer.status,
        content_type=answer.headers.get("content-type", ""),
        body=body,
        text=body.decode("utf-8", "replace"),
        fetched_at_ms=NOW_MS,
        headers=answer.headers,
    )


def _found(web: Web, source_id: str, ask: SourceQuery) -> tuple[list[str], list[str]]:
    """Return titles of documents and addresses of pages, in the order in which they come."""
    registry, titles, pages = _registry(), [], []
    todo = list(_built(source_id, ask))
    while todo:
        request = todo.pop(0)
        if request.kind == "page":
            pages.append(request.url)
            continue
        answer = web.get(request.url)
        assert answer.status == 200
        parsed = registry.parse(request, _reply(request.url, answer))
        titles += [document.title for document in parsed.documents]
        todo += parsed.requests
    return titles, pages


# --- what is asked for ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source_id", "parameter", "expected"),
    [
        ("github", "q", "x created:2020-01-31..2021-06-30"),
        ("stackexchange", "fromdate", "1580428800"),  # date -u -d 2020-01-31 +%s
        ("stackexchange", "todate", "1625097599"),  # the last second of 30 June 2021
        ("hackernews", "numericFilters", "created_at_i>=1580428800,created_at_i<1625097600"),
        ("internetarchive", "q", "x AND date:[2020-01-31 TO 2021-06-30]"),
        ("openlibrary", "q", "x first_publish_year:[2020 TO 2021]"),
    ],
)
def test_a_range_of_days_is_pushed_down(source_id: str, parameter: str, expected: str) -> None:
    assert _asked(source_id, freshness=DAYS)[parameter] == expected
    for other in ("pw", "2020-13-40..2021-01-01", "2021-06-30..2020-01-31"):
        assert _asked(source_id, freshness=other) == _asked(source_id)


@pytest.mark.parametrize(
    ("source_id", "parameter", "most"),
    [
        ("wikidata", "limit", 50),
        ("github", "per_page", 100),
        ("stackexchange", "pagesize", 100),
        ("hackernews", "hitsPerPage", 1000),
        ("internetarchive", "rows", 100),
        ("openlibrary", "limit", 100),
        ("cratesio", "per_page", 100),
        ("ietf", "limit", 100),
        ("nvd", "resultsPerPage", 100),
    ],
)
def test_sizes_are_clamped_to_what_the_api_takes(source_id: str, parameter: str, most: int) -> None:
    for wanted, sent in ((-5, "1"), (0, "1"), (7, "7"), (most, str(most)), (10_000, str(most))):
        assert _asked(source_id, limit=wanted)[parameter] == sent


LONG = [
    "word " * 80 + "y",
    "x" * 401,
    "y" * 2048,
    "潮汐能发电的可预测性" * 40,
    'a"b:c(d)[e]{f}*g?h~' * 40,
]


@pytest.mark.parametrize("source_id", [each for each in IDS if each != "osv"])
@pytest.mark.parametrize("text", LONG, ids=["words", "401", "2048", "chinese", "operators"])
def test_long_questions_are_cut_before_they_are_sent(source_id: str, text: str) -> None:
    web = Web()
    for ask in (SourceQuery(text=text), SourceQuery(text="x", terms=(text, text))):
        (request,) = _built(source_id, ask)
        assert web.get(request.url).status == 200
        assert len(request.url) < 4000
    assert web.complaints == []
    limits = {"github": 256, "mdn": 200, "stackexchange": 240, "wikidata": 250}
    name = "search" if source_id == "wikidata" else "q"
    assert len(_asked(source_id, text).get(name, "")) <= limits.get(source_id, 2000)
    assert len(_asked("hackernews", text)["query"].encode()) <= 512


@pytest.mark.parametrize(
    ("source_id", "text", "expected"),
    [
        ("github", "see https://github.com/lunnoy/slate-queue.", "repo:lunnoy/slate-queue"),
        ("github", "github.com/a/b.git fails", "repo:a/b"),
        ("github", "user:root NOT stars:>5 -fork", "user root stars 5"),
        ("stackexchange", '[python] "a b" user:5 -c', "python b user 5 c"),
        ("internetarchive", "collection:x OR (y", "collection AND x AND y"),
        ("openlibrary", "author:(x) ISBN 978-0-00-000001-9", "isbn:9780000000019"),
        ("openlibrary", "ISBN 0-00-000002-7", "isbn:0000000027"),
        ("openlibrary", "ISBN 978-0-00-000001-8", "ISBN 978 0 00"),  # a wrong check digit
        ("cratesio", "how do I cargo add slate-queue here", "slate-queue"),
        ("cratesio", "the crate `serde_json`", "serde_json"),
        ("mdn", "What is TideObserver?", "TideObserver"),
    ],
)
def test_names_are_asked_for_and_operators_are_not(
    source_id: str, text: str, expected: str
) -> None:
    assert _asked(source_id, text)["q"] == expected


@pytest.mark.parametrize(
    ("source_id", "text", "expected"),
    [
        ("ietf", "RFC 9309, rfc-0791 and RFC9309", ["rfc9309", "rfc791"]),
        ("ietf", "RFC 123456 xrfc 5", []),
        ("nvd", "cve-2021-44228 and CVE-2024-3094!", ["CVE-2021-44228", "CVE-2024-3094"]),
        ("nvd", "XCVE-2021-44228 CVE-21-4 CVE-2021-44228x", []),
        ("osv", "GHSA-JFH8-C2JP-5v3q, cve-2021-44228", ["GHSA-jfh8-c2jp-5v3q", "CVE-2021-44228"]),
        ("osv", "rustsec-2020-1 PYSEC-2024-12 GO-2022-99", ["RUSTSEC-2020-1", "PYSEC-2024-12", "GO-2022-99"]),
        ("osv", "RUSTSEC-2020 go-2 CVE-2021", []),
    ],
)  # fmt: skip
def test_numbers_are_asked_for_by_number(source_id: str, text: str, expected: list[str]) -> None:
    requests = _built(source_id, SourceQuery(text=text))
    by_number = [
        each for each in requests if source_id == "osv" or {"name", "cveId"} & _query(each).keys()
    ]
    last = [
        (*_query(each).values(), urlsplit(each.url).path.rsplit("/", 1)[1]) for each in by_number
    ]
    assert [values[-1] if source_id == "osv" else values[0] for values in last] == expected


def test_a_chinese_question_is_asked_in_chinese_where_there_is_chinese() -> None:
    assert _asked("wikidata", "茶", language="zh-TW")["language"] == "zh"
    assert _asked("wikidata", "tea", language="de")["language"] == "en"
    (request,) = _built("mdn", SourceQuery(text="潮汐", language="zh"))
    assert parse_qs(urlsplit(request.url).query)["locale"] == ["zh-CN", "en-US"]
    assert _asked("mdn", "tea", language="de")["locale"] == "en-US"


def test_another_site_of_the_network_is_a_row() -> None:
    custom = {
        "id": "seafaring",
        "name": "Seafaring",
        "adapter": "stackexchange",
        "kind": "api",
        "endpoint": "https://api.stackexchange.com/2.3/search/advanced",
        "params": {"site": "sound.meta"},
    }
    registry = Registry(load(sources=load().sources.model_dump() | {"custom": [custom]}))
    adapter = registry.source("seafaring").adapter
    (request,) = adapter.build(SourceQuery(text="x"))
    assert _query(request)["site"] == "sound.meta"


# --- strict hosts --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source_id", "ask", "title", "page"),
    [
        ("wikidata", SourceQuery(text="x", terms=("Mount Corvel", "height")), "Mount Corvel", ""),
        ("wikidata", SourceQuery(text="梅林岛", language="zh"), "梅林岛", ""),
        ("github", SourceQuery(text="tide prediction"), "merrin-survey/tidewatch", ""),
        ("stackexchange", SourceQuery(text="tidewatch streams"), "How do I predict tidal streams with tidewatch & a list of constants?", ""),
        ("hackernews", SourceQuery(text="tidal array"), "Tidal array sets a record in May", "http://news.test/2026/05/28/tidal-array-record"),
        ("internetarchive", SourceQuery(text="Merrin tidal streams"), "The Merrin Pilot, with directions for the tidal streams", ""),
        ("internetarchive", SourceQuery(text="railway", freshness="1930-01-01..1932-12-31"), "By slate train to Skarrow", ""),
        ("openlibrary", SourceQuery(text="ISBN 0-00-000002-7"), "Bees in the City", ""),
        ("openlibrary", SourceQuery(text="tides", freshness="1980-01-01..1990-01-01"), "The Tides of Merrin: A Sailor's Almanac", ""),
        ("cratesio", SourceQuery(text="cargo add slate-queue"), "slate-queue", ""),
        ("mdn", SourceQuery(text="TideObserver", language="zh"), "TideObserver（潮汐观察者）", "https://developer.mozilla.org/zh-CN/docs/Web/API/TideObserver"),
        ("ietf", SourceQuery(text="what does RFC 90001 say"), "RFC 90001: The Tide Table Exchange Format", "https://www.rfc-editor.org/rfc/rfc90001.html"),
        ("ietf", SourceQuery(text="x", terms=("harmonic",)), "RFC 90002: Harmonic Constants for Harbours", ""),
        ("nvd", SourceQuery(text=f"is {CVE} bad"), CVE, ""),
        ("nvd", SourceQuery(text="slate-queue lease"), "CVE-1998-90003", ""),
        ("osv", SourceQuery(text="GHSA-2222-3333-4444"), "GHSA-2222-3333-4444: Path traversal in tidewatch station names", ""),
    ],
)  # fmt: skip
def test_our_adapters_please_the_strict_hosts(
    source_id: str, ask: SourceQuery, title: str, page: str
) -> None:
    web = Web()
    titles, pages = _found(web, source_id, ask)
    assert (titles[0], web.complaints) == (title, [])
    assert (pages or [""])[0] == page
    assert [web.get(each).status for each in pages] == [200] * len(pages)


@pytest.mark.parametrize("source_id", [each for each in IDS if each != "osv"])
def test_nothing_found_is_no_error(source_id: str) -> None:
    web = Web()
    (request,) = _built(source_id, SourceQuery(text="zyzzyva"))
    parsed = _registry().parse(request, _reply(request.url, web.get(request.url)))
    assert (parsed.documents, parsed.requests, parsed.note) == ((), (), "")
    assert parsed.total == (None if source_id == "stackexchange" else 0)


@pytest.mark.parametrize(
    ("url", "status", "told"),
    [
        ("https://www.wikidata.org/w/api.php?action=wbsearchentities&search=x&format=json", 200, "missingparam"),
        ("https://www.wikidata.org/w/api.php?action=wbsearchentities&search=x&language=en&limit=51&format=json", 200, "badinteger"),
        ("https://www.wikidata.org/w/api.php?action=wbsearchentities&search=x&language=xx&format=json", 200, "badvalue"),
        ("https://www.wikidata.org/w/api.php?action=wbgetentities&format=json", 200, "param-missing"),
        ("https://www.wikidata.org/w/api.php?action=wbgetentities&ids=Q0&format=json", 200, "no-such-entity"),
        ("https://www.wikidata.org/w/api.php?action=wbgetentities&ids=Q1&props=all&format=json", 200, "badvalue"),
        ("https://www.wikidata.org/w/api.php?action=wbgetentities&ids=" + "|".join(f"Q{n}" for n in range(1, 52)) + "&format=json", 200, "toomanyvalues"),
        ("https://www.wikidata.org/w/api.php?action=wbsearchentities&search=x&language=en&colour=red&format=json", 200, "colour"),
        ("https://api.github.com/search/repositories", 422, "missing"),
        ("https://api.github.com/search/repositories?q=" + "x" * 257, 422, "invalid"),
        ("https://api.github.com/search/repositories?q=x&sort=beauty", 422, "invalid"),
        ("https://api.github.com/search/repositories?q=x&page=11&per_page=100", 422, "1000"),
        ("https://api.github.com/search/repositories?q=x&colour=red", 200, "colour"),
        ("https://api.github.com/repos/no/body/readme", 404, "Not Found"),
        ("https://api.stackexchange.com/2.3/search/advanced?q=x", 400, "bad_parameter"),
        ("https://api.stackexchange.com/2.3/search/advanced?q=x&site=nowhere", 400, "bad_parameter"),
        ("https://api.stackexchange.com/2.3/search/advanced?site=stackoverflow", 400, "bad_parameter"),
        ("https://api.stackexchange.com/2.3/search/advanced?q=x&site=stackoverflow&pagesize=101", 400, "bad_parameter"),
        ("https://api.stackexchange.com/2.3/search/advanced?q=x&site=stackoverflow&filter=mine", 400, "bad_parameter"),
        ("https://api.stackexchange.com/2.3/questions/1/answers?site=stackoverflow&sort=relevance", 400, "bad_parameter"),
        ("https://api.stackexchange.com/2.2/search", 400, "no_method"),
        ("https://hn.algolia.com/api/v1/search?query=x&colour=red", 400, "colour"),
        ("https://hn.algolia.com/api/v1/search?query=x&hitsPerPage=1001", 400, "hitsPerPage"),
        ("https://hn.algolia.com/api/v1/search?query=x&numericFilters=created_at>1", 400, "numericFilters"),
        ("https://hn.algolia.com/api/v1/search?query=x&tags=poem", 400, "tags"),
        ("https://archive.org/advancedsearch.php?output=json", 404, "Internet Archive"),
        ("https://archive.org/advancedsearch.php?q=x", 200, "<html>"),
        ("https://archive.org/advancedsearch.php?q=x&rows=5000&page=3&output=json", 200, "RANGE_OUT_OF_BOUNDS"),
        ("https://archive.org/advancedsearch.php?q=title:(x&output=json", 200, "BAD_QUERY"),
        ("https://openlibrary.org/search.json?q=x&limit=many", 422, "not a valid integer"),
        ("https://openlibrary.org/search.json?q=author:(x", 500, "solr"),
        ("https://crates.io/api/v1/crates?q=x&per_page=101", 400, "more than 100"),
        ("https://crates.io/api/v1/crates?q=x&sort=beauty", 400, "sort"),
        ("https://developer.mozilla.org/api/v1/search?locale=en-US", 400, "required"),
        ("https://developer.mozilla.org/api/v1/search?q=x&locale=tlh", 400, "locale"),
        ("https://developer.mozilla.org/api/v1/search?q=" + "x" * 201, 400, "max_length"),
        ("https://developer.mozilla.org/api/v1/search?q=x&size=101", 400, "max_value"),
        ("https://datatracker.ietf.org/api/v1/doc/document/?colour__contains=red", 400, "colour"),
        ("https://datatracker.ietf.org/api/v1/doc/document/?limit=-1", 400, "Invalid limit"),
        ("https://services.nvd.nist.gov/rest/json/cves/2.0?cve=CVE-1998-90001", 404, ""),
        ("https://services.nvd.nist.gov/rest/json/cves/2.0?cveId=90001", 404, ""),
        ("https://services.nvd.nist.gov/rest/json/cves/2.0?keywordSearch=x&resultsPerPage=2001", 404, ""),
        ("https://services.nvd.nist.gov/rest/json/cves/2.0?keywordSearch=x&pubStartDate=2026-01-01T00:00:00.000", 404, ""),
        ("https://api.osv.dev/v1/vulns/CVE-1998-90002", 404, "Bug not found."),
    ],
)  # fmt: skip
def test_the_hosts_are_strict(url: str, status: int, told: str) -> None:
    web = Web()
    answer = web.get(url)
    assert answer.status == status
    assert told in _body(answer).decode() + " ".join(web.complaints)
    if "nvd" in url:
        assert answer.headers["message"].startswith(("Invalid", "Both"))
    if "wikidata" in url and told != "colour":
        assert answer.headers["mediawiki-api-error"] == told


@pytest.mark.parametrize(
    ("url", "agent"),
    [
        ("https://www.wikidata.org/w/api.php?action=wbsearchentities&search=x&language=en&format=json", "python-httpx/0.28"),
        ("https://api.github.com/search/repositories?q=x", ""),
        ("https://crates.io/api/v1/crates?q=x", ""),
    ],
)  # fmt: skip
def test_who_does_not_say_who_asks_is_refused(url: str, agent: str) -> None:
    assert Web().get(url, agent=agent).status == 403
    assert Web().get(url).status == 200


PACED = {
    "https://api.github.com/search/repositories?q=x": (10, 60_000, 403),
    "https://api.stackexchange.com/2.3/search/advanced?q=x&site=stackoverflow": (30, 1_000, 400),
    "https://openlibrary.org/search.json?q=x": (3, 1_000, 429),
    "https://crates.io/api/v1/crates?q=x": (1, 1_000, 429),
    "https://services.nvd.nist.gov/rest/json/cves/2.0?keywordSearch=x": (5, 30_000, 403),
    "https://hn.algolia.com/api/v1/search?query=x": (10_000, 3_600_000, 429),
}


@pytest.mark.parametrize("url", PACED)
def test_published_rates_are_enforced_when_asked_for(url: str) -> None:
    most, within_ms, status = PACED[url]
    web = Web(enforce_pace=True)
    assert {web.get(url).status for _ in range(most)} == {200}
    assert web.get(url, at_ms=NOW_MS + within_ms - 1).status == status
    assert web.get(url, at_ms=NOW_MS + within_ms).status == 200
    lenient = Web()
    assert {lenient.get(url).status for _ in range(most + 1)} == {200}


def test_requests_to_wikidata_are_in_series() -> None:
    url = "https://www.wikidata.org/w/api.php?action=wbsearchentities&search=x&language=en&format=json"
    assert Web(enforce_pace=True).get(url, active=2).status == 429
    assert Web().get(url, active=2).status == 200


def test_a_used_up_allowance_of_github_says_when_it_comes_back() -> None:
    web = Web(enforce_pace=True)
    url = "https://api.github.com/search/repositories?q=x"
    for _ in range(10):
        web.get(url)
    refused = web.get(url, at_ms=NOW_MS + 15_000)
    assert refused.headers["x-ratelimit-remaining"] == "0"
    assert refused.headers["x-ratelimit-reset"] == "1790000060"


# --- a source's own word on its pace -------------------------------------------------------------------------------


def _stack_reply(body: dict[str, object]) -> tuple[Request, Reply]:
    (request,) = _built("stackexchange", SourceQuery(text="x"))
    answer = Answer(body=json.dumps(body).encode(), headers={"content-type": "application/json"})
    return request, _reply(request.url, answer)


@pytest.mark.parametrize(
    ("body", "pause_s"),
    [
        ({"items": [], "backoff": 10}, 10.0),
        ({"items": [], "backoff": -3}, 0.0),
        ({"items": []}, 0.0),
        ({"items": [], "backoff": None}, 0.0),
    ],
)
def test_backoff_is_a_pause(body: dict[str, object], pause_s: float) -> None:
    assert _registry().parse(*_stack_reply(body)).pause_s == pause_s


def test_the_tenth_reply_asks_for_a_pause_when_rates_are_enforced() -> None:
    web = Web(enforce_pace=True)
    (request,) = _built("stackexchange", SourceQuery(text="tides"))
    answers = [web.get(request.url, at_ms=NOW_MS + 1000 * n) for n in range(10)]
    parsed = [_registry().parse(request, _reply(request.url, each)) for each in answers]
    assert [each.pause_s for each in parsed] == [0.0] * 9 + [10.0]


def test_only_a_thousand_hits_can_be_reached_and_the_note_says_so() -> None:
    (request,) = _built("hackernews", SourceQuery(text="x"))
    body = json.dumps({"hits": [], "nbHits": 1001}).encode()
    parsed = _registry().parse(request, _reply(request.url, Answer(body=body)))
    assert parsed.note == "truncated: only the first 1000 can be reached"


def test_titles_of_questions_travel_with_the_request_for_answers() -> None:
    web = Web()
    (request,) = _built("stackexchange", SourceQuery(text="tides table"))
    assert request.words == ""
    (request,) = _built("stackexchange", SourceQuery(text="SQLite lease"))
    (answers,) = _registry().parse(request, _reply(request.url, web.get(request.url))).requests
    assert answers.words == "70000002 SQLite job queue: how long should a lease be?"
    parsed = _registry().parse(answers, _reply(answers.url, web.get(answers.url)))
    (answer,) = parsed.documents
    assert answer.title == "SQLite job queue: how long should a lease be?"
    assert answer.url == "https://stackoverflow.com/a/70000201"


# --- parse under fire ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source_id", IDS)
@pytest.mark.parametrize(
    "fault",
    [Fault(host="x", captcha_200=True), Fault(host="x", truncate=True), Fault(host="x", status=200, html_error=True)],
    ids=["captcha", "truncated", "html"],
)  # fmt: skip
def test_what_is_no_answer_is_a_bad_reply(source_id: str, fault: Fault) -> None:
    (request,) = _built(source_id, SourceQuery(text=CVE if source_id == "osv" else "tides"))
    answer = spoil(Web().get(request.url), fault)
    with pytest.raises(BadReply):
        _registry().parse(request, _reply(request.url, answer))


SCALARS = (
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False)
    | st.text(max_size=12) | st.sampled_from(["-1", "9" * 400, "\ud800", "<p>", "Q1", "+1e5"])
)  # fmt: skip
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["value", "id", "time", "amount", "name", "en"]), inner, max_size=3
        )
    ),
    max_leaves=6,
)


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _paths(each, (*path, key))
    if isinstance(value, list):
        for place, each in enumerate(value):
            yield from _paths(each, (*path, place))


def _with(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = _with(value[path[0]], path[1:], new)
    return copy


def _recorded(adapter: str) -> list[tuple[str, Any]]:
    """Return address and body of every recording of an adapter that is JSON."""
    folder = RECORDINGS / adapter
    cases = json.loads((folder / "expected.json").read_text("utf-8"))["cases"]
    wanted = [each for each in cases if "error" not in each]
    return [
        (each["request"], json.loads((folder / each["reply"]).read_text("utf-8")))
        for each in wanted
    ]


@pytest.mark.parametrize("source_id", IDS)
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_any_field_may_hold_anything(source_id: str, data: st.DataObject) -> None:
    """Every recorded reply, with one field after another replaced by what does not belong there."""
    adapter = _registry().source(source_id).adapter
    url, body = data.draw(st.sampled_from(_recorded(adapter.name)))
    for _ in range(data.draw(st.integers(1, 3))):
        paths = list(_paths(body))
        body = _with(body, data.draw(st.sampled_from(paths)), data.draw(VALUES))
    raw = json.dumps(body).encode()
    request = Request(url=url, adapter=adapter.name, source_id=source_id, kind="api")
    try:
        parsed = adapter.parse(request, _reply(url, Answer(body=raw)))
    except BadReply:
        return
    _is_sound(parsed)


def _is_sound(parsed: Parsed) -> None:
    """Whatever was sent: addresses are addresses, dates are dates, and all of it can be stored."""
    assert msgspec.json.decode(msgspec.json.encode(parsed), type=Parsed) == parsed
    assert parsed.pause_s >= 0
    for document in parsed.documents:
        assert document.url.startswith("https://")
        assert " " not in document.url
        assert re.fullmatch(r"(?:\d{4}(?:-\d\d(?:-\d\d)?)?)?", document.published)
        assert document.text.strip()
    assert all(each.url.startswith(("https://", "http://")) for each in parsed.requests)


@pytest.mark.parametrize("source_id", IDS)
def test_a_row_names_its_terms_and_its_licence(source_id: str) -> None:
    licence = r"CC0|CC BY|public domain|licence|Provisions|policy|belong"
    assert re.search(licence, ROWS[source_id].terms)
