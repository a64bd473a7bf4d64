"""Reciprocal rank fusion: one order out of several whose scores cannot be compared."""

import math
from collections.abc import Sequence

from msgspec import Struct

# Cormack, Clarke and Buettcher, "Reciprocal rank fusion outperforms Condorcet and individual rank learning methods"
# (SIGIR 2009); the search guide keeps it.
RRF_K = 60


class Fused(Struct, frozen=True):
    """A key, its score and the best rank it had, from 1."""

    key: str
    score: float
    best_rank: int


def fuse(lists: Sequence[Sequence[str]], *, k: int = RRF_K) -> list[Fused]:
    """Return the keys of all lists, best first: the score is the sum of 1 / (k + rank) over the lists that have it.

    A key counts once for a list, at its best rank. Ties go by best rank, then by key, so the order of the lists changes
    nothing.
    """
    ranks: dict[str, list[int]] = {}
    for each in lists:
        for rank, key in enumerate(dict.fromkeys(each), 1):
            ranks.setdefault(key, []).append(rank)
    fused = [
        # fsum: the same bits in whatever order the lists come.
        Fused(key, math.fsum(1 / (k + rank) for rank in found), min(found))
        for key, found in ranks.items()
    ]
    return sorted(fused, key=lambda each: (-each.score, each.best_rank, each.key))
