"""Near-copies: texts that say the same in the same words, so that one wire report on ten sites counts once.

Containment of 4-word shingles finds copies and excerpts; a 64-bit fingerprint finds a long copy whose
paragraphs were moved. A short text needs the first: "the dose was 5 mg" and "the dose was 6 mg" have one fingerprint.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import md5
from itertools import combinations

from signal_search.contracts.document import Document

from scoring.disjoint_sets import DisjointSets, groups_of
from scoring.identity import work_keys
from scoring.text import tokens

SHINGLE_WORDS = 4
CONTAINMENT = 0.8
HAMMING = 3
# Below this many words a fingerprint says too little.
FINGERPRINT_WORDS = 60

_WORD = re.compile(r"\w{2,}")
_BITS = 64


def shingles(words: Sequence[str]) -> frozenset[tuple[str, ...]]:
    """Return the runs of four words; a shorter text is one run."""
    if len(words) <= SHINGLE_WORDS:
        return frozenset({tuple(words)} if words else ())
    return frozenset(
        tuple(words[at : at + SHINGLE_WORDS]) for at in range(len(words) - SHINGLE_WORDS + 1)
    )


def containment(first: frozenset[tuple[str, ...]], second: frozenset[tuple[str, ...]]) -> float:
    """Return the share of the smaller set that is in the other; 0 when one is empty."""
    smaller = min(len(first), len(second))
    return len(first & second) / smaller if smaller else 0.0


def simhash(text: str) -> int:
    """Return a 64-bit fingerprint: the words' MD5s vote on each bit, every distinct word once; 0 for none."""
    votes = [0] * _BITS
    for word in set(_WORD.findall(text.lower())):
        value = int(md5(word.encode(), usedforsecurity=False).hexdigest(), 16)
        for bit in range(_BITS):
            votes[bit] += 1 if value >> bit & 1 else -1
    return sum(1 << bit for bit in range(_BITS) if votes[bit] > 0)


def hamming(first: int, second: int) -> int:
    """Return in how many bits two fingerprints differ."""
    return (first ^ second).bit_count()


def copy_groups(documents: Sequence[Document]) -> tuple[int, ...]:
    """Return for each document the position of the first one that it shares its work or its words with.

    Documents that name two different DOIs are different works, however alike their texts are.
    """
    sets = DisjointSets(len(documents))
    for first, second in (*_same_keys(documents), *_same_words(documents)):
        sets.join(first, second)
    return tuple(sets.root(at) for at in range(len(documents)))


def unique(documents: Sequence[Document]) -> tuple[Document, ...]:
    """Keep the first document of each group, in order."""
    groups = copy_groups(documents)
    return tuple(each for at, each in enumerate(documents) if groups[at] == at)


def independent_sites(documents: Sequence[Document]) -> int:
    """Count the sites that speak for themselves: one site counts once, and so do all copies of one text."""
    groups = copy_groups(documents)
    return len(groups_of([(groups[at], each.site) for at, each in enumerate(documents)]))


Pair = tuple[int, int]


def _same_keys(documents: Sequence[Document]) -> Iterable[Pair]:
    first_of: dict[str, int] = {}
    for at, each in enumerate(documents):
        for key in sorted(work_keys(each)):
            yield first_of.setdefault(key, at), at


def _same_words(documents: Sequence[Document]) -> Iterable[Pair]:
    marks = [_marks(each.text) for each in documents]
    sets = [each[0] for each in marks]
    prints = {at: print_ for at, (_, print_) in enumerate(marks) if print_ is not None}
    for pair in sorted({*_contained(sets), *_alike(prints)}):
        if not _are_distinct_works(documents[pair[0]], documents[pair[1]]):
            yield pair


@lru_cache(maxsize=128)
def _marks(text: str) -> tuple[frozenset[tuple[str, ...]], int | None]:
    """Return a text's shingles and, if it is long enough, its fingerprint; every arrival asks again."""
    words = tokens(text)
    return shingles(words), simhash(text) if len(words) >= FINGERPRINT_WORDS else None


def _contained(sets: Sequence[frozenset[tuple[str, ...]]]) -> Iterable[Pair]:
    """Count shared shingles through an index: only documents with one in common are ever compared."""
    holders: dict[tuple[str, ...], list[int]] = {}
    for at, each in enumerate(sets):
        for shingle in each:
            holders.setdefault(shingle, []).append(at)
    shared = Counter(pair for each in holders.values() for pair in combinations(each, 2))
    for (first, second), count in shared.items():
        if count >= CONTAINMENT * min(len(sets[first]), len(sets[second])):
            yield first, second


def _alike(prints: Mapping[int, int]) -> Iterable[Pair]:
    for first, second in combinations(prints, 2):
        if hamming(prints[first], prints[second]) <= HAMMING:
            yield first, second


def _are_distinct_works(first: Document, second: Document) -> bool:
    return bool(first.doi and second.doi)
