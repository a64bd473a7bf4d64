"""A host's queue and memory in one process: fair between jobs by virtual finish times."""

from collections import Counter

from msgspec import Struct, field

from budget.frontier import Offer
from budget.memory_order import Order
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
    queue: Order = field(default_factory=Order)
    virtual_time: float = 0.0
    out: int = 0
    finishes: dict[str, float] = field(default_factory=dict)

    def open_ms(self) -> int:
        """Return when the host may be asked again."""
        return max(self.next_ms, self.suspended_ms)

    def finish(self, offer: Offer, known: HostRequest | None, *, keeps: bool) -> float:
        """Return the finish time of an offer; joining may bring a request forward, never back."""
        if known is not None and keeps:
            return known.finish
        mine = max(self.virtual_time, self.finishes.get(offer.job, 0.0)) + stride(offer)
        return mine if known is None else min(known.finish, mine)


class Load:
    """How many waiters each job has."""

    def __init__(self) -> None:
        """Start with none."""
        self._waiters: Counter[str] = Counter()

    def __len__(self) -> int:
        """Return how many jobs have waiters."""
        return len(self._waiters)

    def of(self, waiter: str) -> int:
        """Return how many the job of this waiter has. A waiter is JOB|FETCH."""
        return self._waiters[_job_of(waiter)]

    def bear(self, waiter: str, by: int) -> None:
        """Count a waiter in or out."""
        job = _job_of(waiter)
        self._waiters[job] += by
        if not self._waiters[job]:
            del self._waiters[job]


def _job_of(waiter: str) -> str:
    return waiter.partition("|")[0]
