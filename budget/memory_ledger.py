"""The ledger in this process: the twin that tests compare with Redis, and the one for runs without a store.

For one thread; nothing survives the process.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import takewhile

from msgspec import Struct, field
from signal_search.contracts.budget import Amounts, Dimension

from budget.amounts import counted
from budget.ledger import DROPPED_AT_ONCE, REMEMBER_MS, Balance, Held, Reservation, Short, Want
from budget.memory_order import Order
from infra.clock import Clock, SystemClock


class _Level(Struct):
    limits: Amounts
    leaves_ms: int
    used: Counter[Dimension] = field(default_factory=Counter)
    held: Counter[Dimension] = field(default_factory=Counter)
    open: Order = field(default_factory=Order)  # holds by when they end

    def rest(self, name: Dimension) -> int:
        return self.limits[name] - self.used[name] - self.held[name]


class _Hold(Struct):
    levels: tuple[str, ...]
    cost: Amounts


class MemoryLedger:
    """The `Ledger` port in memory."""

    def __init__(self, clock: Clock | None = None) -> None:
        """Ask `clock` where a call does not say what time it is."""
        self._clock = clock or SystemClock()
        self._levels: dict[str, _Level] = {}
        self._holds: dict[str, _Hold] = {}
        self._ends = Order()
        self._ended: dict[str, int] = {}  # in the order in which they may be forgotten

    def open(self, level: str, limits: Amounts, *, ttl_ms: int) -> None:
        """Create a level or replace its limits."""
        leaves_ms = self._clock.now_ms() + ttl_ms if ttl_ms else 0
        found = self._level(level)
        if found is None:
            self._levels[level] = _Level(limits=dict(limits), leaves_ms=leaves_ms)
        else:
            found.limits, found.leaves_ms = dict(limits), leaves_ms

    def reserve(
        self,
        hold_id: str,
        levels: Sequence[str],
        cost: Amounts,
        *,
        lease_ms: int,
        now_ms: int = 0,
    ) -> Reservation:
        """Hold `cost` on all levels or on none."""
        now_ms, wanted = now_ms or self._clock.now_ms(), counted(cost)
        self._drop(self._ends.until(now_ms, DROPPED_AT_ONCE))
        known = {name: level for name in levels if (level := self._level(name)) is not None}
        if self._is_known(hold_id, now_ms, now_ms + lease_ms):
            return _held(known.values())
        short = _shortage(known, wanted)
        if short is None:
            self._hold(hold_id, _Hold(tuple(known), wanted), now_ms + lease_ms)
        return short or _held(known.values())

    def reserve_all(self, wants: Sequence[Want], *, now_ms: int = 0) -> list[Reservation]:
        """Reserve each in turn."""
        return [
            self.reserve(
                each.hold_id, each.levels, each.cost, lease_ms=each.lease_ms, now_ms=now_ms
            )
            for each in wants
        ]

    def settle(self, hold_id: str, used: Amounts) -> bool:
        """Turn a hold into usage with the real amounts."""
        return self._end(hold_id, counted(used))

    def settle_all(self, used: Sequence[tuple[str, Amounts]]) -> None:
        """Settle each hold in turn."""
        for each in used:
            self.settle(*each)

    def spend(self, want: Want, *, now_ms: int = 0) -> Reservation:
        """Reserve and settle."""
        (reserved,) = self.reserve_all([want], now_ms=now_ms)
        self.settle(want.hold_id, want.cost)
        return reserved

    def release(self, hold_id: str) -> bool:
        """Give a hold back unused."""
        return self._end(hold_id, {})

    def balance(self, level: str) -> Balance:
        """Return limits, used and held of a level."""
        found = self._level(level)
        if found is None:
            return Balance()
        return Balance(
            limits=dict(found.limits), used=counted(found.used), held=counted(found.held)
        )

    def close(self, level: str) -> int:
        """Release every open hold that includes this level."""
        found = self._level(level)
        return sum(self._end(each, {}) for each in found.open.names()) if found else 0

    def expire(self, *, limit: int = 100, now_ms: int = 0) -> int:
        """Release up to `limit` expired holds."""
        now_ms = now_ms or self._clock.now_ms()
        self._forget()
        return self._drop(self._ends.until(now_ms, limit))

    def _level(self, name: str) -> _Level | None:
        found = self._levels.get(name)
        if found is not None and 0 < found.leaves_ms <= self._clock.now_ms():
            del self._levels[name]
            return None
        return found

    def _is_known(self, hold_id: str, now_ms: int, ends_ms: int) -> bool:
        """Say whether the id is held (then prolong its lease) or ended; drop it when its lease has passed."""
        if self._ended.get(hold_id, 0) > self._clock.now_ms():
            return True
        old_ms = self._ends.score(hold_id)
        if old_ms is None or old_ms <= now_ms:
            self._drop([hold_id] if old_ms is not None else [])
            return False
        self._lease(hold_id, max(int(old_ms), ends_ms))
        return True

    def _lease(self, hold_id: str, ends_ms: int) -> None:
        self._ends.put(hold_id, ends_ms)
        for name in self._holds[hold_id].levels:
            level = self._level(name)
            if level is not None and hold_id in level.open:
                level.open.put(hold_id, ends_ms)

    def _hold(self, hold_id: str, hold: _Hold, ends_ms: int) -> None:
        self._holds[hold_id] = hold
        for name in hold.levels:
            self._levels[name].held.update(hold.cost)
            self._levels[name].open.put(hold_id, ends_ms)
        self._ends.put(hold_id, ends_ms)

    def _leave(self, hold_id: str, used: Amounts) -> None:
        hold = self._holds.pop(hold_id)
        self._ends.drop(hold_id)
        for name in hold.levels:
            level = self._level(name)
            if level is not None and hold_id in level.open:
                level.open.drop(hold_id)
                level.held.subtract(hold.cost)
                level.used.update(used)

    def _end(self, hold_id: str, used: Amounts) -> bool:
        if hold_id not in self._holds:
            return False
        self._leave(hold_id, used)
        self._ended.pop(hold_id, None)
        self._ended[hold_id] = self._clock.now_ms() + REMEMBER_MS
        return True

    def _drop(self, hold_ids: Sequence[str]) -> int:
        for each in hold_ids:
            self._leave(each, {})
        return len(hold_ids)

    def _forget(self) -> None:
        now_ms = self._clock.now_ms()
        past = takewhile(lambda each: self._ended[each] <= now_ms, self._ended)
        for each in list(past):
            del self._ended[each]


def _held(levels: Iterable[_Level]) -> Held:
    left: Amounts = {}
    for level in levels:
        for name in level.limits:
            rest = max(0, level.rest(name))
            left[name] = min(left.get(name, rest), rest)
    return Held(left=left)


def _shortage(levels: dict[str, _Level], cost: Amounts) -> Short | None:
    for level_name, level in levels.items():
        for name, amount in cost.items():
            if name in level.limits and level.rest(name) < amount:
                return Short(level=level_name, dimension=name, left=max(0, level.rest(name)))
    return None
