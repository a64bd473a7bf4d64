"""Open Library by its search: books as works, with their authors, first year and subjects.

A question with an ISBN asks for exactly that edition's work. Fields are chosen, since a work otherwise carries every
edition it ever had.
"""

import re
from urllib.parse import urlsplit

from msgspec import Struct, field
from signal_search.contracts.document import Author, Document
from signal_search.contracts.source import Parsed, Reply, Request, SourceQuery

from workers.adapter import DocumentFacts, SourceConfig, make_document
from workers.asking import address, call
from workers.records import (
    NO_WORDS,
    days_of,
    language,
    left_out,
    line,
    read_json,
    readable,
    refuse,
    refuse_error,
    size_of,
    words_of,
)

_MAX_LIMIT = 100
_MAX_WORDS = 4  # every word must be found
_MAX_SUBJECTS = 15
_FIELDS = "key,title,subtitle,author_name,first_publish_year,edition_count,language,subject,first_sentence"
_ISBN = re.compile(r"(?<![\w-])(?:97[89][- ]?)?(?:[0-9][- ]?){9}[0-9Xx](?![\w-])")
_KEY = re.compile(r"/works/OL[0-9]{1,12}W")


class _Work(Struct):
    key: str
    title: str
    subtitle: str | None = None
    authors: list[str] | None = field(name="author_name", default=None)
    year: int | None = field(name="first_publish_year", default=None)
    editions: int | None = field(name="edition_count", default=None)
    language: list[str] | None = None
    subject: list[str] | None = None
    first_sentence: list[str] | None = None


class _Body(Struct):
    docs: list[object] | None = None
    total: int | None = field(name="numFound", default=None)
    error: object = None


class OpenLibrary:
    """The catalogue of books that anyone may correct."""

    name: str = "openlibrary"
    pushes_down: frozenset[str] = frozenset({"freshness"})
    shared: bool = False

    def __init__(self, config: SourceConfig) -> None:
        """Remember the row."""
        self._config = config

    def build(self, ask: SourceQuery) -> tuple[Request, ...]:
        """Return the search. A freshness `A..B` becomes the years of first publication from A's to B's."""
        fields = {
            "q": _query(ask),
            "fields": _FIELDS,
            "limit": str(size_of(ask, _MAX_LIMIT)),
        }
        url = address(self._config, self._config.endpoint, fields)
        return (call(self._config, self.name, url),)

    def parse(self, request: Request, reply: Reply) -> Parsed:
        """Turn works into documents.

        Raises:
            BadReply: HTML, truncated or wrong-shaped JSON, an error sent with 200.
        """
        body = read_json(reply, _Body)
        if body.error:
            refuse_error(reply, body.error)
        docs = body.docs if body.docs is not None else refuse("JSON of another shape")
        works = [
            each for each in readable(docs, _Work) if _KEY.fullmatch(each.key) and _title(each)
        ]
        return Parsed(
            documents=tuple(self._document(each, reply) for each in works),
            total=body.total,
            note=left_out(len(docs), len(works)),
        )

    def _document(self, work: _Work, reply: Reply) -> Document:
        site = urlsplit(self._config.endpoint)
        year = _year(work)
        return make_document(
            url=f"{site.scheme}://{site.netloc}{work.key}",
            title=_title(work),
            text=_text(work),
            source_id=self._config.id,
            fetched_at_ms=reply.fetched_at_ms,
            facts=DocumentFacts(
                language=_language(work),
                published=year,
                date_kind="record" if year else "none",
                authors=tuple(Author(literal=name) for name in work.authors or () if name.strip()),
                work_type="book",
                source_type=self._config.source_type,
            ),
        )


def _query(ask: SourceQuery) -> str:
    isbn = next((found for each in _ISBN.findall(ask.text) if (found := _isbn(each))), "")
    if isbn:
        return f"isbn:{isbn}"
    words = " ".join(words_of(ask, most=_MAX_WORDS, hyphens=False)) or NO_WORDS
    days = days_of(ask.freshness)
    return f"{words} first_publish_year:[{days[0][:4]} TO {days[1][:4]}]" if days else words


def _isbn(text: str) -> str:
    """Return an ISBN without hyphens when its check digit is right (ISO 2108, annex A), else nothing."""
    digits = text.replace("-", "").replace(" ", "").upper()
    values = [10 if each == "X" else int(each) for each in digits]
    if len(values) == 10:
        right = sum((10 - place) * value for place, value in enumerate(values)) % 11 == 0
    else:
        weighted = sum((1, 3)[place % 2] * value for place, value in enumerate(values))
        right = "X" not in digits and weighted % 10 == 0
    return digits if right else ""


def _title(work: _Work) -> str:
    title, subtitle = line(work.title), line(work.subtitle)
    return f"{title}: {subtitle}" if title and subtitle else title


def _year(work: _Work) -> str:
    return f"{work.year:04}" if work.year and 0 < work.year <= 9999 else ""


def _language(work: _Work) -> str:
    only = work.language[0] if work.language and len(work.language) == 1 else ""
    return language(only)


def _text(work: _Work) -> str:
    title, authors = _title(work), ", ".join(work.authors or ())
    said = f"{title} is a book" + (f" by {authors}" if authors else "")
    said += f", first published in {_year(work)}" if _year(work) else ""
    told = [f"{said}."]
    if work.editions:
        told.append(f"Open Library knows {work.editions} editions of {title}.")
    if work.first_sentence:
        told.append(f"It begins: {line(work.first_sentence[0])}")
    if work.subject:
        told.append(f"Subjects: {', '.join(work.subject[:_MAX_SUBJECTS])}.")
    return "\n".join(told)
