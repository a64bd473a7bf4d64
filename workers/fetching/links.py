"""The links of a page that a reader could see and follow, with the words on them and around them."""

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urljoin

import ada_url
from lxml import etree
from lxml.html import HtmlElement
from signal_search.contracts.source import Link

from workers.fetching.plain_text import one_line
from workers.fetching.redaction import carries_secret, redact
from workers.fetching.url_guard import MAX_URL_LENGTH

MAX_LINKS = 300
_TEXT_CHARS = 160
_CONTEXT_CHARS = 240
_MAX_SEEN = 5000  # anchors looked at, so that a page of a million links stays cheap
_HIDING = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_SILENT = frozenset({"script", "style", "template", "noscript", "head"})


class _Anchor(NamedTuple):
    element: HtmlElement
    href: str


def page_links(tree: HtmlElement, url: str) -> tuple[Link, ...]:
    """Return up to MAX_LINKS visible links: absolute http(s) addresses without fragment, each once.

    Hidden anchors (their own or an ancestor's hidden attribute or style), rel=nofollow and addresses that carry
    personal data or secrets are left out.
    """
    start = _base(tree, url)
    found: dict[str, Link] = {}
    for anchor in _visible_anchors(tree):
        address = _absolute(start, anchor.href)
        if address and address != url and address not in found and not carries_secret(address):
            found[address] = _link(address, anchor.element)
        if len(found) >= MAX_LINKS:
            break
    return tuple(found.values())


def _base(tree: HtmlElement, url: str) -> str:
    href = next(iter(tree.xpath("//base/@href")), "")
    return _absolute(url, str(href)) or url


def _absolute(start: str, href: str) -> str:
    """Join as browsers do (WHATWG); an absolute address is never glued to the page's own."""
    text = href.strip()
    if not text or len(text) > MAX_URL_LENGTH or text.startswith("#") or "<" in text:
        return ""
    try:
        joined = str(ada_url.join_url(start, text))
    except ValueError:
        return ""
    return joined.split("#", 1)[0] if joined.startswith(("http://", "https://")) else ""


def absolute(start: str, href: str) -> str:
    """Return a reference as an absolute address without fragment, of whatever scheme: the guard refuses, not we."""
    try:
        return _absolute(start, href) or urljoin(start, href.strip()).split("#", 1)[0]
    except ValueError:
        return ""


def _visible_anchors(tree: HtmlElement) -> Iterator[_Anchor]:
    """Walk once, counting the hidden ancestors: linear however deep the page is nested."""
    hidden = seen = 0
    for event, element in etree.iterwalk(tree, events=("start", "end")):
        if _hides(element):
            hidden += 1 if event == "start" else -1
        elif event == "start" and not hidden and _is_followed(element):
            seen += 1
            yield _Anchor(element, element.get("href", ""))
        if seen >= _MAX_SEEN:
            return


def _hides(element: HtmlElement) -> bool:
    if not isinstance(element.tag, str):
        return False
    return (
        element.tag in _SILENT
        or element.get("hidden") is not None
        or _HIDING.search(element.get("style") or "") is not None
    )


def _is_followed(element: HtmlElement) -> bool:
    if element.tag not in {"a", "area"} or not element.get("href"):
        return False
    return "nofollow" not in (element.get("rel") or "").lower().split()


def _link(address: str, element: HtmlElement) -> Link:
    text = one_line(_some_text(element, _TEXT_CHARS) or _label(element), _TEXT_CHARS)
    parent = element.getparent()
    around = "" if parent is None else one_line(_some_text(parent, _CONTEXT_CHARS), _CONTEXT_CHARS)
    context = around if around != text else ""
    return Link(url=address, text=redact(text), context=redact(context))


def _label(element: HtmlElement) -> str:
    images = element.xpath(".//img/@alt")
    return str(element.get("title") or element.get("aria-label") or next(iter(images), ""))


def _some_text(element: HtmlElement, enough: int) -> str:
    """Return the text inside an element, but no more of it than is needed."""
    parts: list[str] = []
    size = 0
    for part in element.itertext():
        parts.append(part)
        size += len(part.strip())
        if size >= enough:
            break
    return " ".join(parts).strip()
