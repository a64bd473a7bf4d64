"""Generic adapters beyond their recordings: templates, descriptions, result pages, and where a key may go."""

from typing import Any

import pytest
from signal_search.contracts.document import Document
from signal_search.contracts.source import (
    FetchOutcome,
    FetchState,
    Link,
    Parsed,
    Reply,
    Request,
    SkipReason,
    SourceQuery,
)
from signal_search.errors import BadReply

from workers.adapter import DocumentFacts, PageReader, SourceConfig, make_document
from workers.fetching.cache import fingerprint
from workers.sources.json_api import JsonApi
from workers.sources.opensearch import OpenSearch
from workers.sources.site import Site
from workers.sources.site_search import SiteSearch
from workers.template import fill, pushed_down

DATED = "2020-01-31..2021-06-30"


def _ask(text: str = "sea level", **more: Any) -> SourceQuery:
    return SourceQuery(text=text, **more)


def _reply(text: str, url: str = "https://find.example/d.xml") -> Reply:
    return Reply(
        url=url, status=200, content_type="", body=text.encode(), text=text, fetched_at_ms=1
    )


# --- templates --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("template", "ask", "words", "url"),
    [
        ("https://x.example/s?q={q}", _ask("产品 上线"), 0, "https://x.example/s?q=%E4%BA%A7%E5%93%81%20%E4%B8%8A%E7%BA%BF"),
        ("https://x.example/{q}/list", _ask("a/b?c#d&e"), 0, "https://x.example/a%2Fb%3Fc%23d%26e/list"),
        ("https://x.example/s?q={q}", _ask("x", terms=("sea level", "rise", "coast")), 2, "https://x.example/s?q=sea%20level%20rise"),
        ("https://x.example/s?q={q}", _ask('"sea" “level”'), 0, "https://x.example/s?q=sea%20level"),
        ("https://x.example/s?q={q}&from={from}&to={to}&l={lang}", _ask("x", language="zh-TW", freshness=DATED), 0, "https://x.example/s?q=x&from=2020-01-31&to=2021-06-30&l=zh"),
        ("https://x.example/s?q={q}&from={from}&to={to}&l={lang}&a=1", _ask("x", language=""), 0, "https://x.example/s?q=x&a=1"),
        ("https://x.example/s?from={from}", _ask("x"), 0, "https://x.example/s"),
        ("https://x.example/s?q={q}&n={limit}", _ask("x", limit=9999), 0, "https://x.example/s?q=x&n=50"),
        ("https://x.example/s?q={q}&n={limit}", _ask("x", limit=-5), 0, "https://x.example/s?q=x&n=1"),
        ("https://x.example/s?q={searchTerms}&n={count?}&p={startPage?}&x={referrer:source?}", _ask("x", limit=7), 0, "https://x.example/s?q=x&n=7&p=1"),
        ("https://{language}.x.example/s?q={q}", _ask("x", language="zh"), 0, "https://zh.x.example/s?q=x"),
    ],
)  # fmt: skip
def test_a_template_is_filled(template: str, ask: SourceQuery, words: int, url: str) -> None:
    assert fill(template, ask, words=words) == url


def test_what_a_template_asks_for_and_nobody_knows_is_refused() -> None:
    with pytest.raises(BadReply, match="what is not known"):
        fill("https://x.example/?q={searchTerms}&k={apiKey}", _ask())


def test_a_template_says_what_it_pushes_down() -> None:
    assert pushed_down("https://x.example/?q={q}") == frozenset()
    assert pushed_down("https://x.example/?q={q}&l={lang}") == {"language"}
    assert pushed_down("https://x.example/?q={q}&a={from}&b={to}") == {"freshness"}
    assert JsonApi(SourceConfig(id="x", endpoint="https://x.example/?q={q}&l={lang}")).pushes_down == {"language"}  # fmt: skip


# --- JSON --------------------------------------------------------------------------------------------------------------


def _json(items: str = "r", params: dict[str, str] | None = None, **fields: str) -> JsonApi:
    item_map = {"url": "u", "title": "t", "snippet": "s", **fields}
    return JsonApi(
        SourceConfig(
            id="own",
            endpoint="https://kb.example/api?q={q}",
            json_items=items,
            item_map=item_map,
            params=params or {},
            auth="KB_KEY",
            auth_place="header:X-Key",
        )
    )


def _parsed(adapter: JsonApi, text: str) -> Parsed:
    (request,) = adapter.build(_ask())
    return adapter.parse(request, _reply(text, request.url))


