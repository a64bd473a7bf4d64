"""What adapters of web search services share: from hits to evidence. Pure.

A hit is a title, an address and an excerpt. The excerpt is evidence of its own (signal `snippet`); the pages behind the
best hits are asked for, and obey robots.txt and pace like any page.
"""

import re
from collections.abc import Sequence
from email.utils import parsedate_to_datetime
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct
from signal_search.contracts.document import Document
from signal_search.contracts.source import Parsed, Reply, SourceQuery

from workers.adapter import DocumentFacts, SourceConfig, make_document
from workers.asking import page
from workers.records import iso, language, left_out, line, lines

_MAX_PAGES: Final = 5
_MAX_URL_CHARS: Final = 2048
_MAX_SNIPPET_CHARS: Final = 4000


class Hit(Struct, frozen=True, kw_only=True):
    """One line of a service's answer. `published` is as the service writes it; `language` a code or nothing."""

    url: str
    title: str = ""
    snippet: str = ""
    published: str = ""
    language: str = ""


def question_of(ask: SourceQuery, *, chars: int, words: int = 400) -> str:
    """Return what to search for: the question itself, its search words if it is too long, cut to what fits."""
    whole, terms = _tidy(ask.text), _tidy(" ".join(ask.terms))
    fits = len(whole) <= chars and len(whole.split()) <= words
    chosen = whole if whole and (fits or not terms) else terms
    return " ".join(chosen.split()[:words])[:chars].rstrip()


def _tidy(text: str) -> str:
    return " ".join(text.encode("utf-8", "replace").decode().split())


def evidence(
    config: SourceConfig,
    adapter: str,
    reply: Reply,
    hits: Sequence[Hit],
    *,
    note: str = "",
    quotes: bool = True,
) -> Parsed:
    """Return hits as documents of their excerpts, in order, and requests for the pages of the first five.

    Hits without a plain web address are left out and counted. quotes: whether the excerpts are the pages' own words; if
    a model wrote them they are no evidence, and only the pages are asked for.
    """
    usable = [hit for hit in hits if _is_web_address(hit.url)]
    first = {hit.url: hit for hit in reversed(usable)}
    kept = [first[url] for url in dict.fromkeys(hit.url for hit in usable)]
    documents = [_document(config, reply, hit) for hit in kept if quotes and line(hit.snippet)]
    notes = (note, left_out(len(hits), len(usable), "without a web address"))
    return Parsed(
        documents=tuple(documents),
        requests=tuple(page(config, adapter, hit.url) for hit in kept[:_MAX_PAGES]),
        note="; ".join(filter(None, notes)),
        total=None if hits else 0,
    )


def _document(config: SourceConfig, reply: Reply, hit: Hit) -> Document:
    published = day_of(hit.published)
    title = line(hit.title)
    return make_document(
        url=hit.url,
        title=title,
        text="\n\n".join(filter(None, (title, lines(hit.snippet)[:_MAX_SNIPPET_CHARS]))),
        source_id=config.id,
        fetched_at_ms=reply.fetched_at_ms,
        facts=DocumentFacts(
            language=language(hit.language),
            published=published,
            date_kind="record" if published else "none",
            source_type=config.source_type,
            record=False,
            signals=("snippet",),
        ),
    )


def day_of(stated: str) -> str:
    """Return the day of an ISO time or of a mail date; what people write ("3 days ago") is no date."""
    text = stated.strip()[:100]
    if re.match(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        return iso(text)
    try:
        return parsedate_to_datetime(text).date().isoformat()
    except (ValueError, TypeError, OverflowError, IndexError):
        return ""


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return False
    plain = len(url) <= _MAX_URL_CHARS and url.isprintable() and " " not in url
    return (
        plain
        and parts.scheme in {"http", "https"}
        and bool(parts.hostname)
        and "@" not in parts.netloc
    )
