"""How much of a question a document speaks about: BM25 over the job's own documents, brought to 0..1.

A question in Chinese and its English search words are two variants of one question: a document is measured by the
variant it matches best, so that an English page is not punished for lacking Chinese words.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct
from signal_search.contracts.document import Document
from signal_search.contracts.score import Component

from scoring.text import is_chinese, tokens

# Robertson and Zaragoza, The Probabilistic Relevance Framework (2009), usual values.
K1 = 1.2
B = 0.75
NEUTRAL = 0.5

Variants = tuple[tuple[str, ...], ...]


class Corpus(Struct, frozen=True, kw_only=True):
    """What the job's documents have in common: how many, how long, and how many hold each word."""

    documents: int
    average_length: float
    frequency: dict[str, int]


NO_CORPUS = Corpus(documents=0, average_length=0.0, frequency={})


def words_of(document: Document) -> list[str]:
    """Return the words of title and text."""
    return tokens(f"{document.title}\n{document.text}")


def corpus_of(word_lists: Iterable[Sequence[str]]) -> Corpus:
    """Count the words of the job's documents once for all questions."""
    lists = [each for each in word_lists if each]
    frequency = Counter(word for each in lists for word in set(each))
    average = sum(map(len, lists)) / len(lists) if lists else 0.0
    return Corpus(documents=len(lists), average_length=average, frequency=dict(frequency))


def variants_of(question: str, terms: Sequence[str] = ()) -> Variants:
    """Return the question's own words, and its search terms of the other script as a second variant."""
    own = tuple(dict.fromkeys(tokens(question)))
    asked_in_chinese = is_chinese(question)
    others = [each for each in terms if is_chinese(each) != asked_in_chinese]
    other = tuple(dict.fromkeys(tokens(" ".join(others))))
    if not other or set(other) <= set(own):
        return (own,)
    names = tuple(word for word in own if word.isascii()) if asked_in_chinese else ()
    return own, tuple(dict.fromkeys((*names, *other)))


def relevance(variants: Variants, words: Sequence[str], corpus: Corpus = NO_CORPUS) -> Component:
    """Return the share (0..1) of a question's weight that a document's words cover; .5 for an empty question."""
    asked = [each for each in variants if each]
    if not asked:
        return Component(value=NEUTRAL, reason="the question has no words to compare")
    counts = Counter(words)
    best = max(
        (_cover(each, counts, len(words), corpus) for each in asked), key=lambda each: each[0]
    )
    share, matched, of = best
    return Component(value=round(share, 4), reason=f"{matched} of {of} question words")


def _cover(
    asked: Sequence[str], counts: Counter[str], length: int, corpus: Corpus
) -> tuple[float, int, int]:
    total = sum(weight_of(word, corpus) for word in asked)
    got = sum(weight_of(word, corpus) * _strength(counts[word], length, corpus) for word in asked)
    matched = sum(counts[word] > 0 for word in asked)
    return (got / total if total else 0.0), matched, len(asked)


def weight_of(word: str, corpus: Corpus) -> float:
    """Return the inverse document frequency of a word; 1 for all words while there is nothing to compare with."""
    if corpus.documents < 2:
        return 1.0
    held = corpus.frequency.get(word, 0)
    return math.log(1.0 + (corpus.documents - held + 0.5) / (held + 0.5))


def _strength(count: int, length: int, corpus: Corpus) -> float:
    """Saturate a word's count by the document's length; one mention in a document of usual length is full strength."""
    if not count:
        return 0.0
    relative = length / corpus.average_length if corpus.average_length else 1.0
    return min(1.0, count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * relative)))
