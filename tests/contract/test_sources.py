"""Every adapter against recorded replies; build is pure and stays at home; parse lets nothing out but BadReply."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from signal_search.contracts.source import Reply, Request, SourceQuery
from signal_search.errors import BadReply

from workers.adapter import Adapter, SourceConfig
from workers.registry import _ADAPTERS

RECORDINGS = Path(__file__).with_name("recordings")
FETCHED_AT_MS = 1_790_000_000_000
TYPES = {
    ".json": "application/json",
    ".xml": "application/xml",
    ".html": "text/html",
    ".txt": "text/plain",
}


def _recorded() -> Iterator[Any]:
    for folder in sorted(RECORDINGS.iterdir()):
        expected = json.loads((folder / "expected.json").read_text("utf-8"))
        for case in expected["cases"]:
            yield pytest.param(
                folder, expected["config"], case, id=f"{folder.name}-{case['reply']}"
            )


def _adapter(name: str, config: dict[str, Any] | None = None) -> Adapter:
    if config is None:
        config = json.loads((RECORDINGS / name / "expected.json").read_text("utf-8"))["config"]
    return _ADAPTERS[name](msgspec.convert(config, SourceConfig))


def _reply(
    body: bytes,
    *,
    url: str,
    kind: str = "text/plain",
    headers: dict[str, str] | None = None,
    status: int = 200,
) -> Reply:
    return Reply(
        url=url,
        status=status,
        content_type=kind,
        body=body,
        text=body.decode("utf-8", "replace"),
        fetched_at_ms=FETCHED_AT_MS,
        headers=headers or {},
    )


def _request(adapter: Adapter, case: dict[str, Any]) -> Request:
    return Request(
        url=case["request"],
        adapter=adapter.name,
        source_id="x",
        kind=case.get("kind", "api"),
        site=case.get("site", ""),
    )


def test_every_adapter_has_recordings() -> None:
    assert {folder.name for folder in RECORDINGS.iterdir()} == set(_ADAPTERS)


def test_adapters_are_registered_under_their_own_name() -> None:
    assert {name: kind.name for name, kind in _ADAPTERS.items()} == {
        name: name for name in _ADAPTERS
    }


@pytest.mark.parametrize(("folder", "config", "case"), list(_recorded()))
def test_recorded_replies_are_read_as_expected(
    folder: Path, config: dict[str, Any], case: dict[str, Any]
) -> None:
    adapter = _adapter(folder.name, config)
    path = folder / case["reply"]
    reply = _reply(
        path.read_bytes(),
        url=case["request"],
        kind=TYPES[path.suffix],
        headers=case.get("headers"),
        status=case.get("status", 200),
    )
    if "error" in case:
        with pytest.raises(BadReply) as caught:
            adapter.parse(_request(adapter, case), reply)
        assert (caught.value.code, caught.value.message) == ("source_bad_reply", case["error"])
        assert caught.value.retry_after_s == case.get("retry_after_s")
        return
    parsed = adapter.parse(_request(adapter, case), reply)
    assert [each.url for each in parsed.requests] == case["requests"]
    assert (parsed.total, parsed.note) == (case.get("total"), case.get("note", ""))
    assert [[link.url, link.text, link.context] for link in parsed.links] == case.get("links", [])
    if "hits" in case:
        lines = [[each.url, each.title, each.snippet, each.published] for each in parsed.hits]
        assert lines == case["hits"]
    assert parsed.answer == case.get("answer", "")
    found = json.loads(msgspec.json.encode(parsed.documents))
    shown = [
        {key: each[key] for key in wanted}
        for each, wanted in zip(found, case["documents"], strict=False)
    ]
    assert shown == case["documents"]
    assert len(found) == len(case["documents"])
    assert {each["source_id"] for each in found} <= {config["id"]}
    assert {each["fetched_at_ms"] for each in found} <= {FETCHED_AT_MS}


# --- build ---------------------------------------------------------------------------------------------------------

ARXIV_ENTRY = (
    "<feed xmlns='http://www.w3.org/2005/Atom' xmlns:a='http://arxiv.org/schemas/atom'><entry>"
    "<id>http://arxiv.org/abs/2101.99001v1</id><title>t</title><summary>{summary}</summary>"
    "<a:comment>{comment}</a:comment></entry></feed>"
)
QUESTIONS = st.builds(
    SourceQuery,
    text=st.text(max_size=200),
    terms=st.lists(st.text(max_size=30), max_size=8).map(tuple),
    language=st.sampled_from(["en", "zh", "zh-CN", "de"]),
    freshness=st.sampled_from([None, "pw", "2020-01-01..2021-06-30"]),
    limit=st.integers(-5, 10_000),
)


# Sources that can be asked by number alone: any other question gives no request.
BY_NUMBER = {"osv": "CVE-1998-90001"}


def _question(name: str) -> SourceQuery:
    return SourceQuery(text=BY_NUMBER.get(name, "x"))


@pytest.mark.parametrize("name", sorted(_ADAPTERS))
@settings(max_examples=60, deadline=None)
@given(ask=QUESTIONS)
def test_build_is_deterministic_and_stays_on_its_host(name: str, ask: SourceQuery) -> None:
    adapter = _adapter(name)
    requests = adapter.build(ask)
    assert requests == _adapter(name).build(ask)
    assert requests or name in BY_NUMBER
    assert adapter.build(_question(name))
    endpoint = json.loads((RECORDINGS / name / "expected.json").read_text("utf-8"))["config"][
        "endpoint"
    ]
    hosts = {urlsplit(endpoint.replace("{language}", edition)).netloc for edition in ("en", "zh")}
    for request in requests:
        parts = urlsplit(request.url)
        assert parts.netloc in hosts
        assert request.url.isascii()
        assert not any(sign in request.url for sign in " \n\r\t")
        assert parts.fragment == ""
        assert request.adapter == name


def _query(request: Request) -> dict[str, str]:
    return {name: values[-1] for name, values in parse_qs(urlsplit(request.url).query).items()}


@pytest.mark.parametrize(
    ("language", "host"),
    [("en", "en"), ("zh", "zh"), ("zh-TW", "zh"), ("de", "en"), ("", "en")],
)
def test_wikipedia_asks_the_edition_of_the_question(language: str, host: str) -> None:
    (request,) = _adapter("wikipedia").build(SourceQuery(text="tea", language=language))
    assert urlsplit(request.url).netloc == f"{host}.wikipedia.org"
    assert request.accept_language == language


def test_wikipedia_searches_words_not_operators() -> None:
    (request,) = _adapter("wikipedia").build(SourceQuery(text='insource:/a.*b/ -"tea" ~x'))
    assert _query(request)["srsearch"] == "insource a. b tea x"


@pytest.mark.parametrize(
    ("ask", "expected"),
    [
        (
            SourceQuery(text="ignored", terms=("tidal power", "cost")),
            'all:"tidal power" AND all:cost',
        ),
        (SourceQuery(text="What is the cost of tea?"), "all:cost AND all:tea"),
        (
            SourceQuery(text='au:Vale "slow rotors"', terms=("seals",)),
            'au:Vale AND all:"slow rotors" AND all:seals',
        ),
        (
            SourceQuery(text='ti:"slow rotors" cat:cs.LG', terms=("rotors",)),
            'ti:"slow rotors" AND cat:cs.LG',
        ),
        (SourceQuery(text="x", terms=("a) OR all:b",)), 'all:"a or all b"'),
        (
            SourceQuery(text="x", terms=("tea",), freshness="2020-01-31..2021-06-30"),
            "all:tea AND submittedDate:[202001310000 TO 202106302359]",
        ),
        (SourceQuery(text="x", terms=("tea",), freshness="pw"), "all:tea"),
        (
            SourceQuery(text="x", terms=tuple("bcdefghk")),
            " AND ".join(f"all:{each}" for each in "bcdefg"),
        ),
    ],
)
def test_arxiv_joins_terms_phrases_and_fields(ask: SourceQuery, expected: str) -> None:
    (request,) = _adapter("arxiv").build(ask)
    assert _query(request)["search_query"] == expected


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("arXiv:2101.99001v2", "2101.99001v2"),
        (
            "see https://arxiv.org/abs/2101.99001, and math.GT/0309136v1.",
            "2101.99001,math.GT/0309136v1",
        ),
        ("ID 0704.0001 again 0704.0001", "0704.0001"),
    ],
)
def test_arxiv_asks_for_ids_by_id(text: str, ids: str) -> None:
    (request,) = _adapter("arxiv").build(SourceQuery(text=text))
    assert _query(request)["id_list"] == ids
    assert "search_query" not in _query(request)


@pytest.mark.parametrize(
    "text",
    [
        "pi is 3.14159",
        "in 2021.99001 the",
        "1.2101.99001",
        "10.5555/2101.99001",
        "1399.12345",
        "and/1234567",
    ],
)
def test_arxiv_takes_no_other_number_for_an_id(text: str) -> None:
    (request,) = _adapter("arxiv").build(SourceQuery(text=text))
    assert "id_list" not in _query(request)


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("what says 10.5555/Abc.1?", ["/works/10.5555%2Fabc.1"]),
        ("(https://doi.org/10.5555/a(1)b).", ["/works/10.5555%2Fa%281%29b"]),
        ("10.5555/a, 10.5555/b; 10.5555/a", ["/works/10.5555%2Fa", "/works/10.5555%2Fb"]),
        ("（参见10.5555/甲乙）", ["/works/10.5555%2F%E7%94%B2%E4%B9%99"]),
        ("10.5555/../members", ["/works/10.5555%2F..%2Fmembers"]),
        ("version 10.5 of x", ["/works"]),
    ],
)
def test_crossref_asks_for_dois_by_doi(text: str, paths: list[str]) -> None:
    requests = _adapter("crossref").build(SourceQuery(text=text))
    assert [urlsplit(each.url).path for each in requests] == paths


def test_crossref_pushes_dates_down_and_says_who_asks() -> None:
    config = {
        "id": "crossref",
        "endpoint": "https://api.crossref.org/works",
        "mailto": "me@example.org",
    }
    (request,) = _adapter("crossref", config).build(
        SourceQuery(text="tea time", freshness="2020-01-31..2021-06-30", limit=7)
    )
    query = _query(request)
    assert query["query"] == "tea time"
    assert query["rows"] == "7"
    assert query["mailto"] == "me@example.org"
    assert query["filter"] == "from-pub-date:2020-01-31,until-pub-date:2021-06-30"


@pytest.mark.parametrize(
    ("start", "site"),
    [
        ("https://docs.example/guide/x.html", "https://docs.example/"),
        ("http://127.0.0.1:8000/", "http://127.0.0.1:8000/"),
        ("https://docs.example:443/", "https://docs.example/"),
        ("http://[::1]:8000/a", "http://[::1]:8000/"),
    ],
)
def test_site_starts_at_its_page_and_knows_its_bounds(start: str, site: str) -> None:
    (request,) = _adapter("site", {"id": f"site:{start}", "endpoint": start}).build(
        SourceQuery(text="x")
    )
    assert (request.url, request.site, request.kind, request.depth) == (start, site, "page", 0)


def test_site_reads_packed_sitemaps_and_stops_at_bombs() -> None:
    adapter = _adapter("site")
    request = Request(
        url="http://docs.example/s.xml.gz", adapter="site", source_id="x", kind="sitemap"
    )
    packed = gzip.compress(b"<urlset><url><loc>http://docs.example/a</loc></url></urlset>")
    assert [link.url for link in adapter.parse(request, _reply(packed, url=request.url)).links] == [
        "http://docs.example/a"
    ]
    bomb = gzip.compress(b" " * 11_000_000)
    with pytest.raises(BadReply, match="unpacks to too much"):
        adapter.parse(request, _reply(bomb, url=request.url))


def test_site_follows_nested_indexes_only_so_far() -> None:
    adapter = _adapter("site")
    body = (RECORDINGS / "site" / "index.xml").read_bytes()
    deep = Request(
        url="http://docs.example/s.xml", adapter="site", source_id="x", kind="sitemap", depth=2
    )
    parsed = adapter.parse(deep, _reply(body, url=deep.url))
    assert (parsed.requests, parsed.note) == ((), "sitemap indexes nested too deeply")


@pytest.mark.parametrize(
    ("comment", "summary", "withdrawn"),
    [
        ("withdrawn by the author", "", True),
        ("5 pages, 2 figures. This paper has been withdrawn due to an error", "", True),
        ("This submission was withdrawn", "", True),
        ("", "This article has been withdrawn by arXiv administrators", True),
        ("revised version of a withdrawn paper", "We thank a withdrawn monk.", False),
        ("", "The army was withdrawn in 1815. This paper has data.", False),
        ("12 pages", "", False),
    ],
)
def test_arxiv_knows_withdrawn_papers(comment: str, summary: str, withdrawn: bool) -> None:
    body = ARXIV_ENTRY.format(comment=comment, summary=summary)
    parsed = _adapter("arxiv").parse(
        Request(
            url="https://export.arxiv.org/api/query", adapter="arxiv", source_id="arxiv", kind="api"
        ),
        _reply(body.encode(), url="https://export.arxiv.org/api/query"),
    )
    assert [document.retracted for document in parsed.documents] == [withdrawn]


# --- parse under fire ----------------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    "query",
                    "search",
                    "pages",
                    "searchinfo",
                    "error",
                    "code",
                    "pageid",
                    "title",
                    "extract",
                    "revisions",
                    "status",
                    "message",
                    "message-type",
                    "items",
                    "DOI",
                    "type",
                    "author",
                    "abstract",
                    "issued",
                    "date-parts",
                    "update-to",
                    "relation",
                ]
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=25,
)
WORDS = [
    b"<",
    b">",
    b"</",
    b"/>",
    b"feed",
    b"entry",
    b"rss",
    b"item",
    b"link",
    b"&",
    b";",
    b"<![CDATA[",
    b"]]>",
]
WORDS += [
    b"<?xml version='1.0'?>",
    b" xmlns='http://www.w3.org/2005/Atom'",
    b"urlset",
    b"loc",
    b"\xff",
    b"\x00",
]
MARKUP = st.lists(st.sampled_from(WORDS) | st.binary(max_size=4), max_size=40).map(b"".join)


def _survives(name: str, body: bytes) -> None:
    adapter = _adapter(name)
    for request in adapter.build(_question(name)):
        try:
            adapter.parse(request, _reply(body, url=request.url))
        except BadReply:
            continue


@pytest.mark.parametrize("name", sorted(_ADAPTERS))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(body=st.binary(max_size=300) | MARKUP)
def test_parse_lets_nothing_out_but_bad_reply_on_bytes(name: str, body: bytes) -> None:
    _survives(name, body)


@pytest.mark.parametrize("name", ["wikipedia", "crossref"])
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(value=JSON)
def test_parse_lets_nothing_out_but_bad_reply_on_json(name: str, value: object) -> None:
    _survives(name, json.dumps(value).encode())
    wrapped = {
        "status": "ok",
        "message-type": "work-list",
        "message": {"items": [{"DOI": "10.5555/x"} | _as_dict(value)]},
    }
    _survives(name, json.dumps(wrapped).encode())
    _survives(name, json.dumps({"query": {"pages": [{"title": "t"} | _as_dict(value)]}}).encode())


def _as_dict(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


@pytest.mark.parametrize("name", sorted(_ADAPTERS))
def test_recordings_cut_anywhere_do_no_harm(name: str) -> None:
    for path in sorted((RECORDINGS / name).iterdir()):
        body = path.read_bytes()
        for end in range(0, len(body), max(1, len(body) // 40)):
            _survives(name, body[:end])


@pytest.mark.parametrize("name", sorted(_ADAPTERS))
def test_deep_nesting_is_a_bad_reply(name: str) -> None:
    for body in (b"[" * 100_000, b'{"a":' * 100_000, b"<a>" * 100_000):
        adapter = _adapter(name)
        (request,) = adapter.build(_question(name))
        with pytest.raises(BadReply):
            adapter.parse(request, _reply(body, url=request.url))


@pytest.mark.parametrize("name", sorted(_ADAPTERS))
@pytest.mark.parametrize(
    "body",
    [
        b" " * 4_000_000,
        b"<" * 4_000_000,
        b"<feed xmlns='http://www.w3.org/2005/Atom'><entry><id>http://arxiv.org/abs/1</id><title>t</title>"
        b"<link href='http://x.example/'/><summary>"
        + b"&lt;p" * 500_000
        + b"</summary></entry></feed>",
        b'{"query":{"pages":[{"title":"t","extract":"' + b"== " + b" " * 4_000_000 + b'"}]}}',
        b'{"query":{"pages":[{"title":"t","extract":"' + b"=" * 4_000_000 + b'"}]}}',
        b'{"status":"ok","message-type":"work","message":{"DOI":"10.5555/x","title":["t"],"abstract":"'
        + b"<a" * 2_000_000
        + b'"}}',
        b'{"status":"ok","message-type":"work","message":{"DOI":"10.5555/x","title":["'
        + b"." * 4_000_000
        + b'"]}}',
    ],
    ids=["blanks", "brackets", "markup", "heading", "equals", "tags", "dots"],
)
def test_large_hostile_replies_take_linear_time(name: str, body: bytes) -> None:
    """Quadratic work on four megabytes would take hours; the test's own time limit is the judge."""
    _survives(name, body)


def test_arxiv_comments_of_dots_take_linear_time() -> None:
    _survives(
        "arxiv", ARXIV_ENTRY.format(comment="." * 4_000_000, summary="." * 4_000_000).encode()
    )
