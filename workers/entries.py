"""What Atom and RSS have in common: a reply becomes entries, an entry gives its words, address, day and authors. Pure.

Feeds and the results of OpenSearch are the same formats (RSS 2.0, RSS 1.0, Atom); their adapters differ in what they
ask.
"""

import html
import re
from datetime import date
from email.utils import parsedate_to_datetime
from typing import Any, NoReturn
from urllib.parse import urljoin, urlsplit

from lxml import etree
from lxml import html as lxml_html
from msgspec import Struct
from signal_search.contracts.document import Author
from signal_search.contracts.source import Reply
from signal_search.errors import BadReply

_MAX_TEXT_CHARS = 20_000
_MAX_TOTAL_DIGITS = 15
# Feeds in the wild use HTML's names, which XML does not know.
_HTML_ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)[A-Za-z][A-Za-z0-9]{1,30};")
_BLOCKS = "//p|//br|//li|//div|//tr|//h1|//h2|//h3|//h4|//h5|//h6"
_ROOTS = frozenset({"rss", "feed", "RDF"})


class Entry(Struct, frozen=True, kw_only=True):
    """One entry. link: absolute, or empty; published: an ISO day, or empty; summary: plain text, block by block."""

    link: str
    title: str
    summary: str
    published: str
    authors: tuple[Author, ...]


class Entries(Struct, frozen=True, kw_only=True):
    """What a feed holds, in its order; total: the matches by OpenSearch's `totalResults`, None when it does not say."""

    entries: tuple[Entry, ...]
    total: int | None = None


def read_entries(reply: Reply, base: str) -> Entries:
    """Return the entries of a feed; `base` is what relative links are relative to.

    Raises:
        BadReply: HTML, JSON or text, truncated XML, XML that is no feed or declares entities.
    """
    root = _read(reply)
    stated = (root.findtext(".//{*}totalResults") or "").strip()
    is_number = stated.isdecimal() and len(stated) <= _MAX_TOTAL_DIGITS
    return Entries(
        entries=tuple(_entry(item, base) for item in _items(root)),
        total=int(stated) if is_number else None,
    )


def _entry(item: Any, base: str) -> Entry:
    return Entry(
        link=_link(item, base),
        title=_plain(_child_text(item, "title")),
        summary=_summary(item),
        published=_published(item),
        authors=_authors(item),
    )


def _read(reply: Reply) -> Any:
    text = reply.text.lstrip("\ufeff").strip()
    text = re.sub(r"^<\?xml[^>]{0,200}\?>", "", text, count=1).lstrip()
    if not text.startswith("<"):
        _bad("JSON or plain text")
    if re.match(r"(?i)<(?:!doctype\s+)?html\b", text):
        _bad("a page of HTML")
    text = _HTML_ENTITY.sub(lambda found: html.unescape(found[0]), text)
    parser = etree.XMLParser(
        encoding="utf-8", resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
    )
    try:
        root = etree.fromstring(text.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError as error:
        raise BadReply("The source sent truncated or broken XML instead of a feed.") from error
    return _checked(root)


def _checked(root: Any) -> Any:
    document_type = root.getroottree().docinfo.internalDTD
    if document_type is not None and any(True for _ in document_type.iterentities()):
        _bad("XML that declares entities")
    if etree.QName(root).localname not in _ROOTS:
        _bad("XML of another shape")
    return root


def _bad(kind: str) -> NoReturn:
    raise BadReply(f"The source sent {kind} instead of a feed.")


def _items(root: Any) -> list[Any]:
    return [node for node in root.iter("{*}item", "{*}entry") if isinstance(node.tag, str)]


def _children(item: Any, *names: str) -> list[Any]:
    """Return direct children by local name, in the order the names are given."""
    return [child for name in names for child in item.iterchildren("{*}" + name)]


def _child_text(item: Any, *names: str) -> str:
    texts = ("".join(child.itertext()).strip() for child in _children(item, *names))
    return next((text for text in texts if text), "")


def _summary(item: Any) -> str:
    return _plain(_child_text(item, "encoded", "content", "description", "summary"))


def _plain(markup: str) -> str:
    """Return the text of an HTML fragment, block by block."""
    if "<" not in markup and "&" not in markup:
        return " ".join(markup.split())[:_MAX_TEXT_CHARS]
    try:
        tree = lxml_html.document_fromstring(f"<div>{markup}</div>")
    except (etree.LxmlError, ValueError):
        return ""
    etree.strip_elements(tree, "script", "style", etree.Comment, with_tail=False)
    for block in tree.xpath(_BLOCKS):
        block.tail = f"\n{block.tail or ''}"
    lines = (" ".join(line.split()) for line in str(tree.text_content()).splitlines())
    return "\n".join(line for line in lines if line)[:_MAX_TEXT_CHARS]


def _link(item: Any, base: str) -> str:
    """Return the item's http(s) address: Atom's alternate link, RSS's link, or a guid that is a permalink."""
    candidates = [
        link.get("href") or link.text or "" for link in _children(item, "link") if _leads_to(link)
    ]
    candidates += [
        guid.text or "" for guid in _children(item, "guid") if guid.get("isPermaLink") != "false"
    ]
    return next((url for each in candidates if (url := _absolute(base, each.strip()))), "")


def _leads_to(link: Any) -> bool:
    return bool(link.get("rel", "alternate") == "alternate")


def _absolute(base: str, reference: str) -> str:
    if not reference:
        return ""
    try:
        url = urljoin(base, reference)
        parts = urlsplit(url)
    except ValueError:
        return ""
    return url if parts.scheme in {"http", "https"} and parts.hostname else ""


def _published(item: Any) -> str:
    """Return the day as the publisher wrote it, in the publisher's own time zone; an update is no publication."""
    stated = _child_text(item, "pubDate", "published", "date", "issued")
    try:
        return date.fromisoformat(stated[:10]).isoformat()
    except ValueError:
        return _rfc822_day(stated)


def _rfc822_day(stated: str) -> str:
    try:
        return parsedate_to_datetime(stated[:100]).date().isoformat()
    except (ValueError, TypeError, OverflowError, IndexError):
        return ""


def _authors(item: Any) -> tuple[Author, ...]:
    names = [
        _child_text(author, "name") or author.text or ""
        for author in _children(item, "author", "creator")
    ]
    cleaned = (_person_name(name) for name in names)
    return tuple(Author(literal=name) for name in dict.fromkeys(cleaned) if name)


def _person_name(text: str) -> str:
    """RSS 2.0 writes `address (name)`; an address alone is nobody's name."""
    found = re.search(r"\(([^()]+)\)\s*$", text)
    name = " ".join((found[1] if found else text).split())
    return "" if "@" in name else name
