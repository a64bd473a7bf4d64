"""Which results are no further source beside each other: of one site, with the same text, or near-copies.

Cautious on purpose: grouping too much only lowers R, a topic's first result keeps its worth
(adaptive search guide).
"""

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from functools import lru_cache
from urllib.parse import urlsplit

from msgspec import Struct

from scoring.disjoint_sets import DisjointSets

_SHINGLE_CHARS = 5
_COPY = 0.9  # of the larger one's size, and of all their shingles
_NO_WORD = re.compile(r"[\W_]+")
_UNKNOWN = "unknown"
Shingles = frozenset[str]


class Text(Struct, frozen=True, kw_only=True):
    """A result as far as grouping looks at it."""

    url: str
    text: str


def source_groups(texts: Sequence[Text]) -> list[int]:
    """Return for each text the number of its group: the position of the group's first text. Transitive."""
    sets = DisjointSets(len(texts))
    first_of: dict[Hashable, int] = {}
    plain = [normal_form(each.text) for each in texts]
    for at, each in enumerate(texts):
        sets.join(first_of.setdefault(("site", site_of(each.url)), at), at)
        if plain[at]:
            sets.join(first_of.setdefault(("text", plain[at]), at), at)
    distinct = {text: at for at, text in reversed(list(enumerate(plain))) if text}
    for first, second in _near_copies(list(distinct)):
        sets.join(distinct[first], distinct[second])
    return [sets.root(at) for at in range(len(texts))]


def site_of(url: str) -> str:
    """Return the last two labels of a host without `www.`, "unknown" for what is no address."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        host = ""
    labels = host.removeprefix("www.").rstrip(".").split(".")
    return ".".join(labels[-2:]) if host else _UNKNOWN


@lru_cache(maxsize=8192)
def normal_form(text: str) -> str:
    """Return a text as lower-case letters and digits alone."""
    return _NO_WORD.sub("", text.lower())


def _near_copies(texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield all pairs of which 0.9 of the shingles are the same.

    Exact at any number: sets as similar as that share one of their rarest few shingles, so that only texts with such a
    one in common are compared (prefix filtering).
    """
    sets = [_shingles(each) for each in texts]
    seen = Counter(shingle for each in sets for shingle in each)
    by_rare: dict[str, list[int]] = {}
    for at, own in enumerate(sets):
        rarest = sorted(own, key=lambda each: (seen[each], each))
        prefix = rarest[: len(own) // 10 + 1]  # all but nine tenths, and one
        others = {other for shingle in prefix for other in by_rare.get(shingle, ())}
        for other in sorted(others):
            if _is_copy(own, sets[other]):
                yield texts[other], texts[at]
        for shingle in prefix:
            by_rare.setdefault(shingle, []).append(at)


def _is_copy(first: Shingles, second: Shingles) -> bool:
    small, large = sorted((len(first), len(second)))
    if not small or small < _COPY * large:
        return False
    shared = len(first & second)
    return shared >= _COPY * (small + large - shared)


@lru_cache(maxsize=4096)
def _shingles(text: str) -> Shingles:
    last = max(1, len(text) - _SHINGLE_CHARS + 1)
    return frozenset(text[at : at + _SHINGLE_CHARS] for at in range(last))
