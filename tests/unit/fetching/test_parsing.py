"""From a raw reply to a stored, redacted document: HTML, text, PDF, and what is not kept."""

import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import msgspec
import pytest
from signal_search.contracts.document import Author, Document
from signal_search.contracts.hit import Hit
from signal_search.contracts.source import FetchOutcome, FetchState, Link, Parsed, SkipReason

from infra.http import RawReply
from scoring.identity import document_id
from tests.fakes.fetching import NOW_MS, a_reply, a_request
from tests.fakes.pages import ARTICLE, PARAGRAPHS, pdf
from workers.fetching.parsing import extract, redact_parsed

URL = "https://courier.example.org/news/river"


def read(
    body: bytes | str, content_type: str = "text/html; charset=utf-8", **fields: object
) -> FetchOutcome:
    raw_body = body.encode() if isinstance(body, str) else body
    raw = a_reply(raw_body, content_type, url=URL, **fields)  # type: ignore[arg-type]
    return extract(a_request(URL), raw, "SignalSearchBot")


def document(outcome: FetchOutcome) -> Document:
    assert outcome.state == FetchState.FETCHED, outcome
    return outcome.parsed.documents[0]


def with_head(markup: str) -> str:
    return ARTICLE.replace("<head>", f"<head>{markup}")


def test_article() -> None:
    found = document(read(ARTICLE))
    assert all(paragraph in found.text for paragraph in PARAGRAPHS)
    assert "Sport" not in found.text
    assert found.title == "River level rose by forty centimetres"
    assert (found.published, found.date_kind) == ("2024-07-02", "meta")
    assert (found.language, found.publisher) == ("en", "The Valley Courier")
    assert found.authors == (Author(literal="Maria Lindqvist"),)
    assert (found.doi, found.site, found.source_id) == (
        "10.1234/valley.2024.07",
        "example.org",
        "test",
    )
    assert (found.fetched_at_ms, found.record) == (NOW_MS, False)
    assert 0.8 <= found.extraction_ratio <= 1.0


def test_article_is_redacted_before_it_leaves() -> None:
    found = document(read(ARTICLE))
    assert "press@valley.example" not in found.text
    assert "Questions: [EMAIL#1] or tel: [PHONE#1]." in found.text
    assert found.doc_id == document_id(found.url, found.text)


def test_article_links() -> None:
    links = {each.url: each for each in read(ARTICLE).parsed.links}
    assert set(links) == {
        "https://courier.example.org/",
        "https://courier.example.org/sport",
        "https://courier.example.org/data/gauges",
    }
    gauge = links["https://courier.example.org/data/gauges"]
    assert gauge.text == "gauge data"
    assert gauge.context.startswith("Engineers measured the flow")


def test_stored_text_is_in_its_stable_form() -> None:
    decomposed = ARTICLE.replace("The river", "Cafe\u0301\r\nThe\u0000 river")
    found = document(read(decomposed))
    assert "Café" in found.text
    assert not any(each in found.text for each in ("\r", "\x00", "\u0301", "\n\n\n"))
    span = PARAGRAPHS[1].encode()
    at = found.text.encode().index(span)
    assert found.text.encode()[at : at + len(span)].decode() == PARAGRAPHS[1]


def test_wrong_charset_is_seen_through() -> None:
    body = "检索系统从许多来源收集证据，并且检查每一个论断是否得到来源的支持。" * 8
    page = f"<html><body><article><p>{body}</p></article></body></html>"
    for charset, declared in [("gbk", "gb2312"), ("utf-8", "iso-8859-1"), ("gb18030", "utf-8")]:
        found = document(read(page.encode(charset), f"text/html; charset={declared}"))
        assert found.text.startswith("检索系统从许多来源收集证据")
        assert found.language == "zh"


