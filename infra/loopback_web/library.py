"""What the registers of the loopback web have in common: works to search, a Lucene-like query, a published pace."""

import re
import tomllib
from collections import deque
from collections.abc import Callable, Sequence
from functools import lru_cache

import msgspec
from msgspec import Struct

from infra.loopback_web.corpus import FOLDER, Paper
from infra.loopback_web.exchange import Answer
from infra.loopback_web.search import Index

_TOKEN = re.compile(
    r'\s*(?:(?P<field>[A-Za-z_.]+):(?:"(?P<value>[^"]*)"|\[(?P<first>[\d-]+) TO (?P<last>[\d-]+)\]|(?P<bare>[\w.-]+))'
    r'|(?P<join>AND|OR)\b|(?P<mark>[()])|"(?P<phrase>[^"]*)"|(?P<word>[^\s()":\[\]?*~^]+))\s*'
)


@lru_cache(maxsize=2)
def register(name: str) -> tuple[Paper, ...]:
    """Return the records of `dataset` or `computing`."""
    rows = tomllib.loads((FOLDER / "registers.toml").read_text("utf-8"))[name]
    return msgspec.convert(rows, tuple[Paper, ...])


class Library:
    """Works that can be searched, and found by DOI."""

    def __init__(self, papers: Sequence[Paper]) -> None:
        """Index the works by all their words."""
        self.papers = tuple(papers)
        self._index = Index([(paper.title, _searchable(paper)) for paper in self.papers])

    def find(self, words: str, *, share: float) -> list[Paper]:
        """Return the works that hold at least `share` (0..1) of the words, best first."""
        return [self.papers[number] for number in self._index.rank(words, share=share)]

    def by_doi(self, doi: str) -> Paper | None:
        """Return the work of a DOI in any case."""
        return next((each for each in self.papers if each.doi and each.doi == doi.lower()), None)


def _searchable(paper: Paper) -> str:
    return " ".join((paper.abstract, paper.journal, paper.publisher, *paper.authors))


def day_of(paper: Paper) -> str:
    """Return the day, month or year of issue, else the day of the first version."""
    return "-".join(f"{part:02d}" for part in paper.issued) or paper.published


def is_within(day: str, first: str, last: str) -> bool:
    """Tell whether a date of one to three parts may lie between two days or years."""
    return day >= first[: len(day)] and day[: len(last)] <= last[: len(day)]


class Range(Struct, frozen=True):
    """A field between two values."""

    field: str
    first: str
    last: str


class Query(Struct, frozen=True, kw_only=True):
    """A query: words that must all occur, fields that must be equal (one of them, if `any_of`), ranges."""

    words: str = ""
    equal: tuple[tuple[str, str], ...] = ()
    ranges: tuple[Range, ...] = ()
    any_of: bool = False


def read_query(text: str) -> Query | None:
    """Return a query of words, `field:"value"`, `field:[a TO b]`, AND, OR and brackets; None if it is not one."""
    at, depth, found = 0, 0, []
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            return None
        depth += {"(": 1, ")": -1}.get(token["mark"] or "", 0)
        found.append(token)
        at = token.end()
    return _query(found) if depth == 0 and found else None


def _query(tokens: list[re.Match[str]]) -> Query:
    fields = [each for each in tokens if each["field"]]
    return Query(
        words=" ".join(each["word"] or each["phrase"] or "" for each in tokens).strip(),
        equal=tuple(
            (each["field"], each["value"] or each["bare"] or "")
            for each in fields
            if not each["first"]
        ),
        ranges=tuple(
            Range(each["field"], each["first"], each["last"]) for each in fields if each["first"]
        ),
        any_of=any(each["join"] == "OR" for each in tokens),
    )


Fields = dict[str, Callable[[Paper], str]]


def matching(library: Library, query: Query, fields: Fields) -> list[Paper] | None:
    """Return the works that a query finds; None when it names a field that there is not."""
    named = {name for name, _value in query.equal} | {each.field for each in query.ranges}
    if not named <= fields.keys():
        return None
    found = library.find(query.words, share=1.0) if query.words else list(library.papers)
    return [paper for paper in found if _holds(paper, query, fields)]


def _holds(paper: Paper, query: Query, fields: Fields) -> bool:
    equal = [fields[name](paper) == value.lower() for name, value in query.equal]
    judge = any if query.any_of else all
    in_ranges = (
        is_within(fields[each.field](paper), each.first, each.last) for each in query.ranges
    )
    return (not equal or judge(equal)) and all(in_ranges)


class Pace:
    """So many requests within a time, then no more; nothing is refused unless enforced."""

    def __init__(self, most: int, within_ms: int, *, enforced: bool) -> None:
        """Allow `most` requests within any `within_ms` milliseconds."""
        self._most = most
        self._within_ms = within_ms
        self._enforced = enforced
        self._recent_ms: deque[int] = deque(maxlen=most)

    def refuses(self, now_ms: int) -> bool:
        """Tell whether a request now is one too many; if it is not, it is counted."""
        recent = sum(now_ms - each < self._within_ms for each in self._recent_ms)
        if self._enforced and recent >= self._most:
            return True
        self._recent_ms.append(now_ms)
        return False


def number(fields: dict[str, str], name: str, default: int) -> int:
    """Return a parameter that is a whole number, -1 for one that is none."""
    text = fields.get(name, str(default))
    return int(text) if text.isdecimal() and len(text) < 10 else -1


def disliked(answer: Answer, complaint: str) -> Answer:
    """Return an answer with what is to be written to the log about its request."""
    return msgspec.structs.replace(answer, complaint=complaint)


def unknown(fields: dict[str, str], known: frozenset[str]) -> str:
    """Return the first parameter that is not known, or nothing."""
    return next(iter(sorted(fields.keys() - known)), "")
