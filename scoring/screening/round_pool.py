"""How many new addresses a round may bring, and how they are shared between the targets that search in it."""

from collections.abc import Sequence
from fractions import Fraction
from math import ceil
from typing import Final

RECOVERY: Final = Fraction(5, 4)
"""Later rounds get their share by open keywords, and a quarter more."""


def pool_limit(*, open_keywords: int, keywords: int, most: int, least: int) -> int:
    """Return how many addresses a later round may bring: 0 where nothing is open, else `least`..`most`."""
    if open_keywords <= 0 or keywords <= 0:
        return 0
    return min(most, max(least, ceil(most * RECOVERY * open_keywords / keywords)))


def quotas(limit: int, open_keywords: Sequence[int]) -> list[int]:
    """Return each target's part of a limit by its open keywords (1 at least); the rest goes round from the first."""
    shares = [max(1, each) for each in open_keywords]
    total = sum(shares)
    parts = [limit * each // total for each in shares]
    for at in range(limit - sum(parts) if parts else 0):
        parts[at % len(parts)] += 1
    return parts
