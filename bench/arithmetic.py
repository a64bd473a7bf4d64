"""The arithmetic of the benches: what is computed from a server's log and from lists of times. No clock, no network."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple


class Seen(NamedTuple):
    """One request as the server saw it: start and end in seconds by the server's monotonic clock."""

    start: float
    end: float
    host: str
    path: str


def quantile(values: Sequence[float], share: float) -> float:
    """Return the value below which `share` of the values lie (nearest rank); `values` is not empty."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def in_ms(seconds: Sequence[float]) -> dict[str, float]:
    """Return n, p50 and p99 of some times, in milliseconds."""
    return {
        "n": len(seconds),
        "p50_ms": round(quantile(seconds, 0.5) * 1000, 2),
        "p99_ms": round(quantile(seconds, 0.99) * 1000, 2),
    }


def by_host(seen: Iterable[Seen]) -> dict[str, list[Seen]]:
    """Return the requests of each host, by their start."""
    found: dict[str, list[Seen]] = defaultdict(list)
    for each in sorted(seen):
        found[each.host].append(each)
    return dict(found)


def gaps(seen: Iterable[Seen]) -> list[float]:
    """Return the seconds between the starts of neighbouring requests at one host, over all hosts."""
    return [
        later.start - earlier.start
        for each in by_host(seen).values()
        for earlier, later in pairwise(each)
    ]


def violations(seen: Iterable[Seen], interval_s: float) -> int:
    """Return how many requests began less than the interval after the one before at the same host."""
    return sum(gap < interval_s for gap in gaps(seen))


def overlaps(seen: Iterable[Seen]) -> int:
    """Return how many requests began before an earlier one at the same host had been answered."""
    count = 0
    for each in by_host(seen).values():
        answered = 0.0
        for one in each:
            count += one.start < answered
            answered = max(answered, one.end)
    return count


def span_s(seen: Sequence[Seen]) -> float:
    """Return the seconds from the first start to the last."""
    starts = [each.start for each in seen]
    return max(starts) - min(starts)


def per_second(seen: Sequence[Seen], interval_s: float) -> float:
    """Return requests per second; the last one fills an interval as every other does."""
    return len(seen) / (span_s(seen) + interval_s)


def host_use(seen: Iterable[Seen], interval_s: float) -> list[float]:
    """Return for each host its time for n requests over the least possible, (n - 1) intervals; 1.0 is perfect."""
    return [
        span_s(each) / ((len(each) - 1) * interval_s)
        for each in by_host(seen).values()
        if len(each) > 1
    ]


def middle(values: Sequence[float]) -> float:
    """Return the median."""
    return median(values)


def slope(points: Sequence[tuple[float, float]]) -> float:
    """Return by how much y grows for each x, by least squares over (x, y); at least two different x."""
    mean_x = sum(x for x, _y in points) / len(points)
    mean_y = sum(y for _x, y in points) / len(points)
    spread = sum((x - mean_x) ** 2 for x, _y in points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / spread