@pytest.mark.parametrize(
    ("markup", "headers", "stored", "followed"),
    [
        ('<meta name="robots" content="noindex">', {}, False, True),
        ('<meta name="ROBOTS" content="NoArchive, follow">', {}, False, True),
        ('<meta name="robots" content="none">', {}, False, False),
        ('<meta name="robots" content="nofollow">', {}, True, False),
        ('<meta name="signalsearchbot" content="noindex">', {}, False, True),
        ('<meta name="otherbot" content="noindex">', {}, True, True),
        ("", {"x-robots-tag": "noindex"}, False, True),
        ("", {"x-robots-tag": "otherbot: noindex, nofollow"}, True, True),
        ("", {"x-robots-tag": "otherbot: noindex, signalsearchbot: nofollow"}, True, False),
        ("", {"x-robots-tag": "max-snippet: 20, noarchive"}, False, True),
        ("", {"x-robots-tag": "nosnippet"}, False, True),
        ("", {"x-robots-tag": "max-snippet:0"}, False, True),
        ("", {"x-robots-tag": "max-snippet:20"}, True, True),
        ("", {"x-robots-tag": "unavailable_after: Wed, 03 Dec 2025 13:09:53 GMT"}, False, True),
        ("", {"x-robots-tag": "unavailable_after: Fri, 03 Dec 2055 13:09:53 GMT"}, True, True),
        # A time of day is no name that the directives after it would belong to.
        ("", {"x-robots-tag": "unavailable_after: 3 Dec 2055 13:09:53 GMT, noindex"}, False, True),
        ("", {"x-robots-tag": "*: noindex"}, False, True),
        ('<meta name="robots" content="unavailable_after: 2025-09-21">', {}, False, True),
        ('<meta name="robots" content="nosnippet, nofollow">', {}, False, False),
        ("", {}, True, True),
    ],
)
def test_page_level_permissions(
    markup: str, headers: dict[str, str], stored: bool, followed: bool
) -> None:
    outcome = read(with_head(markup), **headers)
    assert (outcome.reason == SkipReason.NOINDEX) != stored
    assert bool(outcome.parsed.documents) == stored
    assert bool(outcome.parsed.links) == followed


def test_plain_text() -> None:
    found = document(
        read(
            "Title line\r\n\r\n\r\n\r\nSome plain words about rivers and bridges here.",
            "text/plain",
        )
    )
    assert found.text == "Title line\n\nSome plain words about rivers and bridges here."
    assert (found.title, found.language, found.date_kind) == ("Title line", "en", "none")


def test_pdf() -> None:
    found = document(read(pdf("The flow was measured at seven places."), "text/html"))
    assert found.text == "The flow was measured at seven places."
    assert found.title == "The measured flow"


def test_pdf_without_text_layer_is_empty_not_a_success() -> None:
    outcome = read(pdf(""), "application/pdf")
    assert (outcome.state, outcome.reason) == (FetchState.SKIPPED, SkipReason.EMPTY)


def test_broken_pdf_is_a_bad_reply() -> None:
    outcome = read(b"%PDF-1.7 nothing more", "application/pdf")
    assert (outcome.state, outcome.reason) == (FetchState.MISSED, "source_bad_reply")


@pytest.mark.parametrize("body", [b"\x89PNG\r\n\x1a\n\x00\x00", b"PK\x03\x04\x00", b"\x00\x01\x02"])
def test_other_types_are_skipped_whatever_they_claim(body: bytes) -> None:
    assert read(body, "text/html").reason == SkipReason.CONTENT_TYPE


def test_empty_pages() -> None:
    assert read("", "text/html").reason == SkipReason.EMPTY
    hub = read("<html><body></body></html>")
    assert (hub.state, hub.reason) == (FetchState.SKIPPED, SkipReason.EMPTY)


def test_walls_are_skipped_with_their_reason() -> None:
    page = '<html><head><title>Sign in</title></head><body><form><input type="password"></form></body></html>'
    assert read(page).reason == SkipReason.LOGIN_WALL
    paid = with_head('<script type="application/ld+json">{"isAccessibleForFree": "False"}</script>')
    outcome = read(paid)
    assert (outcome.reason, outcome.detail) == (
        SkipReason.PAY_WALL,
        "pay_wall: isAccessibleForFree is false",
    )
    assert outcome.parsed.documents == ()


def test_status_comes_first() -> None:
    raw = a_reply(ARTICLE.encode(), status=404)
    assert extract(a_request(URL), raw).reason == "source_not_found"


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (
            '<script type="application/ld+json">{"@type":"NewsArticle","datePublished":"2023-05-04"}</script>',
            "jsonld",
        ),
        ('<meta property="article:published_time" content="2023-05-04">', "meta"),
    ],
)
def test_date_kinds(markup: str, expected: str) -> None:
    page = f"<html><head>{markup}</head><body><article><p>{'</p><p>'.join(PARAGRAPHS)}</p></article></body></html>"
    found = document(read(page))
    assert (found.published, found.date_kind) == ("2023-05-04", expected)