@pytest.mark.parametrize(
    ("items", "body"),
    [
        ("", '[{"u": "/1", "t": "One"}]'),
        ("a.0.b", '{"a": [{"b": [{"u": "/1", "t": "One"}]}, {"b": []}]}'),
        ("a.b", '{"a": [{"b": [{"u": "/1", "t": "One"}]}]}'),
    ],
)
def test_results_are_found_by_their_path(items: str, body: str) -> None:
    found = _parsed(_json(items), body).documents
    assert [(each.url, each.title) for each in found] == [("https://kb.example/1", "One")]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("id", "https://kb.example/7"),
        ("https://pages.example/{id}/{k.slug}", "https://pages.example/7/x-y"),
        ("missing|{nothing}|k.link", "https://kb.example/l"),
        ("{id}{nothing}", "https://found.example/by-form"),
        ("bad", "https://found.example/by-form"),
    ],
)
def test_an_address_is_a_path_a_sentence_or_whatever_looks_like_one(
    url: str, expected: str
) -> None:
    body = '{"r": [{"id": 7, "t": "T", "bad": "javascript:alert(1)", "k": {"slug": "x-y", "link": "/l"}, "w": "https://found.example/by-form"}]}'
    assert [each.url for each in _parsed(_json(url=url), body).documents] == [expected]


def test_a_key_goes_to_the_api_and_never_to_the_pages_it_names() -> None:
    adapter = _json(params={"follow": "2"})
    (request,) = adapter.build(_ask())
    assert (request.auth, request.auth_place) == ("KB_KEY", "header:X-Key")
    rows = ", ".join(f'{{"u": "https://o{n}.example/", "t": "T{n}"}}' for n in range(3))
    pages = _parsed(adapter, f'{{"r": [{rows}]}}').requests
    assert [(each.url, each.kind, each.auth) for each in pages] == [
        ("https://o0.example/", "page", ""),
        ("https://o1.example/", "page", ""),
    ]


def test_a_static_list_is_one_call_for_all_questions_and_bounded() -> None:
    adapter = _json(params={"static": "true"})
    assert adapter.shared
    assert not _json().shared
    rows = ", ".join(f'{{"u": "/{n}", "t": "T"}}' for n in range(60))
    parsed = _parsed(adapter, f'{{"r": [{rows}]}}')
    assert (len(parsed.documents), parsed.note) == (50, "10 further results left out")


@pytest.mark.parametrize(
    ("stated", "day"),
    [
        ("2024", "2024"),
        ("2024-02", "2024-02"),
        ("2024-02-30", "2024-02"),
        ("2024-05-28T10:00:00Z", "2024-05-28"),
        ("20240528", "2024-05-28"),
        ("1716890000", ""),
        ("yesterday", ""),
    ],
)
def test_a_date_is_what_it_says_and_no_more(stated: str, day: str) -> None:
    body = f'{{"r": [{{"u": "/1", "t": "T", "d": "{stated}"}}]}}'
    assert [each.published for each in _parsed(_json(published="d"), body).documents] == [day]


# --- OpenSearch --------------------------------------------------------------------------------------------------------

DESCRIPTION = '<?xml version="1.0"?><OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">{}</OpenSearchDescription>'
ATOM_URL = '<Url type="application/atom+xml" template="{}"/>'


def _described() -> tuple[OpenSearch, Request]:
    adapter = OpenSearch(
        SourceConfig(
            id="own", endpoint="https://find.example/d.xml", params={"description": "true"}
        )
    )
    (request,) = adapter.build(_ask("x", terms=("sea level", "rise"), language="de"))
    return adapter, request


def test_a_description_leads_to_the_search_with_the_words_of_the_question() -> None:
    adapter, request = _described()
    assert (request.url, request.words) == ("https://find.example/d.xml", "sea level rise")
    urls = (
        '<Url type="text/html" template="/html?q={searchTerms}"/>'
        '<Url type="application/rss+xml" template="/rss?q={searchTerms}"/>'
        + ATOM_URL.format("/atom?q={searchTerms}&amp;l={language}")
    )
    parsed = adapter.parse(request, _reply(DESCRIPTION.format(urls)))
    assert [(each.url, each.depth, each.kind) for each in parsed.requests] == [
        ("https://find.example/atom?q=sea%20level%20rise&l=de", 1, "feed")
    ]
    feed = '<feed xmlns="http://www.w3.org/2005/Atom"><entry><title>T</title><link href="/1"/></entry></feed>'
    found = adapter.parse(parsed.requests[0], _reply(feed, parsed.requests[0].url))
    assert [each.url for each in found.documents] == ["https://find.example/1"]


