"""A labelled question searched reply by reply, as a job would: what came, what was useful, on how many sources."""

from collections.abc import Callable, Iterator
from hashlib import blake2b

from msgspec import Struct

from scoring.stop_rule import Arrival

# How a source is read: so many documents a reply, one reply of each source a round, so many rounds at most.
PAGE = 5
ROUNDS = 12

# A judge that errs: the share of the useful that it sees, and of the others that it takes for useful.
_HITS = 0.85
_FALSE_HITS = 0.03

Judge = Callable[[str, str, bool], bool]
"""(question id, document id, whether the labels call it useful) -> whether it is taken for useful."""


class Search(Struct, frozen=True, kw_only=True):
    """A labelled question: what each source shows, best first, and which documents are useful."""

    question_id: str
    orders: tuple[tuple[str, ...], ...]
    useful: frozenset[str]

    @property
    def replies(self) -> int:
        """How many replies there are at most."""
        return len(self.orders) * ROUNDS

    def reachable(self) -> frozenset[str]:
        """Return the useful documents that all rounds together can show."""
        return self.useful & {each for order in self.orders for each in order[: PAGE * ROUNDS]}

    def shown(self) -> Iterator[tuple[int, int, tuple[str, ...]]]:
        """Yield round (from 1), source, and the documents of the reply: source by source, round by round."""
        for number in range(ROUNDS):
            for source, order in enumerate(self.orders):
                yield number + 1, source, order[number * PAGE : (number + 1) * PAGE]


def by_labels(_question: str, _document: str, is_useful: bool) -> bool:  # noqa: FBT001  one fact
    """Judge as the labels do."""
    return is_useful


def with_errors(question: str, document: str, is_useful: bool) -> bool:  # noqa: FBT001  one fact
    """Judge with errors that are the same on every run."""
    digest = blake2b(f"{question}\0{document}".encode(), digest_size=4).digest()
    return int.from_bytes(digest) / 2**32 < (_HITS if is_useful else _FALSE_HITS)


class Progress:
    """What a search has so far."""

    def __init__(self, search: Search, judge: Judge) -> None:
        self._search, self._judge = search, judge
        self._known: set[str] = set()
        self.met: dict[str, set[int]] = {}
        self.arrivals: list[Arrival] = []

    def take(self, in_round: int, source: int, shown: tuple[str, ...]) -> None:
        """Add one reply."""
        asked, labelled = self._search.question_id, self._search.useful
        useful = {each for each in shown if self._judge(asked, each, each in labelled)}
        self.arrivals.append(
            Arrival(
                new=len(useful - self.met.keys()),
                fresh=len(set(shown) - self._known),
                round=in_round,
            )
        )
        self._known.update(shown)
        for each in useful:
            self.met.setdefault(each, set()).add(source)

    @property
    def finds(self) -> tuple[int, ...]:
        """On how many sources each useful document was met."""
        return tuple(len(each) for each in self.met.values())

    @property
    def sources(self) -> int:
        """How many sources brought something useful."""
        return len({source for each in self.met.values() for source in each})
