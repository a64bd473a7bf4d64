"""Dates: where a page says when it was published, what is only near a date, and what must never be one."""

import pytest
from signal_search.contracts.document import Document

from tests.fakes.fetching import NOW_MS, a_reply, a_request
from tests.fakes.pages import PARAGRAPHS
from workers.fetching.parsing import extract

BODY = "".join(f"<p>{each}</p>" for each in PARAGRAPHS)
LD = '<script type="application/ld+json">{}</script>'
URL = "https://courier.example/river"


def read(head: str = "", body: str = BODY, url: str = URL) -> Document:
    html = f"<!DOCTYPE html><html><head><title>River</title>{head}</head><body><article>{body}</article></body></html>"
    outcome = extract(a_request(url), a_reply(html.encode(), url=url))
    [document] = outcome.parsed.documents
    return document


# head, body, expected date, expected evidence
DATED = {
    "json-ld": (
        LD.format('{"@type":"NewsArticle","datePublished":"2024-07-02T08:00:00Z"}'),
        BODY,
        "jsonld",
    ),
    "json-ld graph": (
        LD.format('{"@graph":[{"@type":"Article","datePublished":"2024-07-02"}]}'),
        BODY,
        "jsonld",
    ),
    "json-ld before modified": (
        LD.format('{"datePublished":"2024-07-02","dateModified":"2025-01-01"}'),
        BODY,
        "jsonld",
    ),
    "article:published_time": (
        '<meta property="article:published_time" content="2024-07-02T08:00:00+02:00">',
        BODY,
        "meta",
    ),
    "og": ('<meta property="og:published_time" content="2024-07-02">', BODY, "meta"),
    "dc": ('<meta name="DC.date.issued" content="2024-07-02">', BODY, "meta"),
    "name date": ('<meta name="date" content="2024-07-02">', BODY, "meta"),
    "itemprop": ('<meta itemprop="datePublished" content="2024-07-02">', BODY, "meta"),
    "time": ("", f'<time datetime="2024-07-02T08:00:00Z">yesterday</time>{BODY}', "time"),
    "time with pubdate": ("", f'<time pubdate datetime="2024-07-02">2 July</time>{BODY}', "time"),
    "text english": ("", f'<p class="date">Published on July 2, 2024</p>{BODY}', "text"),
    "text german": ("", f'<p class="date">Veröffentlicht am 02.07.2024</p>{BODY}', "text"),
    "text chinese in parts": (
        "",
        f"<p><span>发布时间：</span><span>2024年7月2日 08:30</span></p>{BODY}",
        "text",
    ),
    "text chinese alone": ("", f"<div>2024年07月02日</div>{BODY}", "text"),
    "text chinese, another in the story": (
        "",
        f"<p>1998年8月1日，桥塌了。</p><p>日期：2024年7月2日</p>{BODY}",
        "text",
    ),
    "text chinese": ("", f'<p class="date">发布时间：2024年7月2日</p>{BODY}', "text"),
}


@pytest.mark.parametrize("name", DATED)
def test_the_date_and_where_it_stands(name: str) -> None:
    head, body, kind = DATED[name]
    found = read(head, body)
    assert (found.published, found.date_kind) == ("2024-07-02", kind)


@pytest.mark.parametrize(
    "url",
    [
        "https://courier.example/2024/07/02/river",
        "https://courier.example/news/2024-07-02-river.html",
    ],
)
def test_the_date_of_an_address(url: str) -> None:
    found = read(url=url)
    assert (found.published, found.date_kind) == ("2024-07-02", "url")


def test_what_a_page_declares_wins_over_what_its_text_mentions() -> None:
    head = '<meta property="article:published_time" content="2024-07-02">'
    found = read(head, f"<p>In the flood of 14 March 1999 the bridge fell.</p>{BODY}")
    assert (found.published, found.date_kind) == ("2024-07-02", "meta")


@pytest.mark.parametrize(
    "head",
    [
        '<script>var ad = {"expires": "2031-01-31"};</script>',
        '<meta property="article:published_time" content="2031-01-31">',
        LD.format('{"datePublished":"2031-01-31"}'),
        '<meta name="date" content="0000-00-00">',
        '<meta name="date" content="soon">',
        '<meta name="date" content="1066-10-14">',
        '<meta name="date" content="2024">',
    ],
    ids=["script", "future meta", "future json-ld", "zeros", "words", "long ago", "a year"],
)
def test_what_cannot_be_the_date_is_none(head: str) -> None:
    found = read(head)
    assert (found.published, found.date_kind) == ("", "none")


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Published on August 1, 2024", "2024-08-01"),
        ("Published: 1 August 2024", "2024-08-01"),
        ("Veröffentlicht am 01.08.2024", "2024-08-01"),
        ("发布时间：2024年8月1日", "2024-08-01"),
        ("1998年8月1日，桥塌了。", ""),
        ("有效日期：2031年8月2日", ""),
    ],
)
def test_the_first_of_a_month_counts_where_the_page_shows_it(text: str, day: str) -> None:
    assert read(body=f"<p>{text}</p>{BODY}").published == day


def test_without_any_date_there_is_none() -> None:
    assert (read().published, read().date_kind) == ("", "none")


def test_tomorrow_is_allowed_for_other_time_zones() -> None:
    """The clock says 2026-09-21, 14:13 UTC: in the east it may be the 22nd, nowhere the 23rd."""
    assert NOW_MS == 1_790_000_000_000
    said = '<meta property="article:published_time" content="{}">'
    assert read(said.format("2026-09-22")).published == "2026-09-22"
    assert read(said.format("2026-09-23")).published == ""


@pytest.mark.parametrize(
    "publisher", ['["A", "B"]', '{"name": ["A", "B"]}', "null", '{"name": {"x": 1}}']
)
def test_odd_shapes_beside_a_date_do_no_harm(publisher: str) -> None:
    """A list as the publisher's name and an object as the author's once broke readers."""
    author = '{"name": {"@value": "M. L."}}'
    data = f'{{"datePublished": "2024-07-02", "publisher": {publisher}, "author": {author}}}'
    assert read(LD.format(data)).published == "2024-07-02"
