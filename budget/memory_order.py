"""Names by score, as a sorted set of Redis has them: equal scores go by name.

A sorted list beside a dictionary: finding a place is a binary search and moving the rest one copy of memory, so that
no call walks over what it does not return. The memory twins keep what is due, leased, queued and remembered in these.
"""

from bisect import bisect_left, bisect_right, insort

_LAST = "\U0010ffff"


class Order:
    """A sorted set."""

    __slots__ = ("_scores", "_sorted")

    def __init__(self) -> None:
        """Start empty."""
        self._scores: dict[str, float] = {}
        self._sorted: list[tuple[float, str]] = []

    def __len__(self) -> int:
        """Return how many names there are."""
        return len(self._scores)

    def __contains__(self, name: str) -> bool:
        """Say whether a name has a score."""
        return name in self._scores

    def score(self, name: str) -> float | None:
        """Return the score of a name, None when it has none."""
        return self._scores.get(name)

    def put(self, name: str, score: float) -> None:
        """Give a name this score, whatever it had before."""
        if self._scores.get(name) == score:
            return
        self.drop(name)
        self._scores[name] = score
        insort(self._sorted, (score, name))

    def drop(self, name: str) -> float | None:
        """Take a name out; return the score it had."""
        score = self._scores.pop(name, None)
        if score is not None:
            del self._sorted[bisect_left(self._sorted, (score, name))]
        return score

    def first(self) -> tuple[float, str] | None:
        """Return the least score and its name, None when there is none."""
        return self._sorted[0] if self._sorted else None

    def until(self, score: float, limit: int | None = None) -> list[str]:
        """Return the names of up to `limit` scores that are not above this one, least first."""
        end = bisect_right(self._sorted, (score, _LAST))
        return [name for _, name in self._sorted[: end if limit is None else min(end, limit)]]

    def below(self, score: float) -> int:
        """Return how many scores are less than this one."""
        return bisect_left(self._sorted, (score, ""))

    def names(self) -> list[str]:
        """Return every name, least score first."""
        return [name for _, name in self._sorted]
