"""The six features of candidates for one query, each computed when it is read and at most once for a candidate.

Words are looked for in a text instead of cutting the text into words: a query has few, a text many. What is found is
the same: a run of a-z and 0-9 of the lower-case text that is the word and nothing else (scorer guide, section 4).
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from string import ascii_lowercase, digits

from msgspec import Struct

from scoring.candidates import Candidate, distinct

_WORD = re.compile(r"[a-z0-9]+")
_QUOTED = re.compile(r'"([^"]*)"')
_WORD_CHARACTERS = frozenset(ascii_lowercase + digits)
_SHORTEST_WORD = 2
_TITLE, _ABSTRACT = 1.0, 0.5
_PHRASE_IN_TITLE, _PHRASE_IN_ABSTRACT = 0.5, 0.25
# Whole numbers above are not exact as floats; no paper has them.
_MOST = 2**53
# After so many finds inside of longer words a text is cut into words after all, whatever it was made for.
_PATIENCE = 16


class QueryWords(Struct, frozen=True):
    """What is looked for: words with how often the query has them, and quoted phrases, case-folded."""

    words: tuple[tuple[str, int], ...]
    phrases: tuple[str, ...]

    @property
    def total(self) -> int:
        """How many words there are, repeats counted."""
        return sum(count for _word, count in self.words)


def words_of_query(query: str) -> QueryWords:
    """Return the words of two letters or more, and the text between straight double quotes."""
    words = Counter(word for word in _WORD.findall(query.lower()) if len(word) >= _SHORTEST_WORD)
    phrases = (quoted.strip().casefold() for quoted in _QUOTED.findall(query))
    return QueryWords(tuple(words.items()), tuple(phrase for phrase in phrases if phrase))


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
        self._candidates = candidates
        self._query = words_of_query(query)
        self._as_of_year = as_of_year
        self._known: dict[str, dict[int, float | None]] = {}
        self._whole: dict[str, list[float | None]] = {}  # features that are known of all candidates
        self._lower: dict[int, tuple[str, str]] = {}
        self._read: dict[str, Callable[[int], float | None]] = {
            "lexical": self._lexical,
            "phrase": self._phrase,
            "citations": self._citations,
            "year": self._year,
            "age_years": self._age_years,
            "source_count": self._source_count,
        }

    def column(self, name: str, rows: Sequence[int]) -> list[float | None]:
        """Return a feature of the candidates `rows`, in that order."""
        whole = self._whole.get(name)
        if whole is not None:
            return whole if len(rows) == len(whole) else [whole[row] for row in rows]
        known = self._known.setdefault(name, {})
        read = self._read[name]
        for row in rows:
            if row not in known:
                known[row] = read(row)
        column = [known[row] for row in rows]
        if len(rows) == len(self._candidates):
            self._whole[name] = column
        return column

    def _lexical(self, row: int) -> float:
        query = self._query
        if not query.words:
            return 0.0
        title, abstract = self._texts(row)
        found = 0.0
        for word, count in query.words:
            if has_word(title, word):
                found += _TITLE * count
            elif has_word(abstract, word):
                found += _ABSTRACT * count
        return found / query.total

    def _phrase(self, row: int) -> float:
        phrases = self._query.phrases
        if not phrases:
            return 0.0
        title, abstract = map(_folded, self._texts(row))
        return sum(
            _PHRASE_IN_TITLE if each in title else _PHRASE_IN_ABSTRACT if each in abstract else 0.0
            for each in phrases
        )

    def _texts(self, row: int) -> tuple[str, str]:
        texts = self._lower.get(row)
        if texts is None:
            candidate = self._candidates[row]
            texts = self._lower[row] = (candidate.title.lower(), candidate.abstract.lower())
        return texts

    def _citations(self, row: int) -> float | None:
        count = known_citations(self._candidates[row])
        return None if count is None else float(count)

    def _year(self, row: int) -> float | None:
        year = known_year(self._candidates[row])
        return None if year is None else float(year)

    def _age_years(self, row: int) -> float | None:
        year = known_year(self._candidates[row])
        return None if year is None else float(max(self._as_of_year - year, 0))

    def _source_count(self, row: int) -> float:
        return float(len(distinct(self._candidates[row].sources)))


def _folded(text: str) -> str:
    return text if text.isascii() else text.casefold()


def has_word(text: str, word: str) -> bool:
    """Say whether a lower-case text has a word among its runs of a-z and 0-9."""
    at = text.find(word)
    for _ in range(_PATIENCE):
        if at < 0:
            return False
        end = at + len(word)
        if (at == 0 or text[at - 1] not in _WORD_CHARACTERS) and (
            end == len(text) or text[end] not in _WORD_CHARACTERS
        ):
            return True
        at = text.find(word, at + 1)
    return word in _WORD.findall(text)
