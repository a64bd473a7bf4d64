"""One shard of the memory frontier: the rules of `lua/*.lua` once more, apart, so that tests can compare them."""

from collections.abc import Sequence
from math import inf

from budget.frontier import (
    Caps,
    Claim,
    Completion,
    Delivery,
    Disposition,
    HostState,
    Offer,
    Placed,
    Turn,
)
from budget.memory_host import HostQueue, HostRequest, Load
from budget.memory_order import Order
from budget.memory_replies import MemoryReplies
from budget.shards import delivery


class MemoryShard:
    """Queues, leases and replies of the hosts of one shard. Every method is told the time."""

    def __init__(self, caps: Caps) -> None:
        """Start empty; `caps.total` is this shard's own."""
        self._caps = caps
        self._hosts: dict[str, HostQueue] = {}
        self._requests: dict[str, HostRequest] = {}
        self._ready = Order()  # hosts by when they may be asked
        self._leases = Order()
        self._idle = Order()  # hosts without a queue, by when they may be forgotten
        self._load = Load()
        self._replies = MemoryReplies()
        self._floor_ms = 0
        self._fence = 0

    def offer(self, offer: Offer, now_ms: int) -> tuple[Placed, bool]:
        """Return what became of an offer, and whether something new was queued."""
        cached = self._replies.placed(offer, now_ms)
        if cached is not None:
            return cached, False
        if offer.uid in self._leases:
            return Placed(disposition=self._join(offer)), False
        return self._place(offer, now_ms)

    def _join(self, offer: Offer) -> Disposition:
        waiters = self._requests[offer.uid].waiters
        if offer.waiter not in waiters:
            waiters[offer.waiter] = None
            self._load.bear(offer.waiter, 1)
        return "queued" if next(iter(waiters)) == offer.waiter else "joined"

    def _place(self, offer: Offer, now_ms: int) -> tuple[Placed, bool]:
        host = self._hosts.get(offer.host) or HostQueue()
        known = self._requests.get(offer.uid)
        waits = known is not None and offer.waiter in known.waiters
        finish = host.finish(offer, known, keeps=waits)
        ahead_ms = host.queue.below(finish) * offer.pause_ms
        ready_in_ms = self._wait_ms(host, offer, now_ms) + ahead_ms
        until_ms = host.suspended_ms if host.suspended_ms > now_ms else None
        refused = None if waits else self._refusal(offer, host, now_ms, now_ms + ready_in_ms)
        if refused is None and not waits:
            self._enter(offer, host, finish, now_ms)
        placed = Placed(
            disposition=refused or self._join(offer), ready_in_ms=ready_in_ms, until_ms=until_ms
        )
        return placed, known is None and refused is None

    def _wait_ms(self, host: HostQueue, offer: Offer, now_ms: int) -> int:
        rest = host.next_ms - now_ms
        if host.busy:
            rest = min(rest, offer.pause_ms)  # what is in flight may complete at once
        return max(0, rest, host.suspended_ms - now_ms, self._floor_ms - now_ms)

    def _refusal(
        self, offer: Offer, host: HostQueue, now_ms: int, ready_ms: int
    ) -> Disposition | None:
        if host.suspended_ms > max(now_ms, offer.deadline_ms):
            return "suspended"
        if offer.uid not in self._requests and self._is_full(offer, host):
            return "full"
        return "late" if ready_ms > offer.deadline_ms else None

    def _is_full(self, offer: Offer, host: HostQueue) -> bool:
        return (
            len(host.queue) >= self._caps.host
            or len(self._requests) >= self._caps.total
            or self._load.of(offer.waiter) >= self._caps.job
        )

    def _enter(self, offer: Offer, host: HostQueue, finish: float, now_ms: int) -> None:
        self._hosts[offer.host] = host
        request = self._requests.setdefault(offer.uid, HostRequest(offer.host, offer.payload))
        if host.queue.score(offer.uid) != finish:
            host.finishes[offer.job] = request.finish = finish
            host.queue.put(offer.uid, finish)
        if offer.host not in self._ready:
            self._reschedule(offer.host, now_ms)

    def reply(self, uid: str, now_ms: int) -> bytes | None:
        """Return a stored reply."""
        return self._replies.get(uid, now_ms)

    def turn(
        self, done: Sequence[Completion], want: int, lease_ms: int, pause_ms: int, now_ms: int
    ) -> Turn:
        """Complete what is done, then claim."""
        deliveries = [self._complete(each, now_ms) for each in done if self._holds(each)]
        due = [] if now_ms < self._floor_ms else self._ready.until(now_ms, want)
        claims = [self._claim(each, now_ms + lease_ms, pause_ms, now_ms) for each in due]
        return Turn(
            deliveries=tuple(deliveries),
            claims=tuple(claims),
            next_in_ms=self._next_in_ms(now_ms),
        )

    def _next_in_ms(self, now_ms: int) -> int:
        first = self._ready.first()
        return max(0, int(max(first[0], self._floor_ms)) - now_ms) if first else -1

    def _holds(self, claim: Claim | Completion) -> bool:
        return claim.uid in self._leases and self._requests[claim.uid].fence == claim.fence

    def _complete(self, done: Completion, now_ms: int) -> Delivery:
        self._end_lease(done.uid, done.host)
        waiters = self._leave(done.uid)
        self._replies.store(done, waiters, now_ms)
        if done.suspend_ms > 0:
            self._suspend(done, now_ms + done.suspend_ms)
        self._free(done.uid, done.host, done.pause_ms, now_ms)
        return delivery(done.uid, waiters)

    def _suspend(self, done: Completion, until_ms: int) -> None:
        host = self._hosts[done.host]
        if until_ms > host.suspended_ms:
            host.suspended_ms, host.reason = until_ms, done.suspend_reason

    def _claim(self, name: str, lease_until_ms: int, pause_ms: int, now_ms: int) -> Claim:
        host = self._hosts[name]
        uid = host.queue.until(inf, 1)[0]
        host.virtual_time = max(host.virtual_time, host.queue.drop(uid) or 0.0)
        host.out += 1
        host.busy, host.next_ms = uid, lease_until_ms + pause_ms
        self._fence += 1
        self._leases.put(uid, lease_until_ms)
        request = self._requests[uid]
        request.fence, request.pause_ms = self._fence, pause_ms
        self._reschedule(name, now_ms)
        return Claim(
            uid=uid,
            host=name,
            payload=request.payload,
            attempt=request.lost + 1,
            fence=request.fence,
            lease_until_ms=lease_until_ms,
        )

    def postpone(self, claim: Claim, pause_ms: int, now_ms: int) -> bool:
        """Put a claim back at the head."""
        if not self._holds(claim):
            return False
        self._end_lease(claim.uid, claim.host)
        if self._requests[claim.uid].waiters:
            self._requeue(claim.uid)
        else:
            self._leave(claim.uid)
        self._free(claim.uid, claim.host, pause_ms, now_ms)
        return True

    def renew(self, claim: Claim, lease_ms: int, now_ms: int) -> bool:
        """Prolong a claim."""
        old_ms = int(self._leases.score(claim.uid) or 0)
        if not self._holds(claim) or old_ms <= now_ms:
            return False
        ends_ms = max(old_ms, now_ms + lease_ms)
        self._leases.put(claim.uid, ends_ms)
        host = self._hosts[claim.host]
        host.busy, host.next_ms = claim.uid, ends_ms + self._requests[claim.uid].pause_ms
        self._reschedule(claim.host, now_ms)
        return True

    def visit(self, uid: str, name: str, hold_ms: int, now_ms: int) -> int:
        """Take a free host."""
        host = self._hosts.get(name) or HostQueue()
        wait_ms = max(host.open_ms(), self._floor_ms) - now_ms
        if wait_ms > 0:
            return wait_ms
        self._hosts[name] = host
        host.busy, host.next_ms = uid, now_ms + hold_ms
        self._reschedule(name, now_ms)
        return 0

    def depart(self, uid: str, name: str, pause_ms: int, now_ms: int) -> None:
        """End a visit."""
        self._hosts.setdefault(name, HostQueue())
        self._free(uid, name, pause_ms, now_ms)

    def reap(self, max_attempts: int, limit: int, now_ms: int) -> tuple[list[Delivery], bool]:
        """Return what was given up, and whether something went back to its queue; forget what has passed."""
        expired = self._leases.until(now_ms, limit)
        outcomes = [self._reap(each, max_attempts, now_ms) for each in expired]
        woken = any(each in self._requests for each in expired)
        self._forget(now_ms)
        return [each for each in outcomes if each is not None], woken

    def _reap(self, uid: str, max_attempts: int, now_ms: int) -> Delivery | None:
        request = self._requests[uid]
        host = self._hosts[request.host]
        self._end_lease(uid, request.host)
        request.lost += 1
        given_up = bool(request.waiters) and request.lost >= max_attempts
        waiters = self._leave(uid) if given_up or not request.waiters else []
        if uid in self._requests:
            self._requeue(uid)
        if host.busy == uid:
            host.busy = ""
        if request.host not in self._ready:
            self._reschedule(request.host, now_ms)
        self._tidy(request.host)
        return delivery(uid, waiters) if given_up else None

    def cancel(self, uid: str, name: str, waiter: str) -> bool:
        """Drop a waiter; say whether a queued request left with it."""
        request = self._requests.get(uid)
        if request is None or waiter not in request.waiters:
            return False
        del request.waiters[waiter]
        self._load.bear(waiter, -1)
        if request.waiters or uid in self._leases:
            return False
        self._hosts[name].queue.drop(uid)
        self._leave(uid)
        self._tidy(name)
        return True

    def hold_all(self, until_ms: int) -> None:
        """Ask no host before `until_ms`."""
        self._floor_ms = max(self._floor_ms, until_ms)

    def host_state(self, name: str, now_ms: int) -> HostState:
        """Return what is known of a host."""
        host = self._hosts.get(name) or HostQueue()
        suspended = host.suspended_ms > now_ms
        return HostState(
            host=name,
            queued=len(host.queue),
            next_in_ms=max(0, max(host.open_ms(), self._floor_ms) - now_ms),
            suspended_until_ms=host.suspended_ms if suspended else None,
            reason=host.reason if suspended else "",
        )

    def _free(self, uid: str, name: str, pause_ms: int, now_ms: int) -> None:
        host = self._hosts[name]
        if host.busy == uid:
            host.busy, host.next_ms = "", now_ms + pause_ms
        else:
            host.next_ms = max(host.next_ms, now_ms + pause_ms)
        self._reschedule(name, now_ms)
        self._tidy(name)

    def _reschedule(self, name: str, now_ms: int) -> None:
        host = self._hosts[name]
        if host.queue:
            self._ready.put(name, max(now_ms, host.open_ms()))
            self._idle.drop(name)
        else:
            self._ready.drop(name)
            self._idle.put(name, host.open_ms())

    def _tidy(self, name: str) -> None:
        host = self._hosts[name]
        if host.queue:
            return
        self._ready.drop(name)
        self._idle.put(name, host.open_ms())
        if host.out <= 0:
            host.virtual_time, host.finishes = 0.0, {}

    def _end_lease(self, uid: str, name: str) -> None:
        self._leases.drop(uid)
        self._hosts[name].out -= 1

    def _requeue(self, uid: str) -> None:
        request = self._requests[uid]
        self._hosts[request.host].queue.put(uid, request.finish)

    def _leave(self, uid: str) -> list[str]:
        waiters = list(self._requests.pop(uid).waiters)
        for each in waiters:
            self._load.bear(each, -1)
        return waiters

    def _forget(self, now_ms: int) -> None:
        for name in self._idle.until(now_ms):
            if not self._hosts[name].out:
                self._idle.drop(name)
                del self._hosts[name]
        self._replies.forget(now_ms)
