"""dblp by its publication search: the bibliography of computer science, without abstracts.

The JSON is made from XML: a list of one is the thing itself, numbers are text, titles are escaped and end in a full
stop, and people of the same name carry four digits. Withdrawn works have a type of their own.
"""

import re
from urllib.parse import quote

from msgspec import Struct, field
from signal_search.contracts.document import Author, Document
from signal_search.contracts.source import Parsed, Reply, Request, SourceQuery

from scoring.identity import normal_arxiv
from workers.adapter import DocumentFacts, SourceConfig, make_record
from workers.asking import address, call
from workers.records import (
    NO_WORDS,
    doi_address,
    is_notice_title,
    is_retracted_title,
    iso,
    left_out,
    line,
    person,
    read_json,
    readable,
    refuse,
    refuse_error,
    size_of,
    words_of,
)

_MAX_HITS = 100
_MAX_WORDS = 6  # every word must match
_HOMONYM = re.compile(r" [0-9]{4}$")
_ARXIV_VOLUME = re.compile(r"abs/([0-9]{4}\.[0-9]{4,5}|[a-z-]+/[0-9]{7})")
_WITHDRAWN = "Withdrawn Items"
_KINDS = {
    "Journal Articles": "journal-article",
    "Conference and Workshop Papers": "proceedings-article",
    "Parts in Books or Collections": "book-chapter",
    "Books and Theses": "book",
    "Editorship": "edited-book",
    "Reference Works": "reference-book",
    "Data and Artifacts": "dataset",
    "Informal and Other Publications": "preprint",
    "Informal Publications": "preprint",
    _WITHDRAWN: "journal-article",
}


class _Name(Struct):
    text: str | None = None


class _Authors(Struct):
    author: list[_Name] | _Name | None = None


class _Info(Struct):
    key: str
    title: str | None = None
    authors: _Authors | None = None
    venue: str | list[str] | None = None
    volume: str | None = None
    number: str | None = None
    pages: str | None = None
    year: str | None = None
    type: str | None = None
    publisher: str | None = None
    doi: str | None = None


class _Hit(Struct):
    info: _Info


class _Hits(Struct):
    total: str | None = field(name="@total", default=None)
    hit: list[object] | dict[str, object] | None = None


class _Status(Struct):
    code: str | None = field(name="@code", default=None)
    text: str | None = None


class _Result(Struct):
    hits: _Hits | None = None
    status: _Status | None = None


class _Body(Struct):
    result: _Result | None = None
    error: object = None


class Dblp:
    """Papers, proceedings and books of computer science."""

    name: str = "dblp"
    pushes_down: frozenset[str] = frozenset()
    shared: bool = False

    def __init__(self, config: SourceConfig) -> None:
        """Remember the row."""
        self._config = config

    def build(self, ask: SourceQuery) -> tuple[Request, ...]:
        """Return one search; every word of it must occur in the record."""
        words = words_of(ask, most=_MAX_WORDS, hyphens=False)
        fields = {
            "q": " ".join(words) or NO_WORDS,
            "format": "json",
            "h": str(size_of(ask, _MAX_HITS)),
            "c": "0",
        }
        url = address(self._config, self._config.endpoint, fields)
        return (call(self._config, self.name, url),)

    def parse(self, request: Request, reply: Reply) -> Parsed:
        """Turn hits into documents of title, venue and year.

        Raises:
            BadReply: HTML, plain text, truncated or wrong-shaped JSON, an error sent as an answer.
        """
        body = read_json(reply, _Body)
        if body.error is not None:
            refuse_error(reply, body.error)
        result = body.result or refuse("JSON of another shape")
        status = result.status or _Status()
        if status.code not in {None, "200"}:
            refuse_error(reply, status.text)
        hits = result.hits or refuse("JSON of another shape")
        items = _as_list(hits.hit)
        kept = [each.info for each in readable(items, _Hit) if _title(each.info)]
        return Parsed(
            documents=tuple(self._document(each, reply) for each in kept),
            total=_number(hits.total or ""),
            note=left_out(len(items), len(kept)),
        )

    def _document(self, info: _Info, reply: Reply) -> Document:
        doi = line(info.doi).lower()
        key = quote(info.key, safe="/", errors="replace")
        return make_record(
            self._config,
            reply,
            url=doi_address(doi) if doi else f"https://dblp.org/rec/{key}",
            title=_title(info),
            abstract="",
            facts=_facts(info, doi),
        )


def _number(text: str) -> int | None:
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else None


def _as_list(value: list[object] | dict[str, object] | None) -> list[object]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _title(info: _Info) -> str:
    return line(info.title).removesuffix(".")


def _facts(info: _Info, doi: str) -> DocumentFacts:
    title, arxiv = _title(info), _ARXIV_VOLUME.fullmatch(info.volume or "")
    venue, kind = _venue(info), _KINDS.get(info.type or "", "")
    is_preprint = arxiv is not None or kind == "preprint"
    return DocumentFacts(
        published=iso(info.year),
        authors=tuple(_authors(info.authors)),
        container="" if is_preprint else venue,
        publisher=line(info.publisher) or (venue if is_preprint else ""),
        volume="" if is_preprint else line(info.volume),
        issue=line(info.number),
        pages=line(info.pages),
        doi=doi,
        arxiv_id=normal_arxiv(arxiv[1]) if arxiv else "",
        work_type="preprint" if is_preprint else kind,
        retracted=info.type == _WITHDRAWN or is_retracted_title(title) or is_notice_title(title),
        signals=("retraction_notice",) if is_notice_title(title) else (),
    )


def _venue(info: _Info) -> str:
    venue = info.venue
    return line(venue if isinstance(venue, str) else ", ".join(venue or ()))


def _authors(people: _Authors | None) -> list[Author]:
    named = (people or _Authors()).author
    each = named if isinstance(named, list) else [named or _Name()]
    names = (_HOMONYM.sub("", line(one.text)) for one in each)
    return [person(name) for name in names if name]
