"""Term search over a small corpus: words and Chinese bigrams, ranked by BM25. Real matching, nothing prepared."""

import math
import re
from collections import Counter
from collections.abc import Sequence

_RUN = re.compile(r"[a-z0-9]+(?:[.,][0-9]+)*|[\u4e00-\u9fff]+")
_STOP = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be by can did do does for from had has have how in is it its not of on or per that the "
        "their there this to was were what when where which who why will with 的 了 是 在 和 与",
    )
)
_K1, _B = 1.2, 0.75  # Robertson and Zaragoza (2009), the usual values
_TITLE_WEIGHT = 3


def terms(text: str) -> list[str]:
    """Return search terms: words in the singular, runs of Chinese as bigrams, no stop words."""
    found: list[str] = []
    for run in _RUN.findall(text.lower()):
        found += [_stem(run)] if run.isascii() else _bigrams(run)
    return [term for term in found if term not in _STOP]


def _bigrams(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def _stem(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    plural = len(word) > 3 and word.endswith("s") and not word.endswith("ss")
    return word[:-1] if plural else word


class Index:
    """An index over (title, text) pairs."""

    def __init__(self, documents: Sequence[tuple[str, str]]) -> None:
        """Count the terms of each document; those of the title several times."""
        self._counts = [
            Counter(terms(title) * _TITLE_WEIGHT + terms(text)) for title, text in documents
        ]
        self._titles = [frozenset(terms(title)) for title, _text in documents]
        self._lengths = [counts.total() for counts in self._counts]
        self._mean = sum(self._lengths) / max(1, len(self._lengths))
        self._holders = Counter(term for counts in self._counts for term in counts)

    def rank(self, query: str, *, share: float) -> list[int]:
        """Return the numbers of the documents that hold at least `share` (0..1) of the query's terms, best first."""
        wanted = list(dict.fromkeys(terms(query)))
        need = max(1, math.ceil(share * len(wanted)))
        scored = [
            (self._score(wanted, n), -n)
            for n in range(len(self._counts))
            if self._holds(n, wanted) >= need
        ]
        return [-negative for _score, negative in sorted(scored, reverse=True)]

    def _holds(self, number: int, wanted: Sequence[str]) -> int:
        return sum(term in self._counts[number] for term in wanted)

    def _score(self, wanted: Sequence[str], number: int) -> float:
        counts, length = self._counts[number], self._lengths[number]
        norm = _K1 * (1 - _B + _B * length / self._mean)
        bm25 = sum(
            self._weight(term) * counts[term] * (_K1 + 1) / (counts[term] + norm) for term in wanted
        )
        return bm25 * (1 + self._title_match(wanted, number))

    def _title_match(self, wanted: Sequence[str], number: int) -> float:
        """A long title that the query spells out in full is most likely what is meant."""
        title = self._titles[number]
        return len(title.intersection(wanted)) ** 2 / max(1, len(title))

    def _weight(self, term: str) -> float:
        holders = self._holders[term]
        return math.log(1 + (len(self._counts) - holders + 0.5) / (holders + 0.5))
