"""Which things belong together when each pair that shares something does: union-find over positions.

The root of a group is its smallest position, so that the first one met stands for the others.
"""

from collections.abc import Hashable, Iterable, Sequence


class DisjointSets:
    """Positions 0..n-1, each in a group of its own until joined."""

    def __init__(self, size: int) -> None:
        """Put each position into a group of its own."""
        self._parent = list(range(size))

    def join(self, first: int, second: int) -> None:
        """Make the groups of two positions one."""
        low, high = sorted((self.root(first), self.root(second)))
        self._parent[high] = low

    def root(self, at: int) -> int:
        """Return the smallest position of a position's group."""
        parent = self._parent
        while parent[at] != at:
            parent[at] = parent[parent[at]]
            at = parent[at]
        return at


def groups_of(keys: Sequence[Iterable[Hashable]]) -> list[list[int]]:
    """Return the positions of things that share a key, directly or through others; groups in order of appearance."""
    sets, first_of = DisjointSets(len(keys)), dict[Hashable, int]()
    for at, each in enumerate(keys):
        for key in each:
            sets.join(first_of.setdefault(key, at), at)
    groups: dict[int, list[int]] = {}
    for at in range(len(keys)):
        groups.setdefault(sets.root(at), []).append(at)
    return list(groups.values())
