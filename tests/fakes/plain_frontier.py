"""What a frontier must do, written down as plain lists: who waits, who holds a host until when, which reply is kept.

It knows no queue order: which request of a host is next is left to the frontiers, everything else is judged by this.
"""

from dataclasses import dataclass, field

from budget.frontier import Caps, Claim, Completion, Offer, Placed
from infra.keys import FRONTIER_SHARDS, frontier_shard


@dataclass
class PlainRequest:
    host: str
    waiters: list[str] = field(default_factory=list)
    lost: int = 0
    fence: int = 0
    lease_ms: int | None = None  # until when; None while it is queued


@dataclass
class PlainReply:
    body: bytes
    fresh_ms: int
    kept_ms: int
    owner: str


class PlainFrontier:
    def __init__(self, caps: Caps, pause_ms: int) -> None:
        self.caps = caps
        self.pause_ms = pause_ms
        self.requests: dict[str, PlainRequest] = {}
        self.replies: dict[str, PlainReply] = {}
        self.given: dict[tuple[str, str], int] = {}
        self.open_at: dict[str, int] = {}
        self.suspended: dict[str, int] = {}
        self.holder: dict[str, str] = {}  # who took a host last, until that one has ended
        self.floor = 0
        self.fences: dict[str, int] = {}

    def free_at(self, host: str) -> int:
        return max(self.open_at.get(host, 0), self.suspended.get(host, 0), self.floor)

    def queued(self, host: str) -> list[str]:
        return [u for u, r in self.requests.items() if r.host == host and r.lease_ms is None]

    def in_flight(self, host: str, now: int) -> list[str]:
        mine = {uid: each for uid, each in self.requests.items() if each.host == host}
        return [uid for uid, each in mine.items() if each.lease_ms and each.lease_ms > now]

    def kept(self, uid: str, now: int) -> bytes | None:
        found = self.replies.get(uid)
        return found.body if found and now < found.kept_ms else None

    def disposition(self, offer: Offer, now: int) -> str:
        """What must be said to an offer, as far as no order of turns is needed: "" where it is."""
        found, reply = self.requests.get(offer.uid), self.replies.get(offer.uid)
        given = self.given.get((offer.uid, offer.waiter), 0)
        if reply and now < reply.kept_ms and now < max(reply.fresh_ms, given):
            return "cached"
        if found and (found.lease_ms is not None or offer.waiter in found.waiters):
            is_first = (found.waiters or [offer.waiter])[0] == offer.waiter
            return "queued" if is_first else "joined"
        if self.suspended.get(offer.host, 0) > max(now, offer.deadline_ms):
            return "suspended"
        return "full" if found is None and self.is_full(offer) else ""

    def is_full(self, offer: Offer) -> bool:
        shard = frontier_shard(offer.host)
        near = [each for each in self.requests.values() if frontier_shard(each.host) == shard]
        load = sum(each.startswith(f"{offer.job}|") for one in near for each in one.waiters)
        return (
            len(self.queued(offer.host)) >= self.caps.host
            or load >= self.caps.job
            or len(near) >= self.caps.total // FRONTIER_SHARDS
        )

    def offered(self, offer: Offer, placed: Placed, now: int) -> None:
        expected = self.disposition(offer, now)
        assert placed.disposition == expected or not expected
        if placed.disposition == "cached":
            reply = self.replies[offer.uid]
            assert (placed.reply, placed.is_owner) == (reply.body, reply.owner == offer.waiter)
        if placed.disposition == "late":
            assert now + placed.ready_in_ms > offer.deadline_ms
        if placed.disposition == "suspended":
            assert placed.until_ms == self.suspended[offer.host] > offer.deadline_ms
        if placed.disposition not in {"queued", "joined"}:
            return
        if not expected:
            assert now + placed.ready_in_ms <= offer.deadline_ms
        found = self.requests.setdefault(offer.uid, PlainRequest(offer.host))
        if offer.waiter not in found.waiters:
            found.waiters.append(offer.waiter)
        assert (placed.disposition == "queued") == (found.waiters[0] == offer.waiter)

    def claimed(self, claim: Claim, now: int) -> None:
        found = self.requests[claim.uid]
        assert found.lease_ms is None, "one fetch per request"
        assert self.free_at(claim.host) <= now
        assert not self.in_flight(claim.host, now), "one request in flight per host"
        assert claim.attempt == found.lost + 1
        assert claim.fence > self.fences.get(claim.uid, 0)
        self.fences[claim.uid] = found.fence = claim.fence
        found.lease_ms = claim.lease_until_ms
        self.hold(claim.host, claim.uid, claim.lease_until_ms + self.pause_ms)

    def hold(self, host: str, who: str, until: int) -> None:
        self.holder[host] = who
        self.open_at[host] = until

    def holds(self, claim: Claim | Completion) -> bool:
        found = self.requests.get(claim.uid)
        return found is not None and found.lease_ms is not None and found.fence == claim.fence

    def is_due(self, now: int) -> list[str]:
        hosts = {each.host for each in self.requests.values() if each.lease_ms is None}
        return [each for each in hosts if self.free_at(each) <= now]

    def free(self, host: str, who: str, until: int) -> None:
        """Who took the host last ends its rest's beginning; for anyone else the rest only grows."""
        if self.holder.get(host) != who:
            until = max(until, self.open_at.get(host, 0))
        else:
            del self.holder[host]
        self.open_at[host] = until

    def completed(self, done: Completion, now: int) -> tuple[str, ...]:
        waiters = self.requests.pop(done.uid).waiters
        kept_ms = now + max(done.fresh_ms + done.stale_ms, done.keep_ms)
        self.replies[done.uid] = PlainReply(
            done.reply, now + done.fresh_ms, kept_ms, owner=(waiters or [""])[0]
        )
        self.given |= {(done.uid, each): now + done.keep_ms for each in waiters if done.keep_ms}
        if done.suspend_ms:
            until = now + done.suspend_ms
            self.suspended[done.host] = max(self.suspended.get(done.host, 0), until)
        self.free(done.host, done.uid, now + done.pause_ms)
        return tuple(waiters)

    def postponed(self, claim: Claim, pause_ms: int, now: int) -> None:
        self.requests[claim.uid].lease_ms = None
        self.drop_unwanted(claim.uid)
        self.free(claim.host, claim.uid, now + pause_ms)

    def drop_unwanted(self, uid: str) -> bool:
        found = self.requests.get(uid)
        gone = found is not None and not found.waiters and found.lease_ms is None
        if gone:
            del self.requests[uid]
        return gone

    def cancelled(self, job: str, waiters: list[tuple[str, str, str]]) -> int:
        removed = 0
        for uid, _host, waiter in waiters:
            found = self.requests.get(uid)
            if found and waiter in found.waiters and waiter.startswith(f"{job}|"):
                found.waiters.remove(waiter)
                removed += self.drop_unwanted(uid)
        return removed

    def reaped(self, max_attempts: int, limit: int, now: int) -> dict[str, tuple[str, ...]]:
        """Give expired claims back; return who waited for what is given up."""
        given_up: dict[str, tuple[str, ...]] = {}
        for shard in range(FRONTIER_SHARDS):
            expired = sorted(
                (each.lease_ms, uid)
                for uid, each in self.requests.items()
                if frontier_shard(each.host) == shard and each.lease_ms and each.lease_ms <= now
            )
            for _, uid in expired[:limit]:
                found = self.requests[uid]
                found.lease_ms, found.lost = None, found.lost + 1
                if self.holder.get(found.host) == uid:
                    del self.holder[found.host]
                if found.waiters and found.lost >= max_attempts:
                    given_up[uid] = tuple(self.requests.pop(uid).waiters)
                self.drop_unwanted(uid)
        return given_up
