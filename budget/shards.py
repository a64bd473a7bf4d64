"""How both frontiers divide work among their shards: by host, and claims where hosts are due.

A turn asks every shard at once for its share, then once more where a shard said that more is due: with few claims
wanted and all due hosts in one shard they would otherwise wait for nothing.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Protocol, TypeVar

from signal_search.errors import Broken

from budget.frontier import Claim, Completion, Delivery, Offer, Turn
from infra.keys import FRONTIER_SHARDS, frontier_shard


class HasHost(Protocol):
    """Anything that belongs to a host."""

    @property
    def host(self) -> str:
        """Return the host."""
        ...


T = TypeVar("T", bound=HasHost)
Ask = Callable[[int, Sequence[Completion], int], Awaitable[Turn]]
"""Ask one shard: (shard, what is done, how many claims are wanted)."""
Together = Callable[..., Awaitable[Sequence[Turn]]]

_UNKNOWN = 2**53


def by_shard(things: Iterable[T]) -> dict[int, list[T]]:
    """Return the things by the shard of their host, in their order."""
    found: dict[int, list[T]] = {}
    for each in things:
        found.setdefault(frontier_shard(each.host), []).append(each)
    return found


def waiters_by_shard(
    job: str, waiters: Iterable[tuple[str, str, str]]
) -> dict[int, list[tuple[str, str, str]]]:
    """Return the (uid, host, waiter) of this job by shard; other jobs' waiters are not ours to drop."""
    found: dict[int, list[tuple[str, str, str]]] = {}
    for each in waiters:
        if each[2].partition("|")[0] == job:
            found.setdefault(frontier_shard(each[1]), []).append(each)
    return found


def stride(offer: Offer) -> float:
    """Return how far an offer moves its job's virtual finish time.

    Raises:
        Broken: when the weight is not above 0.
    """
    if not offer.weight > 0:
        raise Broken("a weight is not above 0")
    return 1.0 / offer.weight


def delivery(uid: str, waiters: Sequence[str]) -> Delivery:
    """Return the delivery to these waiters, first come first."""
    return Delivery(uid=uid, waiters=tuple(waiters), owner=waiters[0] if waiters else "")


async def one_by_one(*asked: Awaitable[Turn]) -> Sequence[Turn]:
    """Await each in turn: for shards in this process, where tasks would cost more than the answers."""
    return [await each for each in asked]


class Rounds:
    """Turns over all shards; remembers which shard had the next host due, to begin there."""

    def __init__(self, together: Together = asyncio.gather) -> None:
        """Know nothing yet: begin with the first shard. `together` awaits the answers of all shards."""
        self._together = together
        self._due_in = [_UNKNOWN] * FRONTIER_SHARDS
        self._first = 0

    async def take(self, ask: Ask, done: Sequence[Completion], want: int) -> Turn:
        """Complete `done` and claim up to `want` requests."""
        finished = by_shard(done)
        order = self._order()
        shares = [want // len(order) + (place < want % len(order)) for place in range(len(order))]
        turns = await self._together(
            *(
                ask(shard, finished.get(shard, ()), share)
                for shard, share in zip(order, shares, strict=True)
            )
        )
        deliveries = [each for turn in turns for each in turn.deliveries]
        claims = [each for turn in turns for each in turn.claims]
        latest = dict(zip(order, turns, strict=True))
        await self._take_rest(ask, latest, claims, want)
        return Turn(
            deliveries=tuple(deliveries), claims=tuple(claims), next_in_ms=self._remember(latest)
        )

    async def _take_rest(
        self, ask: Ask, latest: dict[int, Turn], claims: list[Claim], want: int
    ) -> None:
        for shard in [each for each, turn in latest.items() if turn.next_in_ms == 0]:
            if len(claims) >= want:
                return
            latest[shard] = await ask(shard, (), want - len(claims))
            claims.extend(latest[shard].claims)

    def _order(self) -> list[int]:
        first, count = self._first, FRONTIER_SHARDS
        self._first = (first + 1) % count
        return sorted(range(count), key=lambda each: (self._due_in[each], (each - first) % count))

    def _remember(self, latest: dict[int, Turn]) -> int:
        for shard, turn in latest.items():
            self._due_in[shard] = turn.next_in_ms if turn.next_in_ms >= 0 else _UNKNOWN
        soonest = min(self._due_in)
        return soonest if soonest < _UNKNOWN else -1