def test_dates_of_the_future_are_not_published() -> None:
    """htmldate#28, and anything later than a day from now."""
    page = ARTICLE.replace("2024-07-02T08:00:00Z", "2031-05-05T08:00:00Z")
    assert not document(read(page)).published.startswith("2031")


def test_ordered_list_headings_and_nested_markup_are_kept_once() -> None:
    """trafilatura#10, #146, #879."""
    items = "".join(
        f"<li>Step {n} of the long installation procedure for the gauge</li>" for n in range(1, 5)
    )
    nested = "<p>A <u><strong><a href='/deep'>deeply nested link</a></strong></u> stands here in the text.</p>"
    page = f"<html><body><article><h3>How to install</h3><ol>{items}</ol>{nested}<p>{PARAGRAPHS[0]}</p></article></body></html>"
    text = document(read(page)).text
    assert "How to install" in text
    for wanted in ("Step 1 of", "Step 4 of", "deeply nested link", PARAGRAPHS[0]):
        assert text.count(wanted) == 1


def test_odd_json_ld_does_not_break_the_page() -> None:
    """trafilatura#374, #296."""
    for odd in (
        '"publisher": {"name": ["A", "B"]}',
        '"author": {"name": {"x": 1}}',
        '"author": [{}]',
    ):
        page = with_head(
            f'<script type="application/ld+json">{{"@type": "NewsArticle", {odd}}}</script>'
        )
        assert PARAGRAPHS[0] in document(read(page)).text


def test_documentation_pages_are_read_in_recall_mode() -> None:
    rows = "".join(
        f"<dt>option_{n}</dt><dd>Sets the limit number {n} of the pump controller.</dd>"
        for n in range(40)
    )
    page = f'<html><head><meta name="generator" content="Sphinx 7"></head><body><main><h1>Options</h1><dl>{rows}</dl></main></body></html>'
    found = document(read(page))
    assert all(f"limit number {n} of" in found.text for n in range(40))


def test_hostile_nesting_ends() -> None:
    started = time.process_time()
    read("<div>" * 50_000 + "deep text " * 50)
    assert time.process_time() - started < 30


@pytest.mark.timeout(60)  # a fresh interpreter imports the parsers
def test_runs_in_a_spawned_process() -> None:
    raw = a_reply(b"few words", "text/plain", url=URL)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        outcome = pool.submit(extract, a_request(URL), raw).result(timeout=55)
    assert document(outcome).text == "few words"
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(outcome), type=FetchOutcome) == outcome
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(raw), type=RawReply) == raw


def test_adapter_output_is_redacted_and_stays_so() -> None:
    plain = Document(
        doc_id="x",
        url="https://a.test/?api_key=abcd1234",
        title="Ask joe@example.com",
        text="Line one\r\nmail joe@example.com, doi:10.1103/PhysRevLett.116.061102",
        source_id="api",
        site="a.test",
        fetched_at_ms=1,
        authors=(Author(family="Roe", given="Jo (jo@example.com)"),),
    )
    link = Link(url="https://joe:pw@a.test/x", text="joe@example.com", context="")
    hit = Hit(
        url="https://a.test/?api_key=abcdef123456",
        title="Ask joe@example.com",
        snippet="Line one\r\nmail joe@example.com",
        published="2026-05-05",
        rank=2,
        by_model=True,
    )
    once = redact_parsed(
        Parsed(
            documents=(plain,),
            links=(link,),
            note="from 8.8.8.8",
            total=3,
            hits=(hit,),
            answer="Call joe@example.com.",
        )
    )
    (found,) = once.documents
    assert found.text == "Line one\nmail [EMAIL#1], doi:10.1103/PhysRevLett.116.061102"
    assert (found.title, found.url) == ("Ask [EMAIL#1]", "https://a.test/?api_key=REDACTED")
    assert found.authors == (Author(family="Roe", given="Jo ([EMAIL#1])"),)
    assert found.doc_id == document_id(found.url, found.text)
    assert once.links == (Link(url="https://a.test/x", text="[EMAIL#1]"),)
    assert (once.note, once.total) == ("from [IP#1]", 3)
    assert once.hits == (
        Hit(
            url="https://a.test/?api_key=REDACTED",
            title="Ask [EMAIL#1]",
            snippet="Line one\nmail [EMAIL#1]",
            published="2026-05-05",
            rank=2,
            by_model=True,
        ),
    )
    assert once.answer == "Call [EMAIL#1]."
    assert redact_parsed(once) == once
