"""The ledger in this process: the twin that tests compare with Redis, and the one for runs without a store.

For one thread; nothing survives the process.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct, field
from signal_search.contracts.budget import Amounts, Dimension

from budget.amounts import counted
from budget.ledger import DROPPED_AT_ONCE, REMEMBER_MS, Balance, Held, Reservation, Short
from infra.clock import Clock, SystemClock


class _Level(Struct):
    limits: Amounts
    leaves_ms: int
    used: Counter[Dimension] = field(default_factory=Counter)
    held: Counter[Dimension] = field(default_factory=Counter)
    open: set[str] = field(default_factory=set)

    def rest(self, name: Dimension) -> int:
        return self.limits[name] - self.used[name] - self.held[name]


class _Hold(Struct):
    levels: tuple[str, ...]
    cost: Amounts
    ends_ms: int


class MemoryLedger:
    """The `Ledger` port in memory."""

    def __init__(self, clock: Clock | None = None) -> None:
        """Ask `clock` where a call does not say what time it is."""
        self._clock = clock or SystemClock()
        self._levels: dict[str, _Level] = {}
        self._holds: dict[str, _Hold] = {}
        self._ended: dict[str, int] = {}

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
        now_ms = now_ms or self._clock.now_ms()
        self._drop_expired(self._oldest(), now_ms, DROPPED_AT_ONCE)
        known = {name: level for name in levels if (level := self._level(name)) is not None}
        if self._is_known(hold_id, now_ms, now_ms + lease_ms):
            return _held(known.values())
        wanted = counted(cost)
        short = _shortage(known, wanted)
        if short is None:
            self._hold(hold_id, _Hold(tuple(known), wanted, now_ms + lease_ms))
        return short or _held(known.values())

    def settle(self, hold_id: str, used: Amounts) -> bool:
        """Turn a hold into usage with the real amounts."""
        return self._end(hold_id, counted(used))

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
        return sum(self._end(each, {}) for each in sorted(found.open)) if found else 0

    def expire(self, *, limit: int = 100, now_ms: int = 0) -> int:
        """Release up to `limit` expired holds."""
        now_ms = now_ms or self._clock.now_ms()
        self._forget()
        return self._drop_expired(self._oldest(), now_ms, limit)

    def _oldest(self) -> list[str]:
        return sorted(self._holds, key=lambda each: (self._holds[each].ends_ms, each))

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
        self._drop_expired({hold_id} & self._holds.keys(), now_ms)
        mine = self._holds.get(hold_id)
        if mine is not None:
            mine.ends_ms = max(mine.ends_ms, ends_ms)
        return mine is not None

    def _hold(self, hold_id: str, hold: _Hold) -> None:
        self._holds[hold_id] = hold
        for name in hold.levels:
            self._levels[name].held.update(hold.cost)
            self._levels[name].open.add(hold_id)

    def _leave(self, hold_id: str, used: Amounts) -> None:
        hold = self._holds.pop(hold_id)
        for name in hold.levels:
            level = self._level(name)
            if level is not None and hold_id in level.open:
                level.open.remove(hold_id)
                level.held.subtract(hold.cost)
                level.used.update(used)

    def _end(self, hold_id: str, used: Amounts) -> bool:
        if hold_id not in self._holds:
            return False
        self._leave(hold_id, used)
        self._ended[hold_id] = self._clock.now_ms() + REMEMBER_MS
        return True

    def _drop_expired(self, ids: Iterable[str], now_ms: int, limit: int | None = None) -> int:
        due = [each for each in ids if self._holds[each].ends_ms <= now_ms][:limit]
        for each in due:
            self._leave(each, {})
        return len(due)

    def _forget(self) -> None:
        now_ms = self._clock.now_ms()
        self._ended = {each: until for each, until in self._ended.items() if until > now_ms}


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
