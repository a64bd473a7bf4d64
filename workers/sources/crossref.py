"""Crossref by its REST API: the registered record of a work, exact by DOI or found by words.

Records are what publishers deposit, so every field may be absent, empty or null; a record that cannot be read is left
out and counted, it does not spoil the others. A record without an abstract still gives a bibliographic text.
"""

import html
import re
from urllib.parse import quote

import msgspec
from msgspec import Struct, field
from signal_search.contracts.document import Author, Document
from signal_search.contracts.source import Parsed, Reply, Request, SourceQuery
from signal_search.errors import BadReply

from workers.adapter import DocumentFacts, SourceConfig, make_document
from workers.asking import address, call
from workers.records import (
    days_of,
    dois_in,
    is_retracted_title,
    iso_of,
    left_out,
    read_json,
    readable,
    refuse_error,
    size_of,
)

_UNKNOWN = "Resource not found"  # with status 404, of a DOI of another agency or of none
_MAX_ROWS = 100
_MAX_QUERY_CHARS = 500
# Without `select` a record carries its whole reference list, often hundreds of kilobytes.
_SELECT = (
    "DOI,type,title,subtitle,container-title,publisher,author,abstract,published,issued,published-print,"
    "published-online,volume,issue,page,article-number,update-to,updated-by,relation,is-referenced-by-count"
)
_BREAK = re.compile(r"</(?:jats:)?(?:p|title|sec|list-item)\s*>|<br\s*/?>")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_ABSTRACT_HEADING = re.compile(r"^(?:abstract|summary|摘要)[:.]?\s*\n", re.IGNORECASE)
_RETRACTING = frozenset({"retraction", "withdrawal", "removal", "partial_retraction"})
_RETRACTING_RELATIONS = frozenset({"is-retracted-by", "is-withdrawn-by"})


class _Person(Struct):
    given: str | None = None
    family: str | None = None
    name: str | None = None


class _Date(Struct):
    parts: list[list[int | None] | None] = field(name="date-parts", default_factory=list)


class _Update(Struct):
    type: str | None = None
    doi: str | None = field(name="DOI", default=None)


class _Work(Struct, rename="kebab"):
    doi: str = field(name="DOI")
    type: str | None = None
    title: list[str | None] | None = None
    subtitle: list[str | None] | None = None
    container_title: list[str | None] | None = None
    publisher: str | None = None
    author: list[_Person] | None = None
    abstract: str | None = None
    published: _Date | None = None
    issued: _Date | None = None
    published_print: _Date | None = None
    published_online: _Date | None = None
    volume: str | None = None
    issue: str | None = None
    page: str | None = None
    article_number: str | None = None
    language: str | None = None
    update_to: list[_Update] | None = None
    updated_by: list[_Update] | None = None
    relation: dict[str, object] | None = None
    is_referenced_by_count: int | None = None


class _List(Struct):
    items: list[object]
    total: int | None = field(name="total-results", default=None)


class _Body(Struct):
    status: str
    kind: str = field(name="message-type", default="")
    message: object = None


class Crossref:
    """Journal articles, conference papers, books and reports with a DOI."""

    name: str = "crossref"
    pushes_down: frozenset[str] = frozenset({"freshness"})
    shared: bool = False

    def __init__(self, config: SourceConfig) -> None:
        """Remember the row."""
        self._config = config

    def build(self, ask: SourceQuery) -> tuple[Request, ...]:
        """Return one request per DOI in the question, else a search.

        A freshness of the form `A..B` becomes a filter on publication dates; relative forms need a clock and are
        left to whoever filters afterwards.
        """
        dois = dois_in(ask.text)
        urls = [self._address(f"/{quote(doi, safe='', errors='replace')}", {}) for doi in dois]
        if urls:
            return tuple(call(self._config, self.name, url, answers=(404,)) for url in urls)
        return (call(self._config, self.name, self._address("", _search(ask))),)

    def parse(self, request: Request, reply: Reply) -> Parsed:
        """Turn records into documents of title and abstract, or of title, container, year and publisher.

        Raises:
            BadReply: HTML, plain text, truncated or wrong-shaped JSON, a failure sent with 200.
        """
        if reply.status == 404 and reply.text.strip().startswith(_UNKNOWN):
            return Parsed(total=0)
        items, total = _records(_read(reply))
        works = readable(items, _Work)
        kept = [
            work for work in works if work.type != "component" and (_title(work) or work.abstract)
        ]
        notices = {doi for work in works for doi in _retracts(work)}
        documents = tuple(self._document(work, reply, notices) for work in kept)
        note = left_out(len(items), len(kept), "unreadable, untitled or mere components")
        return Parsed(documents=documents, total=total, note=note)

    def _address(self, path: str, fields: dict[str, str]) -> str:
        polite = {"mailto": self._config.mailto} if self._config.mailto else {}
        return address(self._config, f"{self._config.endpoint.rstrip('/')}{path}", fields | polite)

    def _document(self, work: _Work, reply: Reply, notices: set[str]) -> Document:
        doi = work.doi.lower()
        return make_document(
            url=f"https://doi.org/{quote(doi, safe='/()', errors='replace')}",
            title=_title(work) or _first(work.container_title) or doi,
            text=_body_text(work),
            source_id=self._config.id,
            fetched_at_ms=reply.fetched_at_ms,
            facts=self._facts(work, retracted=doi in notices or _is_retracted(work)),
        )

    def _facts(self, work: _Work, *, retracted: bool) -> DocumentFacts:
        published = _published(work)
        return DocumentFacts(
            language=work.language or "",
            published=published,
            date_kind="record" if published else "none",
            authors=tuple(_author(each) for each in work.author or () if each.family or each.name),
            container=_first(work.container_title),
            publisher=_clean(work.publisher),
            volume=work.volume or "",
            issue=work.issue or "",
            pages=work.page or work.article_number or "",
            doi=work.doi.lower(),
            citations=work.is_referenced_by_count,
            work_type=work.type or "",
            source_type=self._config.source_type,
            retracted=retracted,
            signals=("retraction_notice",) if _retracts(work) else (),
        )