@pytest.mark.parametrize(
    ("description", "why"),
    [
        (DESCRIPTION.format('<Url type="text/html" template="/q={searchTerms}"/>'), "neither Atom nor RSS"),
        (DESCRIPTION.format(ATOM_URL.format("https://evil.test/?q={searchTerms}")), "another site"),
        (DESCRIPTION.format(ATOM_URL.format("/s?q={searchTerms}&amp;k={apiKey}")), "what is not known"),
        ("<html><body>Sign in</body></html>", "something else"),
        ("<OpenSearchDescription", "something else"),
        ("", "something else"),
    ],
)  # fmt: skip
def test_a_description_that_leads_nowhere_is_a_bad_reply(description: str, why: str) -> None:
    adapter, request = _described()
    with pytest.raises(BadReply, match=why):
        adapter.parse(request, _reply(description))


def test_two_questions_to_one_description_are_two_requests() -> None:
    adapter, request = _described()
    (other,) = adapter.build(_ask("tides"))
    assert fingerprint(request) != fingerprint(other)


# --- result pages ------------------------------------------------------------------------------------------------------

LINKS = (
    Link(url="https://find.org/about", text="About the site"),
    Link(url="https://find.org/search?q=sea&page=2", text="More on sea level"),
    Link(url="https://find.org/doc/1", text="Sea level and tides"),
    Link(url="https://docs.find.org/doc/2", text="Level crossings"),
    Link(url="https://elsewhere.org/sea-level", text="Sea level"),
    Link(url="https://find.org/doc/3", text="Imprint"),
)


def _search(**params: str) -> tuple[SiteSearch, Request]:
    adapter = SiteSearch(
        SourceConfig(id="own", endpoint="https://find.org/search?q={q}", params=params)
    )
    (request,) = adapter.build(_ask("sea level"))
    return adapter, request


def _page(text: str = "Results") -> Document:
    return make_document(
        url="https://find.org/search?q=sea",
        title="Search",
        text=text,
        source_id="own",
        fetched_at_ms=1,
        facts=DocumentFacts(record=False),
    )


def _outcome(state: FetchState = FetchState.FETCHED, reason: str = "", **more: Any) -> FetchOutcome:
    parsed = Parsed(documents=(_page(),) if state is FetchState.FETCHED else (), links=LINKS)
    return FetchOutcome(
        state=state, url="https://find.org/search?q=sea", reason=reason, parsed=parsed, **more
    )


def test_results_are_links_of_the_site_that_share_words_best_first() -> None:
    adapter, request = _search()
    assert request.kind == "page"
    assert request.site == ""
    found = adapter.read_page(request, _outcome())
    assert [each.url for each in found.parsed.requests] == [
        "https://find.org/doc/1",
        "https://docs.find.org/doc/2",
    ]
    assert (found.parsed.documents, found.parsed.links) == ((), ())


def test_a_pattern_takes_the_results_in_the_order_of_the_page() -> None:
    adapter, request = _search(match="/doc/", follow="2")
    found = adapter.read_page(request, _outcome()).parsed.requests
    assert [each.url for each in found] == [
        "https://find.org/doc/1",
        "https://docs.find.org/doc/2",
    ]
    assert {(each.kind, each.depth) for each in found} == {("page", 1)}


def test_a_page_without_results_says_so() -> None:
    adapter, request = _search(match="/nothing/")
    found = adapter.read_page(request, _outcome()).parsed
    assert (found.requests, found.note) == ((), "no results among the links of the page")


def test_a_list_worth_quoting_is_kept_on_request() -> None:
    adapter, request = _search(keep="true")
    assert adapter.read_page(request, _outcome()).parsed.documents == (_page(),)


@pytest.mark.parametrize("reason", [SkipReason.NOINDEX, SkipReason.EMPTY])
def test_a_result_page_that_may_not_be_kept_leads_on(reason: SkipReason) -> None:
    adapter, request = _search()
    found = adapter.read_page(request, _outcome(FetchState.SKIPPED, reason))
    assert (found.state, found.reason, len(found.parsed.requests)) == (FetchState.FETCHED, "", 2)


@pytest.mark.parametrize(
    "outcome",
    [
        _outcome(FetchState.SKIPPED, SkipReason.LOGIN_WALL),
        _outcome(FetchState.SKIPPED, SkipReason.ROBOTS),
        _outcome(FetchState.MISSED, "source_timeout"),
        _outcome(FetchState.REDIRECTED),
    ],
)
def test_a_result_page_that_did_not_come_stays_what_it_is(outcome: FetchOutcome) -> None:
    adapter, request = _search()
    assert adapter.read_page(request, outcome) == outcome


def test_the_pages_of_results_are_documents_like_any_other() -> None:
    adapter, request = _search()
    (result, _) = adapter.read_page(request, _outcome()).parsed.requests
    assert adapter.read_page(result, _outcome()) == _outcome()


def test_only_who_has_something_to_say_reads_pages() -> None:
    assert isinstance(_search()[0], PageReader)
    assert not isinstance(Site(SourceConfig(id="x", endpoint="https://x.example/")), PageReader)
