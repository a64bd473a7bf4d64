"""How much of what there is to find has been seen: two estimates from how often each find was met.

Sources are not independent captures, so both estimates are too high; the lower one is taken and its basis is named.
"""

from collections.abc import Sequence

from msgspec import Struct


class Saturation(Struct, frozen=True):
    """The estimate (0..1; 0 without finds) and what it rests on."""

    value: float
    basis: str


def saturation_of(counts: Sequence[int]) -> Saturation:
    """Estimate from the number of independent sites on which each distinct find was seen."""
    seen = [each for each in counts if each > 0]
    if not seen:
        return Saturation(0.0, "no finds")
    chao, turing = chao1_share(seen), good_turing_share(seen)
    basis = f"estimate: chao1 {chao:.2f}, good-turing {turing:.2f}; {len(seen)} finds, {sum(seen)} sightings"
    return Saturation(round(min(chao, turing), 4), basis)


def chao1_share(counts: Sequence[int]) -> float:
    """Return seen / estimated by Chao1, bias-corrected: S + f1 (f1 - 1) / (2 (f2 + 1)) (Chao 1984; 2005)."""
    once, twice = _times(counts, 1), _times(counts, 2)
    unseen = once * (once - 1) / (2 * (twice + 1))
    return len(counts) / (len(counts) + unseen) if counts else 0.0


def good_turing_share(counts: Sequence[int]) -> float:
    """Return 1 - f1 / n, the share of sightings to come that will be of known finds (Good 1953)."""
    total = sum(counts)
    return 1.0 - _times(counts, 1) / total if total else 0.0


def _times(counts: Sequence[int], number: int) -> int:
    return sum(each == number for each in counts)
