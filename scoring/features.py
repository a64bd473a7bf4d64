"""The six features of candidates for one query, each computed when it is read and at most once for a candidate.

A text is prepared once, then every word of the query is looked for in it, which takes a third of the time of making a
set of its words. What is found is the same: the runs of a-z and 0-9 of the lower-case text (scorer guide, section 4).
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from string import ascii_letters, digits

from msgspec import Struct

from scoring.candidates import Candidate, distinct

_WORD = re.compile(r"[a-z0-9]+")
_QUOTED = re.compile(r'"([^"]*)"')
_TO_WORDS = dict.fromkeys(range(128), " ") | {
    ord(each): each.lower() for each in ascii_letters + digits
}
_SHORTEST_WORD = 2
_TITLE, _ABSTRACT = 1.0, 0.5
_PHRASE_IN_TITLE, _PHRASE_IN_ABSTRACT = 0.5, 0.25
# Whole numbers above are not exact as floats; no paper has them.
_MOST = 2**53


class QueryWord(Struct, frozen=True):
    """A word, and how often the query has it."""

    word: str
    count: int

    @property
    def spaced(self) -> str:
        """The word as it stands in what `words_in` returns."""
        return f" {self.word} "


class Sought(Struct, frozen=True):
    """What is looked for in a candidate: words, and quoted phrases, case-folded."""

    words: tuple[QueryWord, ...]
    phrases: tuple[str, ...]


def sought_by(query: str) -> Sought:
    """Return the words of two letters or more, and the text between straight double quotes."""
    words = Counter(word for word in _WORD.findall(query.lower()) if len(word) >= _SHORTEST_WORD)
    phrases = (quoted.strip().casefold() for quoted in _QUOTED.findall(query))
    return Sought(
        tuple(QueryWord(word, count) for word, count in words.items()),
        tuple(phrase for phrase in phrases if phrase),
    )


def known_citations(candidate: Candidate) -> int | None:
    """Return the citations as reported; None when unknown or no possible count."""
    count = candidate.citations
    return count if count is not None and 0 <= count <= _MOST else None


def known_year(candidate: Candidate) -> int | None:
    """Return the year as reported; None when unknown or no possible year."""
    year = candidate.year
    return year if year is not None and 0 < year <= _MOST else None


class Features:
    """The columns of a program, and of the fixed formula."""

    def __init__(self, candidates: Sequence[Candidate], query: str, as_of_year: int) -> None:
        """Compute nothing yet."""
        sought = sought_by(query)
        self._candidates = candidates
        self._as_of_year = as_of_year
        self._words = tuple((each.word, each.spaced, each.count) for each in sought.words)
        self._word_count = sum(each.count for each in sought.words)
        self._phrases = sought.phrases
        self._known: dict[str, dict[int, float | None]] = {}
        self._whole: dict[str, list[float | None]] = {}  # features that are known of all candidates
        self._read: dict[str, Callable[[Candidate], float | None]] = {
            "lexical": self._lexical if sought.words else _nothing,
            "phrase": self._phrase if sought.phrases else _nothing,
            "citations": _citations,
            "year": _year,
            "age_years": self._age_years,
            "source_count": _source_count,
        }

    def column(self, name: str, rows: Sequence[int]) -> list[float | None]:
        """Return a feature of the candidates `rows`, in that order."""
        whole = self._whole.get(name)
        if whole is not None:
            return whole if len(rows) == len(whole) else [whole[row] for row in rows]
        known = self._known.setdefault(name, {})
        read, candidates = self._read[name], self._candidates
        if len(rows) == len(candidates) and not known:  # what mostly happens
            column = self._whole[name] = list(map(read, candidates))
            return column
        for row in rows:
            if row not in known:
                known[row] = read(candidates[row])
        column = [known[row] for row in rows]
        if len(rows) == len(candidates):
            self._whole[name] = column
        return column

    def _lexical(self, candidate: Candidate) -> float:
        title, abstract = words_in(candidate.title), words_in(candidate.abstract)
        found = 0.0
        for word, spaced, count in self._words:
            if spaced in title:
                found += _TITLE * count
            elif (
                word in abstract and spaced in abstract
            ):  # the first is faster, and mostly enough to say no
                found += _ABSTRACT * count
        return found / self._word_count

    def _phrase(self, candidate: Candidate) -> float:
        title, abstract = _folded(candidate.title), _folded(candidate.abstract)
        found = 0.0
        for phrase in self._phrases:
            if phrase in title:
                found += _PHRASE_IN_TITLE
            elif phrase in abstract:
                found += _PHRASE_IN_ABSTRACT
        return found

    def _age_years(self, candidate: Candidate) -> float | None:
        year = known_year(candidate)
        return None if year is None else float(max(self._as_of_year - year, 0))


def _nothing(_candidate: Candidate) -> float:
    return 0.0


def _citations(candidate: Candidate) -> float | None:
    count = known_citations(candidate)
    return None if count is None else float(count)


def _year(candidate: Candidate) -> float | None:
    year = known_year(candidate)
    return None if year is None else float(year)


def _source_count(candidate: Candidate) -> float:
    return float(len(distinct(candidate.sources)))


def _folded(text: str) -> str:
    return text.lower() if text.isascii() else text.casefold()


def words_in(text: str) -> str:
    """Return the words of a text, runs of a-z and 0-9 in lower case, with a space before and after each.

    ASCII, which is most of it, is done in one pass; spaces may stand in a row there.
    """
    if text.isascii():
        return f" {text.translate(_TO_WORDS)} "
    return f" {' '.join(_WORD.findall(text.lower()))} "
