"""The port of the frontier: which host may be asked next, for whom, and when. Politeness without waiting.

One request in flight per host; the next is allowed one pause after the last one completed. Identical requests (same
uid) are one fetch with many waiters. Nobody sleeps holding anything: a request that would come too late is refused.
Fails closed: when the store does not answer, `StoreFailed` is raised and nothing may be sent.

Host queues are fair between jobs (start-time fair queueing: a request's virtual finish time is
max(virtual time of the host, last finish time of its job there) + 1 / weight).
"""

from collections.abc import Sequence
from typing import Literal, Protocol

from msgspec import Struct

Disposition = Literal["queued", "joined", "cached", "full", "late", "suspended"]


class Caps(Struct, frozen=True, kw_only=True):
    """How much may wait: requests queued per host, waiters per job and shard, pending requests in all."""

    host: int
    job: int
    total: int


UNCAPPED = Caps(host=2**53, job=2**53, total=2**53)


class Offer(Struct, frozen=True, kw_only=True):
    """A request offered by a job. `waiter` is `JOB|FETCH` and unique per fetch of a job.

    payload is opaque (the encoded Request); deadline_ms is the job's deadline (epoch ms). weight is above 0;
    twice the weight gets twice the turns of a host.
    """

    uid: str
    host: str
    payload: bytes
    job: str
    waiter: str
    deadline_ms: int
    pause_ms: int
    weight: float = 1.0


class Placed(Struct, frozen=True, kw_only=True):
    """What became of an offer. ready_in_ms: a lower bound for when its turn comes (late: what it would have needed).

    until_ms: when a suspended host opens again. reply: the stored reply of a cached request. is_owner: it was fetched
    for this very waiter, who owned it then and pays for it, however often it asks.
    """

    disposition: Disposition
    ready_in_ms: int = 0
    until_ms: int | None = None
    reply: bytes = b""
    is_owner: bool = False


class Claim(Struct, frozen=True, kw_only=True):
    """A request to send now, and the exclusive right to its host until `lease_until_ms`.

    attempt: from 1, counts leases that were lost. fence: unique per claim; it goes into the Completion, so that who
    lost a lease cannot end the claim of who has it now.
    """

    uid: str
    host: str
    payload: bytes
    attempt: int
    fence: int
    lease_until_ms: int


class Completion(Struct, frozen=True, kw_only=True):
    """A finished request. `reply` is opaque; it is fresh for others during fresh_ms, kept for its waiters keep_ms.

    stale_ms: how long it is kept after it was fresh, for whoever fetches it again (`kept`). fence: that of the claim.

    pause_ms: how long the host rests from now on. suspend_ms: longer rest that also refuses new offers
    (Retry-After, back-off) with `suspend_reason`; 0 means none.
    """

    uid: str
    host: str
    fence: int
    reply: bytes
    fresh_ms: int
    keep_ms: int
    pause_ms: int
    stale_ms: int = 0
    suspend_ms: int = 0
    suspend_reason: str = ""


class Delivery(Struct, frozen=True, kw_only=True):
    """Who waited for a finished request, in order of arrival.

    `owner` (the first of those still waiting) pays for the fetch; empty when everyone has cancelled meanwhile.
    """

    uid: str
    waiters: tuple[str, ...]
    owner: str


class Turn(Struct, frozen=True, kw_only=True):
    """What one trip brought: deliveries of what was completed, new claims, ms until the next host is due (-1: none)."""

    deliveries: tuple[Delivery, ...] = ()
    claims: tuple[Claim, ...] = ()
    next_in_ms: int = -1


class HostState(Struct, frozen=True, kw_only=True):
    """How busy a host is: queued requests, when it may be asked next, whether it is suspended and why."""

    host: str
    queued: int
    next_in_ms: int
    suspended_until_ms: int | None = None
    reason: str = ""


class Frontier(Protocol):
    """The job's side (synchronous). `now_ms` 0 means "ask the store"."""

    def offer(self, offers: Sequence[Offer], *, now_ms: int = 0) -> list[Placed]:
        """Queue, join or answer from the cache; idempotent by uid and waiter.

        cached: a reply is fresh, or was delivered to this very waiter. full: over the host, job or total cap.
        late: by the host's queue it cannot be sent before deadline_ms. suspended: the host is suspended beyond
        deadline_ms. Whoever waits already gets the answer of the first time (queued: it is the owner, or joined).

        Raises:
            Broken: when a weight is not above 0.
        """
        ...

    def reply(self, uid: str, host: str) -> bytes | None:
        """Return the stored reply of a cached or delivered request, None when it is gone."""
        ...

    def cancel(self, job: str, waiters: Sequence[tuple[str, str, str]]) -> int:
        """Drop a job's waiters, given as (uid, host, waiter); requests nobody waits for leave the queue.

        What is in flight completes and is cached for others. Returns how many queued requests were removed.
        """
        ...

    def host_state(self, host: str, *, now_ms: int = 0) -> HostState:
        """Return what is known of a host."""
        ...


class FrontierWorker(Protocol):
    """The crawl worker's side (asyncio)."""

    async def turn(
        self,
        done: Sequence[Completion],
        want: int,
        *,
        lease_ms: int,
        pause_ms: int,
        now_ms: int = 0,
    ) -> Turn:
        """Complete `done`, then claim up to `want` requests of hosts that are due, one per host.

        A completion whose lease was lost (reaped) is ignored: its request is someone else's now. While claimed, a
        host is held until lease + pause, so that a crash frees it by itself.
        """
        ...

    async def postpone(self, claim: Claim, *, pause_ms: int, now_ms: int = 0) -> bool:
        """Put a claim back at the head of its host's queue, its attempt uncounted; the host rests pause_ms.

        For a slot that was used for something else (robots.txt). False when the lease was lost.
        """
        ...

    async def renew(self, claim: Claim, *, lease_ms: int, now_ms: int = 0) -> bool:
        """Prolong a claim just before sending: the check that counts. False when the lease was lost: do not send.

        Lost means reaped or past `lease_until_ms`, reaped or not: by then the host may be someone else's.
        """
        ...

    async def visit(self, uid: str, host: str, *, hold_ms: int, now_ms: int = 0) -> int:
        """Take a host that is free for one request that stands in no queue; 0 means go, else ms to ask again.

        For a robots.txt that another host's leads to. Held for hold_ms or until `depart`, whichever is first; `uid`
        names the visitor and is no request of this host.
        """
        ...

    async def depart(self, uid: str, host: str, *, pause_ms: int, now_ms: int = 0) -> None:
        """End a visit: the host rests pause_ms from now on, or longer if someone else holds it by now."""
        ...

    async def kept(self, uid: str, host: str) -> bytes | None:
        """Return the reply to an earlier request of this uid, fresh or stale, None when it is gone."""
        ...

    async def reap(
        self, *, max_attempts: int, limit: int = 100, now_ms: int = 0
    ) -> tuple[Delivery, ...]:
        """Return up to `limit` expired claims per shard to the heads of their queues, in their old order.

        After `max_attempts` lost leases a request is given up: it leaves without a reply and its Delivery is returned.
        What nobody waits for any more leaves silently.
        """
        ...

    async def hold_all(self, *, pause_ms: int, now_ms: int = 0) -> None:
        """Let every host rest for pause_ms: after a restart the store may have forgotten recent requests."""
        ...

    async def listen(self, timeout_ms: int) -> bool:
        """Wait until something may have been queued; False when `timeout_ms` passed first.

        The first call returns True at once: nobody listened before, so nobody knows. A True too many is possible.
        """
        ...