def _search(ask: SourceQuery) -> dict[str, str]:
    words = " ".join((" ".join(ask.terms) or ask.text).split())[:_MAX_QUERY_CHARS]
    fields = {"query": words, "rows": str(size_of(ask, _MAX_ROWS)), "select": _SELECT}
    return fields | _date_filter(ask.freshness)


def _date_filter(freshness: str | None) -> dict[str, str]:
    days = days_of(freshness)
    return {"filter": f"from-pub-date:{days[0]},until-pub-date:{days[1]}"} if days else {}


def _read(reply: Reply) -> _Body:
    body = read_json(reply, _Body)
    if body.status != "ok":
        refuse_error(reply, body.message)
    return body


def _records(body: _Body) -> tuple[list[object], int | None]:
    if body.kind == "work":
        return [body.message], 1
    try:
        found = msgspec.convert(body.message, _List)
    except msgspec.ValidationError as error:
        raise BadReply("The source sent JSON of another shape instead of records.") from error
    return found.items, found.total


def _first(values: list[str | None] | None) -> str:
    return next((cleaned for cleaned in map(_clean, values or ()) if cleaned), "")


def _clean(text: str | None) -> str:
    return " ".join(_jats_text(text or "").split())


def _title(work: _Work) -> str:
    title, subtitle = _first(work.title), _first(work.subtitle)
    return f"{title}: {subtitle}" if title and subtitle and subtitle not in title else title


def _jats_text(markup: str) -> str:
    """Return the text of a JATS fragment: paragraphs as lines, no tags, entities resolved (deposits escape twice)."""
    plain = _TAG.sub("", _BREAK.sub("\n", markup))
    plain = html.unescape(html.unescape(plain))
    lines = (" ".join(line.split()) for line in plain.splitlines())
    return _ABSTRACT_HEADING.sub("", "\n".join(line for line in lines if line))


def _body_text(work: _Work) -> str:
    title, abstract = _title(work), _jats_text(work.abstract or "")
    if abstract:
        return f"{title}\n\n{abstract}".strip()
    place = ", ".join(filter(None, (_first(work.container_title), _published(work)[:4])))
    parts = (part.rstrip(".") for part in (title, place, _clean(work.publisher)) if part)
    return ". ".join(parts) + "."


def _published(work: _Work) -> str:
    dates = (work.published, work.issued, work.published_print, work.published_online)
    return next((day for day in map(_iso, dates) if day), "")


def _iso(when: _Date | None) -> str:
    return iso_of(when.parts[0] or ()) if when and when.parts else ""


def _author(person: _Person) -> Author:
    if person.family:
        return Author(family=_clean(person.family), given=_clean(person.given))
    return Author(literal=_clean(person.name))


def _retracts(work: _Work) -> list[str]:
    """Return the DOIs this record retracts: then it is a notice, not evidence."""
    updates = work.update_to or ()
    return [(update.doi or "").lower() for update in updates if update.type in _RETRACTING]


def _is_retracted(work: _Work) -> bool:
    return bool(
        any(update.type in _RETRACTING for update in work.updated_by or ())
        or _RETRACTING_RELATIONS & (work.relation or {}).keys()
        or _retracts(work)
        or is_retracted_title(_title(work))
    )
