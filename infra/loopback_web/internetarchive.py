"""archive.org: the advanced search.

The real one answers most mistakes with a page of HTML or passes them over; here a missing query is that page, a page
beyond ten thousand results an error sent with 200, a query that is not Lucene an error sent with 200, and what would be
passed over is a complaint in the log. No rate is published.
"""

import re
import tomllib
from functools import lru_cache
from urllib.parse import parse_qsl

import msgspec
from msgspec import Struct

from infra.loopback_web import exchange
from infra.loopback_web.corpus import FOLDER
from infra.loopback_web.exchange import Answer, Ask
from infra.loopback_web.library import disliked
from infra.loopback_web.search import Index

_KNOWN = {"q", "fl[]", "rows", "page", "output", "sort[]", "callback", "save"}
_REACHABLE = 10_000
_DATES = re.compile(r"\bdate:\[(\d{4}-\d\d-\d\d) TO (\d{4}-\d\d-\d\d)\]")
_BROKEN = re.compile(r"[:\[\]\"{}^~]|^\s*(?:AND|OR)\b|\b(?:AND|OR|NOT)\s*$|\((?![^()]*\))")


class Record(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An archived thing; `date` is an ISO time, the first of January standing for a year."""

    identifier: str
    title: str
    creator: str | list[str]
    date: str
    description: str | list[str]
    language: str
    mediatype: str
    publisher: str = ""
    subject: str | list[str] = ""


@lru_cache(maxsize=1)
def records() -> tuple[Record, ...]:
    """Return all records."""
    rows = tomllib.loads((FOLDER / "internetarchive.toml").read_text("utf-8"))["record"]
    return msgspec.convert(rows, tuple[Record, ...])


class InternetArchive:
    """Digitised things."""

    def __init__(self) -> None:
        """Index titles, descriptions and subjects."""
        self._index = Index(
            [
                (each.title, f"{each.description} {each.subject} {each.creator}")
                for each in records()
            ]
        )

    def __call__(self, ask: Ask) -> Answer:
        """Answer one request."""
        if ask.method not in {"GET", "HEAD"}:
            return exchange.method_not_allowed("GET", "HEAD")
        if ask.path != "/advancedsearch.php" or not ask.fields.get("q"):
            return exchange.page("<html><body><h1>Internet Archive</h1></body></html>", status=404)
        if ask.fields.get("output") != "json":
            answer = exchange.page("<html><body><h1>Advanced Search</h1></body></html>")
            return disliked(answer, "output")
        return self._search(ask)

    def _search(self, ask: Ask) -> Answer:
        fields = ask.fields
        rows, page = fields.get("rows", "50"), fields.get("page", "1")
        if not (rows.isdecimal() and page.isdecimal()):
            return exchange.json({"error": "rows and page are numbers"}, complaint="rows or page")
        if int(rows) * int(page) > _REACHABLE:
            told = "[RANGE_OUT_OF_BOUNDS] paging is only supported through 10000 results"
            return exchange.json({"error": told}, complaint="beyond 10000 results")
        words = _DATES.sub(" ", fields["q"]).strip().removesuffix("AND").strip()
        if _BROKEN.search(words):
            return exchange.json({"error": "[BAD_QUERY] could not parse"}, complaint="not Lucene")
        found = [each for each in self._ranked(words) if _is_within(each, fields["q"])]
        start = (max(1, int(page)) - 1) * int(rows)
        chosen = [value for name, value in parse_qsl(ask.query) if name == "fl[]"]
        docs = [_shown(each, chosen) for each in found[start : start + int(rows)]]
        unknown = ", ".join(sorted(fields.keys() - _KNOWN))
        body = {
            "responseHeader": {"status": 0, "QTime": 3, "params": {"query": fields["q"]}},
            "response": {"numFound": len(found), "start": start, "docs": docs},
        }
        return exchange.json(body, complaint=f"passed over: {unknown}" if unknown else "")

    def _ranked(self, words: str) -> list[Record]:
        plain = re.sub(r"\b(?:AND|OR)\b|[()]", " ", words)
        return [records()[number] for number in self._index.rank(plain, share=1.0)]


def _is_within(record: Record, query: str) -> bool:
    dates = _DATES.search(query)
    return dates is None or dates[1] <= record.date[:10] <= dates[2]


def _shown(record: Record, chosen: list[str]) -> dict[str, object]:
    full = {name: value for name, value in msgspec.structs.asdict(record).items() if value != ""}
    return {name: value for name, value in full.items() if not chosen or name in chosen}
