"""Four sources made of one collection, for measuring the stop rule: each orders the same texts in its own way.

They are correlated, as real sources are: BM25 over texts, BM25 over titles, cosine over words and word pairs, and BM25
of the question enriched with words of its first finds (pseudo-relevance feedback, Rocchio 1971).
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from heapq import nlargest
from itertools import pairwise

from scoring.relevance import K1, B
from scoring.text import tokens

_READ_BACK = 5  # first finds whose words enrich the question
_ADDED_WORDS = 20
_ADDED_WEIGHT = 0.5  # of the best added word, against 1 for a word of the question


class SimulatedSources:
    """The four orders over a collection's texts."""

    def __init__(self, titles: Sequence[str], texts: Sequence[str]) -> None:
        """Index titles and texts, which are parallel."""
        words = [tokens(each) for each in texts]
        self._words = words
        self._texts = _Index(words)
        self._titles = _Index([tokens(each) for each in titles])
        self._pairs = _Index([_with_pairs(each) for each in words])

    def orders(self, question: str, depth: int) -> tuple[tuple[int, ...], ...]:
        """Return for each source the positions of the texts it shows, best first, at most `depth`."""
        words = tokens(question)
        asked = {word: float(count) for word, count in Counter(words).items()}
        pairs = {word: float(count) for word, count in Counter(_with_pairs(words)).items()}
        plain = self._texts.by_bm25(asked)
        found = (
            plain,
            self._titles.by_bm25(asked),
            self._pairs.by_cosine(pairs),
            self._texts.by_bm25(self._enriched(asked, plain)),
        )
        return tuple(tuple(each[:depth]) for each in found)

    def _enriched(self, asked: Mapping[str, float], order: Sequence[int]) -> dict[str, float]:
        weights: dict[str, float] = {}
        for position in order[:_READ_BACK]:
            for word, count in Counter(self._words[position]).items():
                weights[word] = weights.get(word, 0.0) + count * self._texts.rarity(word)
        best = nlargest(_ADDED_WORDS, weights.items(), key=lambda each: (each[1], each[0]))
        added = {word: _ADDED_WEIGHT * weight / best[0][1] for word, weight in best}
        return {word: asked.get(word, 0.0) + added.get(word, 0.0) for word in {**asked, **added}}


def _with_pairs(words: Sequence[str]) -> list[str]:
    return [*words, *(f"{first} {second}" for first, second in pairwise(words))]


class _Index:
    def __init__(self, lists: Sequence[Sequence[str]]) -> None:
        self._count = len(lists)
        self._lengths = [len(each) for each in lists]
        self._average = sum(self._lengths) / max(1, self._count) or 1.0
        self._held: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for position, words in enumerate(lists):
            for word, count in Counter(words).items():
                self._held[word].append((position, count))
        self._norms = self._cosine_norms()

    def rarity(self, word: str) -> float:
        """Return the inverse document frequency as BM25 has it."""
        held = len(self._held.get(word, ()))
        return math.log(1.0 + (self._count - held + 0.5) / (held + 0.5))

    def by_bm25(self, asked: Mapping[str, float]) -> list[int]:
        scores: dict[int, float] = defaultdict(float)
        for word, weight in asked.items():
            rarity = weight * self.rarity(word)
            for position, count in self._held.get(word, ()):
                length = 1.0 - B + B * self._lengths[position] / self._average
                scores[position] += rarity * count * (K1 + 1.0) / (count + K1 * length)
        return _best_first(scores)

    def by_cosine(self, asked: Mapping[str, float]) -> list[int]:
        scores: dict[int, float] = defaultdict(float)
        for word, weight in asked.items():
            rarity = self._smooth_rarity(word)
            for position, count in self._held.get(word, ()):
                value = (1.0 + math.log(count)) * rarity
                scores[position] += weight * rarity * value / self._norms[position]
        return _best_first(scores)

    def _smooth_rarity(self, word: str) -> float:
        return 1.0 + math.log((1.0 + self._count) / (1.0 + len(self._held.get(word, ()))))

    def _cosine_norms(self) -> list[float]:
        squares = [0.0] * self._count
        for word, held in self._held.items():
            rarity = self._smooth_rarity(word)
            for position, count in held:
                squares[position] += ((1.0 + math.log(count)) * rarity) ** 2
        return [math.sqrt(each) or 1.0 for each in squares]


def _best_first(scores: Mapping[int, float]) -> list[int]:
    return sorted(scores, key=lambda position: (-scores[position], position))
