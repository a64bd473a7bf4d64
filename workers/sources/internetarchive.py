"""The Internet Archive by its advanced search: books, papers, recordings and their descriptions.

Any field may be one value, a list or absent, and descriptions hold HTML. The address of an item is /details/IDENTIFIER.
"""

import re
from urllib.parse import quote, urlsplit

from msgspec import Struct, field
from signal_search.contracts.document import Author, Document
from signal_search.contracts.source import Parsed, Reply, Request, SourceQuery

from workers.adapter import DocumentFacts, SourceConfig, make_document
from workers.asking import address, call
from workers.records import (
    NO_WORDS,
    days_of,
    iso,
    language,
    left_out,
    line,
    lines,
    read_json,
    readable,
    refuse,
    refuse_error,
    size_of,
    words_of,
)

_MAX_ROWS = 100
_MAX_WORDS = 4  # every word must be found
_FIELDS = (
    "identifier title creator date description language mediatype publisher subject volume issue"
)
_IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,100}")
_WORK_TYPES = {"texts": "book", "movies": "motion_picture", "audio": "song", "software": "software"}
_LANGUAGES = {"english": "eng", "chinese": "chi", "french": "fre", "german": "ger"}


class _Item(Struct):
    identifier: str
    title: object = None
    creator: object = None
    date: object = None
    description: object = None
    language: object = None
    mediatype: object = None
    publisher: object = None
    subject: object = None
    volume: object = None
    issue: object = None


class _Found(Struct):
    docs: list[object]
    total: int | None = field(name="numFound", default=None)


class _Body(Struct):
    response: _Found | None = None
    error: object = None


class InternetArchive:
    """The records of a library of digitised things."""

    name: str = "internetarchive"
    pushes_down: frozenset[str] = frozenset({"freshness"})
    shared: bool = False

    def __init__(self, config: SourceConfig) -> None:
        """Remember the row."""
        self._config = config

    def build(self, ask: SourceQuery) -> tuple[Request, ...]:
        """Return the search for things with all words. A freshness `A..B` becomes a range of their dates."""
        fields = [("q", _query(ask)), *(("fl[]", name) for name in _FIELDS.split())]
        fields += [("rows", str(size_of(ask, _MAX_ROWS))), ("page", "1")]
        fields.append(("output", "json"))
        url = address(self._config, self._config.endpoint, fields)
        return (call(self._config, self.name, url),)

    def parse(self, request: Request, reply: Reply) -> Parsed:
        """Turn records into documents of title, description, creator and subjects.

        Raises:
            BadReply: HTML, truncated or wrong-shaped JSON, an error sent with 200.
        """
        body = read_json(reply, _Body)
        if body.error:
            refuse_error(reply, body.error)
        found = body.response or refuse("JSON of another shape")
        items = [each for each in readable(found.docs, _Item) if _is_whole(each)]
        return Parsed(
            documents=tuple(self._document(each, reply) for each in items),
            total=found.total,
            note=left_out(len(found.docs), len(items)),
        )

    def _document(self, item: _Item, reply: Reply) -> Document:
        site = urlsplit(self._config.endpoint)
        published = _day(_first(item.date))
        return make_document(
            url=f"{site.scheme}://{site.netloc}/details/{quote(item.identifier)}",
            title=line(_first(item.title)),
            text=_text(item),
            source_id=self._config.id,
            fetched_at_ms=reply.fetched_at_ms,
            facts=DocumentFacts(
                language=_language(_first(item.language)),
                published=published,
                date_kind="record" if published else "none",
                authors=tuple(
                    Author(literal=name) for name in map(line, _all(item.creator)) if name
                ),
                container="Internet Archive",
                publisher=line(_first(item.publisher)),
                volume=_first(item.volume),
                issue=_first(item.issue),
                work_type=_WORK_TYPES.get(_first(item.mediatype), "document"),
                source_type=self._config.source_type,
            ),
        )


def _query(ask: SourceQuery) -> str:
    words = words_of(ask, most=_MAX_WORDS, hyphens=False) or [NO_WORDS]
    days = days_of(ask.freshness)
    return " AND ".join([*words, *([f"date:[{days[0]} TO {days[1]}]"] if days else [])])


def _is_whole(item: _Item) -> bool:
    return bool(_IDENTIFIER.fullmatch(item.identifier) and line(_first(item.title)))


def _all(value: object) -> list[str]:
    """Return the values of a field that is one text, one number or a list of them."""
    values = value if isinstance(value, list) else [value]
    return [
        str(each).strip() for each in values if isinstance(each, str | int) and str(each).strip()
    ]


def _first(value: object) -> str:
    return next(iter(_all(value)), "")


def _text(item: _Item) -> str:
    title, about = line(_first(item.title)), [lines(each) for each in _all(item.description)]
    creators = "; ".join(filter(None, map(line, _all(item.creator))))
    year = _day(_first(item.date))[:4]
    imprint = ", ".join(filter(None, (line(_first(item.publisher)), year)))
    facts = f"By {creators.rstrip('.')}. " if creators else ""
    facts += f"{imprint}." if imprint else ""
    subjects = ", ".join(filter(None, map(line, _all(item.subject)[:20])))
    parts = [title, *about, facts.strip(), f"Subjects: {subjects}." if subjects else ""]
    return "\n\n".join(part for part in parts if part)


def _day(stated: str) -> str:
    """Return a day, or a year where only that is known: the Archive writes a year as its first of January."""
    day = iso(stated)
    return day[:4] if day.endswith("-01-01") else day


def _language(stated: str) -> str:
    """Return the code of a language that is given as a code of three letters or as an English word."""
    return language(_LANGUAGES.get(stated.lower(), stated))
