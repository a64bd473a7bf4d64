"""Stored replies of one shard in memory: fresh for everyone for a while, kept a while for who waited for them."""

from collections.abc import Sequence

from msgspec import Struct

from budget.frontier import Completion, Offer, Placed
from budget.memory_order import Order


class _Reply(Struct):
    body: bytes
    fresh_until_ms: int
    kept_until_ms: int
    owner: str


class MemoryReplies:
    """What `turn.lua` stores and `offer.lua` asks for."""

    def __init__(self) -> None:
        """Start empty."""
        self._replies: dict[str, _Reply] = {}
        self._given: dict[str, dict[str, int]] = {}
        self._ends = Order()  # by uid: when nothing of it is needed any more

    def store(self, done: Completion, waiters: Sequence[str], now_ms: int) -> None:
        """Replace the reply; who was given an earlier one keeps its right until that ends."""
        kept_until_ms = now_ms + max(done.fresh_ms + done.stale_ms, done.keep_ms)
        owner = waiters[0] if waiters else ""
        self._replies[done.uid] = _Reply(done.reply, now_ms + done.fresh_ms, kept_until_ms, owner)
        given = _after(self._given.get(done.uid, {}), now_ms)
        given.update(dict.fromkeys(waiters, now_ms + done.keep_ms))
        self._given[done.uid] = given
        self._ends.put(done.uid, max(kept_until_ms, *given.values(), 0))
        self.forget(now_ms)

    def placed(self, offer: Offer, now_ms: int) -> Placed | None:
        """Return the answer from a reply that is fresh or was given to this waiter, if there is one."""
        reply = self._replies.get(offer.uid)
        if reply is None or now_ms >= reply.kept_until_ms:
            return None
        if now_ms >= max(reply.fresh_until_ms, self._given[offer.uid].get(offer.waiter, 0)):
            return None
        is_owner = reply.owner == offer.waiter
        return Placed(disposition="cached", reply=reply.body, is_owner=is_owner)

    def get(self, uid: str, now_ms: int) -> bytes | None:
        """Return the reply while it is kept."""
        found = self._replies.get(uid)
        return found.body if found and now_ms < found.kept_until_ms else None

    def forget(self, now_ms: int) -> None:
        """Drop what nobody may ask for any more."""
        for uid in self._ends.until(now_ms):
            self._ends.drop(uid)
            del self._replies[uid], self._given[uid]


def _after(marks: dict[str, int], now_ms: int) -> dict[str, int]:
    return {waiter: until_ms for waiter, until_ms in marks.items() if until_ms > now_ms}
