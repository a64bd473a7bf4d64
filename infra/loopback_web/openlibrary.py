"""openlibrary.org: the search for works.

Unknown parameters are passed over, which is a complaint in the log; numbers that are none are 422 as FastAPI writes it,
a query that Solr cannot read 500 with an error. When rates are enforced: one request a second, three with
a contact in the User-Agent.
"""

import re
import tomllib
from functools import lru_cache

import msgspec
from msgspec import Struct

from infra.loopback_web import exchange
from infra.loopback_web.corpus import FOLDER
from infra.loopback_web.exchange import Answer, Ask
from infra.loopback_web.library import Pace
from infra.loopback_web.search import Index

_KNOWN = {"q", "title", "author", "fields", "limit", "page", "offset", "sort", "lang"}
_MAX_LIMIT = 1000
_CONTACT = re.compile(r"https?://|\S@\S")
_YEARS = re.compile(r"\bfirst_publish_year:\[(\d{4}) TO (\d{4})\]")
_ISBN = re.compile(r"\bisbn:([0-9Xx]{10,13})\b")
_BROKEN = re.compile(r"[:\[\]\"{}()^~/]")


class Work(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A book, whatever its editions."""

    key: str
    title: str
    authors: list[str]
    year: int
    editions: int
    languages: list[str]
    subjects: list[str]
    subtitle: str = ""
    first_sentence: str = ""
    isbns: list[str] = []


@lru_cache(maxsize=1)
def works() -> tuple[Work, ...]:
    """Return all works."""
    rows = tomllib.loads((FOLDER / "openlibrary.toml").read_text("utf-8"))["work"]
    return msgspec.convert(rows, tuple[Work, ...])


class OpenLibrary:
    """A catalogue of books."""

    def __init__(self, *, enforce_pace: bool = False) -> None:
        """Index titles, authors and subjects."""
        self._index = Index(
            [
                (each.title, " ".join([each.subtitle, *each.authors, *each.subjects]))
                for each in works()
            ]
        )
        self._anonymous = Pace(1, 1000, enforced=enforce_pace)
        self._known = Pace(3, 1000, enforced=enforce_pace)

    def __call__(self, ask: Ask) -> Answer:
        """Answer one request."""
        if ask.method not in {"GET", "HEAD"}:
            return exchange.method_not_allowed("GET", "HEAD")
        if ask.path != "/search.json":
            return exchange.page("<html><body><h1>404 Not Found</h1></body></html>", status=404)
        has_contact = _CONTACT.search(ask.headers.get("user-agent", ""))
        if (self._known if has_contact else self._anonymous).refuses(ask.now_ms):
            return exchange.page(
                "<html><body><h1>429 Too Many Requests</h1></body></html>", status=429
            )
        return self._search(ask.fields)

    def _search(self, fields: dict[str, str]) -> Answer:
        limit, offset = fields.get("limit", "100"), fields.get("offset", "0")
        if not (limit.isdecimal() and offset.isdecimal()) or int(limit) > _MAX_LIMIT:
            detail = [
                {"type": "int_parsing", "loc": ["query", "limit"], "msg": "not a valid integer"}
            ]
            return exchange.json({"detail": detail}, status=422, complaint="limit or offset")
        query = fields.get("q", "")
        words = _ISBN.sub(" ", _YEARS.sub(" ", query)).strip()
        if _BROKEN.search(words):
            return exchange.json({"error": "solr"}, status=500, complaint="not a query")
        found = [each for each in self._ranked(words) if _passes(each, query)]
        shown = found[int(offset) : int(offset) + int(limit)]
        chosen = [name for name in fields.get("fields", "").split(",") if name]
        body = {
            "numFound": len(found),
            "start": int(offset),
            "numFoundExact": True,
            "num_found": len(found),
            "docs": [_doc(each, chosen) for each in shown],
            "q": query,
        }
        unknown = ", ".join(sorted(fields.keys() - _KNOWN))
        return exchange.json(body, complaint=f"passed over: {unknown}" if unknown else "")

    def _ranked(self, words: str) -> list[Work]:
        numbers = self._index.rank(words, share=1.0) if words else range(len(works()))
        return [works()[number] for number in numbers]


def _passes(work: Work, query: str) -> bool:
    years, isbn = _YEARS.search(query), _ISBN.search(query)
    in_years = years is None or int(years[1]) <= work.year <= int(years[2])
    return in_years and (isbn is None or isbn[1] in work.isbns)


def _doc(work: Work, chosen: list[str]) -> dict[str, object]:
    full: dict[str, object] = {
        "key": work.key,
        "title": work.title,
        "subtitle": work.subtitle,
        "author_name": work.authors,
        "first_publish_year": work.year,
        "edition_count": work.editions,
        "language": work.languages,
        "subject": work.subjects,
        "first_sentence": [work.first_sentence] if work.first_sentence else [],
        "isbn": work.isbns,
    }
    return {name: value for name, value in full.items() if value and (not chosen or name in chosen)}
