"""Whatever callers of other APIs send: a request that the engine takes, or a refusal; and nothing told that is not so."""

import asyncio
import base64
from datetime import date
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from signal_search.errors import Refused

from api_gateway.checks import check_request
from api_gateway.compat import firecrawl_crawl, firecrawl_search, searxng, tavily
from api_gateway.compat.firecrawl_crawl import CrawlRequest
from api_gateway.compat.firecrawl_wire import FirecrawlSearch
from api_gateway.compat.searxng_fields import read
from api_gateway.compat.tavily_wire import TavilySearch
from api_gateway.compat.told import of_sites, shares
from api_gateway.decode import decode_face
from api_gateway.faces import Faces
from api_gateway.search_checks import check_search
from tests.fakes.hits import a_hit, a_search_result

TODAY = date(2026, 3, 1)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-5, 500)
    | st.floats(allow_nan=False, allow_infinity=False)
)
WORDS = st.sampled_from(
    [
        "",
        "tides",
        "news",
        "web",
        "day",
        "2026-01-01",
        "2026-02-30",
        "markdown",
        "include",
        "qdr:w",
        "cdr:1,cd_min:1/1/2026",
        "a.test",
        "https://a.test/",
        "restrict",
        "advanced",
        "en",
    ]
) | st.text(max_size=20)
VALUES = SCALARS | WORDS | st.lists(WORDS, max_size=3) | st.dictionaries(WORDS, WORDS, max_size=2)


def bodies(kind: Any, **needed: str) -> st.SearchStrategy[bytes]:
    names = st.sampled_from(kind.__struct_encode_fields__)
    extra = st.dictionaries(names, VALUES, max_size=4)
    return extra.map(lambda found: msgspec.json.encode({**needed, **found}))


@given(bodies(TavilySearch, query="tides"))
def test_tavilys_requests_are_taken_or_refused(body: bytes) -> None:
    try:
        asked = decode_face(msgspec.json.Decoder(TavilySearch), body)
        ours = tavily.request_of(asked, TODAY)
        check_search(ours)
    except Refused:
        return
    assert ours.query == asked.query
    assert (ours.max_results or 0) >= asked.max_results


@given(bodies(FirecrawlSearch, query="tides"))
def test_firecrawls_searches_are_taken_or_refused(body: bytes) -> None:
    try:
        asked = decode_face(msgspec.json.Decoder(FirecrawlSearch), body)
        ours = firecrawl_search.request_of(asked, TODAY, usual_s=10.0)
        check_search(ours)
    except Refused:
        return
    assert (ours.max_results or 0) >= asked.limit
    assert (ours.constraints.deadline_s or 0) <= 10


@given(bodies(CrawlRequest, url="https://a.test/"), st.integers(1, 50))
def test_firecrawls_crawls_are_taken_or_refused(body: bytes, most: int) -> None:
    try:
        asked = decode_face(msgspec.json.Decoder(CrawlRequest), body)
        ours = firecrawl_crawl.request_of(asked, most_pages=most, pause_s=14.0)
        check_request(ours)
    except Refused:
        return
    pages = getattr(ours.budget, "fetches", 0)
    assert 1 <= pages <= min(most, asked.limit or most)
    assert firecrawl_crawl.is_crawl(ours)


PARAMETERS = (
    "q",
    "format",
    "categories",
    "engines",
    "language",
    "pageno",
    "time_range",
    "safesearch",
)


@given(
    st.dictionaries(
        st.sampled_from(PARAMETERS), WORDS | st.sampled_from(["json", "2", "general"]), max_size=8
    )
)
def test_searxngs_parameters_are_taken_or_refused(fields: dict[str, str]) -> None:
    try:
        asked = read({"format": "json", "q": "tides", **fields})
        check_search(searxng.request_of(asked))
    except Refused:
        return
    assert asked.page >= 1
    assert asked.query


URLS = st.sampled_from(
    [
        "https://a.test/",
        "https://www.a.test/x",
        "http://b.test:80/",
        "https://ba.test/",
        "http://[",
        "",
        "urn:x",
    ]
)


@given(
    st.lists(URLS, max_size=6, unique=True),
    st.sets(st.sampled_from(["a.test", "b.test"])),
    st.booleans(),
)
def test_hits_are_parted_by_their_sites(urls: list[str], names: set[str], is_wanted: bool) -> None:
    hits = tuple(a_hit(url) for url in urls)
    of = {
        "https://a.test/": "a.test",
        "https://www.a.test/x": "a.test",
        "http://b.test:80/": "b.test",
    }
    kept = (
        of_sites(hits, wanted=sorted(names))
        if is_wanted
        else of_sites(hits, unwanted=sorted(names))
    )
    inside = [url for url in urls if of.get(url) in names]
    outside = [url for url in urls if of.get(url) not in names]
    expected = (inside if names else urls) if is_wanted else outside
    assert [each.url for each in kept] == expected
    assert searxng.reply_of(read({"q": "a", "format": "json"}), a_search_result(*hits))


@given(st.lists(st.floats(-10, 10), max_size=8))
def test_shares_keep_the_order(scores: list[float]) -> None:
    hits = tuple(a_hit(f"https://a.test/{at}", score=score) for at, score in enumerate(scores))
    told = list(shares(hits).values())
    assert all(0 <= each <= 1 for each in told)
    for one, own in zip(scores, told, strict=True):
        for other, its in zip(scores, told, strict=True):
            assert one >= other or own <= its


@given(st.binary(max_size=40), st.sampled_from(["Basic ", "basic ", "Bearer ", ""]))
def test_any_header_passes_on_to_whoever_says_who_it_is(raw: bytes, scheme: str) -> None:
    seen: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope)

    packed = scheme.encode() + base64.b64encode(raw)
    for value in (packed, scheme.encode() + raw):
        scope = {
            "type": "http",
            "method": "GET",
            "path": "/compat/searxng/search",
            "headers": [(b"authorization", value), (b"host", b"localhost")],
        }
        asyncio.run(Faces(app, body_bytes=100)(scope, None, None))  # type: ignore[arg-type]
    assert len(seen) == 2
    assert all(b"host" in dict(each["headers"]) for each in seen)
