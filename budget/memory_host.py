"""A host's queue and memory in one process: fair between jobs by virtual finish times."""

from msgspec import Struct, field

from budget.frontier import Offer
from budget.shards import stride


class HostRequest(Struct):
    """A request that is queued or in flight. `waiters` are in order of arrival."""

    host: str
    payload: bytes
    finish: float = 0.0
    waiters: dict[str, None] = field(default_factory=dict)
    lost: int = 0
    fence: int = 0
    pause_ms: int = 0


class HostQueue(Struct):
    """When a host may be asked, who holds it, and what is queued for it by finish time.

    out: claims in flight or lost; finishes: the last finish time of each job here.
    """

    next_ms: int = 0
    suspended_ms: int = 0
    busy: str = ""
    reason: str = ""
    queue: dict[str, float] = field(default_factory=dict)
    virtual_time: float = 0.0
    out: int = 0
    finishes: dict[str, float] = field(default_factory=dict)

    def open_ms(self) -> int:
        """Return when the host may be asked again."""
        return max(self.next_ms, self.suspended_ms)

    def head(self) -> str:
        """Return the uid whose turn is next; equal finish times go by uid, as in a sorted set."""
        return min(self.queue, key=lambda uid: (self.queue[uid], uid))

    def finish(self, offer: Offer, known: HostRequest | None, *, keeps: bool) -> float:
        """Return the finish time of an offer; joining may bring a request forward, never back."""
        if known is not None and keeps:
            return known.finish
        mine = max(self.virtual_time, self.finishes.get(offer.job, 0.0)) + stride(offer)
        return mine if known is None else min(known.finish, mine)
