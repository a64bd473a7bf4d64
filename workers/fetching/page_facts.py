"""What a page says about itself: title, author, date with its evidence, identifiers, and what may be kept of it.

A date is reported with where it was found, because dates guessed from the text are wrong on about one page in ten.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta

import htmldate
from lxml.html import HtmlElement
from msgspec import Struct
from signal_search.contracts.document import Author, DateKind
from trafilatura.metadata import extract_metadata

from workers.fetching.backoff import http_date_ms
from workers.fetching.plain_text import one_line
from workers.fetching.text_dates import chinese_date, shows_day

_TITLE_CHARS = 300
_MAX_AUTHORS = 10
_DOI = re.compile(r"10\.[0-9]{4,9}/\S{1,200}")
_DOI_NAMES = frozenset(
    {"citation_doi", "prism.doi", "dc.identifier", "dc.identifier.doi", "bepress_citation_doi"}
)
_EARLIEST = "1990-01-01"
_VISIBLE = "//body//text()[not(parent::script or parent::style or parent::template)]"
_VALUED_DIRECTIVES = frozenset(
    ["max-snippet", "max-image-preview", "max-video-preview", "unavailable_after"]
)
# What is stored here is what is quoted, so that who forbids snippets forbids storing.
_NOT_STORED = frozenset(["noindex", "noarchive", "none", "nosnippet", "max-snippet:0"])
_NOT_FOLLOWED = frozenset(["nofollow", "none"])
_PRODUCT = re.compile(r"[a-z*][a-z0-9_*-]*")
_UNAVAILABLE = re.compile(r"unavailable_after\s*:\s*([^;]{6,60}?)(?:,\s*[a-z]|$)")


class Permissions(Struct, frozen=True):
    """What X-Robots-Tag and meta robots allow: keeping the text, following the links."""

    store: bool = True
    follow: bool = True


class Facts(Struct, frozen=True, kw_only=True):
    """What was read off a page besides its main text."""

    title: str = ""
    authors: tuple[Author, ...] = ()
    publisher: str = ""
    published: str = ""
    date_kind: DateKind = "none"
    doi: str = ""
    declared_language: str = ""


def page_facts(tree: HtmlElement, html: str, url: str, fetched_at_ms: int) -> Facts:
    """Return the facts of a page; nothing is guessed that the page does not show."""
    found = extract_metadata(tree, default_url=url, extensive=False)
    published, kind = _published(tree, html, url, fetched_at_ms)
    names = [name.strip() for name in (found.author or "").split(";") if name.strip()]
    return Facts(
        title=one_line(found.title or _title(tree), _TITLE_CHARS),
        authors=tuple(Author(literal=one_line(name, 120)) for name in names[:_MAX_AUTHORS]),
        publisher=one_line(found.sitename or "", 120),
        published=published,
        date_kind=kind,
        doi=_doi(tree),
        declared_language=str(
            tree.get("lang") or tree.get("{http://www.w3.org/XML/1998/namespace}lang") or ""
        ),
    )


def _title(tree: HtmlElement) -> str:
    return str(tree.findtext(".//title") or tree.findtext(".//h1") or "")


def _doi(tree: HtmlElement) -> str:
    for name, content in metas(tree):
        found = _DOI.search(content) if name in _DOI_NAMES else None
        if found:
            return found[0].rstrip(".,;)").lower()
    return ""


def metas(tree: HtmlElement) -> Iterable[tuple[str, str]]:
    """Yield name (or property), in lower case, and content of each meta element."""
    for element in tree.iter("meta"):
        name = element.get("name") or element.get("property") or element.get("itemprop") or ""
        yield name.strip().lower(), element.get("content") or ""


def _published(tree: HtmlElement, html: str, url: str, fetched_at_ms: int) -> tuple[str, DateKind]:
    tomorrow = datetime.fromtimestamp(fetched_at_ms / 1000, UTC) + timedelta(days=1)
    latest = tomorrow.strftime("%Y-%m-%d")
    found = htmldate.find_date(
        html,
        original_date=True,
        extensive_search=True,
        url=url,
        min_date=_EARLIEST,
        max_date=latest,
    )
    day = str(found or "")
    kind = _evidence(tree, url, day) if day else "none"
    return (day, kind) if kind not in {"text", "none"} else _shown(tree, day, latest)


def _shown(tree: HtmlElement, day: str, latest: str) -> tuple[str, DateKind]:
    """Return the date the visible text shows: `day` is what the date library made of it, which may be half a date."""
    texts = [str(each) for each in tree.xpath(_VISIBLE)]
    chinese = chinese_date(texts)
    if _EARLIEST <= chinese <= latest:
        return chinese, "text"
    declared = (content for _, content in metas(tree))
    is_half = day.endswith("-01") and not shows_day("\n".join((*texts, *declared)), day)
    return (day, "text") if day and not is_half else ("", "none")


def _evidence(tree: HtmlElement, url: str, date: str) -> DateKind:
    """Return the strongest place a date stands in; what stands nowhere literally was read from the text."""
    if any(date in (each.text or "") for each in _scripts(tree)):
        return "jsonld"
    if any(date in content for _, content in metas(tree)):
        return "meta"
    if any(date in (each.get("datetime") or "") for each in tree.iter("time")):
        return "time"
    digits = re.sub("[^0-9]", "", date)
    return "url" if digits in re.sub("[^0-9]", "", url) else "text"


def _scripts(tree: HtmlElement) -> Iterable[HtmlElement]:
    return (each for each in tree.iter("script") if "ld+json" in (each.get("type") or ""))


def permissions(
    tree: HtmlElement | None, headers: Mapping[str, str], product: str, now_ms: int = 0
) -> Permissions:
    """Return what the page and its headers allow us at `now_ms`; the strictest word wins."""
    own = product.lower()
    texts = [
        content.lower()
        for name, content in (metas(tree) if tree is not None else ())
        if name in {"robots", own}
    ]
    header = headers.get("x-robots-tag", "").lower()
    said = _header_directives(header, own)
    for text in texts:
        said |= {_directive(each) for each in text.split(",")}
    gone = any(_is_over(text, now_ms) for text in (*texts, header))
    return Permissions(store=not gone and not said & _NOT_STORED, follow=not said & _NOT_FOLLOWED)


def _header_directives(value: str, product: str) -> set[str]:
    """Read `noindex, otherbot: nofollow`: a name before a colon owns what follows, up to the next name."""
    said: set[str] = set()
    owner = ""
    for part in value.split(","):
        name, colon, rest = part.strip().partition(":")
        is_name = _PRODUCT.fullmatch(name.strip()) is not None  # a time of day is none
        if colon and is_name and name.strip() not in _VALUED_DIRECTIVES:
            owner, part = name.strip(), rest  # noqa: PLW2901 - the rest of the same part
        if owner in {"", "*", product}:
            said.add(_directive(part))
    return said


def _directive(part: str) -> str:
    return "".join(part.split())


def _is_over(text: str, now_ms: int) -> bool:
    """Say whether a page was to be forgotten by now: `unavailable_after: DATE`, in any common form of a date."""
    found = _UNAVAILABLE.search(text)
    at_ms = http_date_ms(found[1].strip()) if found else None
    if found and at_ms is None:
        at_ms = _iso_ms(found[1].strip())
    return at_ms is not None and at_ms < now_ms


def _iso_ms(value: str) -> int | None:
    try:
        parsed = datetime.fromisoformat(value.upper())
    except ValueError:
        return None
    aware = parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    return round(aware.timestamp() * 1000)
