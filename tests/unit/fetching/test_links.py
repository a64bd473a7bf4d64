"""Links a reader could see and follow."""

import time

import pytest
import trafilatura
from signal_search.contracts.source import Link

from workers.fetching.links import MAX_LINKS, absolute, page_links

URL = "https://site.test/docs/page"


def links(html: str) -> tuple[Link, ...]:
    return page_links(trafilatura.load_html(f"<html><body>{html}</body></html>"), URL)


def addresses(html: str) -> list[str]:
    return [each.url for each in links(html)]


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("other", ["https://site.test/docs/other"]),
        ("/a?b=1&amp;c=2#part", ["https://site.test/a?b=1&c=2"]),
        ("//cdn.test/x", ["https://cdn.test/x"]),
        ("http://else.test/x", ["http://else.test/x"]),  # crawl4ai#570: never glued to the base
        ("  https://else.test/y \n", ["https://else.test/y"]),
        ("?q=1", ["https://site.test/docs/page?q=1"]),
        ("#top", []),
        ("page", []),
        ("mailto:a@b.org", []),
        ("javascript:void(0)", []),
        ("tel:+123", []),
        ("ftp://site.test/f", []),
        ("&lt;https://a.test&gt;", []),
        ("http://[broken", []),
        ("/x?access_token=abcdef", []),
        ("https://joe:pw@site.test/", []),
    ],
)
def test_address(href: str, expected: list[str]) -> None:
    assert addresses(f'<a href="{href}">x</a>') == expected


@pytest.mark.parametrize(
    "html",
    [
        '<a href="/x" style="display: none">x</a>',
        '<div style="visibility:hidden"><p><a href="/x">x</a></p></div>',
        '<section hidden><a href="/x">x</a></section>',
        '<a href="/x" rel="noopener nofollow">x</a>',
        '<template><a href="/x">x</a></template>',
    ],
)
def test_hidden_and_nofollow_are_left_out(html: str) -> None:
    assert addresses(f'{html}<a href="/seen">y</a>') == ["https://site.test/seen"]


def test_words_on_and_around_each_address_once() -> None:
    found = links(
        '<p>Read the <a href="/g">guide  <b>now</b></a> before you start.</p><a href="/g#x">again</a>'
        '<a href="/i"><img alt="a picture"></a>'
    )
    assert found[0] == Link(
        url="https://site.test/g",
        text="guide now",
        context="Read the guide now before you start.",
    )
    assert [each.url for each in found] == ["https://site.test/g", "https://site.test/i"]
    assert found[1].text == "a picture"


def test_words_are_redacted() -> None:
    (link,) = links('<p>ask joe@example.com <a href="/x">joe@example.com</a></p>')
    assert (link.text, link.context) == ("[EMAIL#1]", "ask [EMAIL#1] [EMAIL#1]")


def test_base_element_counts() -> None:
    tree = trafilatura.load_html(
        '<html><head><base href="/v2/"></head><body><a href="x">x</a></body></html>'
    )
    assert [each.url for each in page_links(tree, URL)] == ["https://site.test/v2/x"]


def test_capped_and_linear() -> None:
    page = "<div>" * 200 + "".join(f'<a href="/{n}">link {n}</a> ' for n in range(20_000))
    started = time.process_time()
    assert len(links(page)) == MAX_LINKS
    assert time.process_time() - started < 20


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("../x#y", "https://site.test/x"),
        ("file:///etc/passwd", "file:///etc/passwd"),
        ("http://[x", ""),
    ],
)
def test_redirect_targets_keep_their_scheme(href: str, expected: str) -> None:
    assert absolute(URL, href) == expected
