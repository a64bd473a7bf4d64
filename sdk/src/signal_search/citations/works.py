"""What every format needs to know of a cited work: its kind, dates, pages, and identifiers without dirt.

Fields come from web pages and metadata records, so each is cleaned here once, and no format can forget it.
"""

import re
import unicodedata
from typing import Literal
from urllib.parse import quote, unquote, urlsplit

from signal_search.contracts.result import CitedSource

Kind = Literal[
    "article",
    "conference",
    "chapter",
    "book",
    "thesis",
    "report",
    "preprint",
    "dataset",
    "software",
    "standard",
    "patent",
    "web",
    "other",
]

# Names of Crossref, DataCite, OpenAlex, PubMed, schema.org and arXiv, in lower case with hyphens.
_KINDS: dict[str, Kind] = {
    "article": "article",
    "journal-article": "article",
    "article-journal": "article",
    "scholarlyarticle": "article",
    "review": "article",
    "letter": "article",
    "editorial": "article",
    "proceedings-article": "conference",
    "conference-paper": "conference",
    "conferencepaper": "conference",
    "paper-conference": "conference",
    "inproceedings": "conference",
    "book-chapter": "chapter",
    "book-section": "chapter",
    "bookchapter": "chapter",
    "chapter": "chapter",
    "incollection": "chapter",
    "book": "book",
    "monograph": "book",
    "edited-book": "book",
    "reference-book": "book",
    "dissertation": "thesis",
    "thesis": "thesis",
    "phdthesis": "thesis",
    "report": "report",
    "techreport": "report",
    "preprint": "preprint",
    "posted-content": "preprint",
    "dataset": "dataset",
    "software": "software",
    "softwaresourcecode": "software",
    "standard": "standard",
    "rfc": "standard",
    "patent": "patent",
    "webpage": "web",
    "web-page": "web",
    "website": "web",
    "blogposting": "web",
    "newsarticle": "web",
}

_ISO_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?(?!\d)")
_DOI_PREFIX = re.compile(r"^(?:https?://(?:dx\.)?doi\.org/|doi:\s*)", re.IGNORECASE)
_TEX_ESCAPE = re.compile(r"\\([_&%#$])")
_PAGE_RANGE = re.compile(r"^(\w+)\s*[-\u2010-\u2015]+\s*(\w+)$")
_UNPRINTABLE = frozenset({"Cc", "Cs", "Zl", "Zp"})


def one_line(text: str) -> str:
    """Return the text on one line: control characters gone, every run of blanks a single space."""
    if text.isascii() and text.isprintable():
        return " ".join(text.split())
    kept = (" " if unicodedata.category(each) in _UNPRINTABLE else each for each in text)
    return " ".join("".join(kept).split())


def date_parts(published: str) -> tuple[int, ...]:
    """Return one to three numbers of an ISO date; () when there is no year.

    A month or day of zero ends the date ("1993-00-00" is the year 1993), as some catalogues write it.
    """
    match = _ISO_DATE.match(published.strip())
    if match is None or int(match[1]) == 0:
        return ()
    parts = [int(match[1])]
    for group, largest in ((match[2], 12), (match[3], 31)):
        if group is None or not 1 <= int(group) <= largest:
            break
        parts.append(int(group))
    return tuple(parts)


def iso_date(parts: tuple[int, ...]) -> str:
    """Return the parts as YYYY, YYYY-MM or YYYY-MM-DD."""
    return "-".join(f"{part:0{width}d}" for part, width in zip(parts, (4, 2, 2), strict=False))


def doi_of(source: CitedSource) -> str:
    """Return the bare DOI without resolver, prefix or TeX escapes; "" when there is none."""
    raw = _TEX_ESCAPE.sub(r"\1", one_line(source.doi))
    bare = _DOI_PREFIX.sub("", raw)
    if bare != raw and raw.lower().startswith("http"):
        bare = unquote(bare)
    return quote_unsafe(bare) if bare.startswith("10.") else ""


def url_of(source: CitedSource) -> str:
    """Return the address without TeX escapes; a resolver's `%2F` becomes the slash it stands for.

    `<`, `>` and the double quote, which no address may hold (RFC 3986, appendix C), are percent-encoded.
    """
    url = _TEX_ESCAPE.sub(r"\1", one_line(source.url))
    if _DOI_PREFIX.match(url):
        url = url.replace("%2F", "/").replace("%2f", "/")
    return re.sub(r'[<>"]', lambda match: quote(match[0]), quote_unsafe(url))


def quote_unsafe(text: str) -> str:
    r"""Percent-encode what a verbatim field cannot hold: blanks, braces, backslash. `%` and `_` stay."""
    return re.sub(r"[\s{}\\]", lambda match: quote(match[0]), text)


def link_target(url: str) -> str:
    """Return an http(s) address that is safe between angle brackets; "" for every other scheme."""
    try:
        scheme = urlsplit(url).scheme
    except ValueError:
        return ""
    safe = re.sub(r'[\s<>"`{}\\]', lambda match: quote(match[0]), one_line(url))
    return safe if scheme in {"http", "https"} else ""


def page_range(pages: str) -> tuple[str, str]:
    """Return first and last page; the last is "" when `pages` is no simple range."""
    text = one_line(pages)
    match = _PAGE_RANGE.match(text)
    return (match[1], match[2]) if match else (text, "")


def kind_of(source: CitedSource) -> Kind:
    """Return what kind of work this is; a page without any record is "web", never a guess at a journal."""
    name = one_line(source.work_type).lower().replace(" ", "-").replace("_", "-")
    if name in _KINDS:
        return _KINDS[name]
    if source.arxiv_id:
        return "preprint"
    if source.container and (source.volume or source.issue):
        return "article"
    return "other" if source.doi or name else "web"
