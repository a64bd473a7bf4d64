"""The ledger in Redis and its memory twin through the same random steps: every answer is the same, no money is lost.

Time moves for both: leases by the time that each call is told, levels and the marks of ended holds by the store's own.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from redis import Redis
from signal_search.contracts.budget import Amounts, Dimension
from signal_search.errors import Broken
from typing_extensions import override

from budget.ledger import REMEMBER_MS, Balance, Held, Short, Want
from budget.memory_ledger import MemoryLedger
from budget.redis_ledger import RedisLedger
from infra.clock import FixedClock
from tests.fakes.server_time import pass_time

NOW = 1_790_000_000_000
LEVELS = ("job:a", "job:b", "tenant:t", "deployment")
DIMENSIONS = (Dimension.TOKENS, Dimension.CALLS, Dimension.BYTES)
MINUTE = 60_000
LIFE = 45 * MINUTE  # ends far from any sum of the long spans, however many short ones are added
LONG = (30 * MINUTE, 60 * MINUTE, REMEMBER_MS)

levels = st.sampled_from(LEVELS)
some_levels = st.lists(levels, min_size=1, max_size=4) | st.just([])
hold_ids = st.sampled_from([f"h{number}" for number in range(5)])
amounts = st.dictionaries(st.sampled_from(DIMENSIONS), st.integers(0, 60), min_size=1, max_size=3)
leases = st.sampled_from([1, 1000, 3000, 5000])
limits = st.dictionaries(st.sampled_from(DIMENSIONS), st.integers(0, 200), max_size=3)


class LedgerTwins(RuleBasedStateMachine):
    """Beside the twins a plain account is kept: what was settled by level, and which hold costs what until when."""

    redis: Redis

    def __init__(self) -> None:
        super().__init__()
        self.redis.flushall()
        self.clock = FixedClock(NOW)
        self.memory = MemoryLedger(self.clock)
        self.real = RedisLedger(self.redis)
        self.leaves: dict[str, int] = {}  # by level: when it leaves, 0 for never
        self.spent: Counter[tuple[str, Dimension]] = Counter()
        self.over: set[tuple[str, Dimension]] = set()  # above a limit that was lowered, or over-run
        self.holds: dict[str, tuple[set[str], Amounts, int]] = {}  # levels, cost, until
        self.ended: dict[str, int] = {}

    @property
    def now(self) -> int:
        return self.clock.now_ms()

    def both(self, name: str, *args: Any, **named: Any) -> Any:
        expected = getattr(self.memory, name)(*args, **named)
        assert getattr(self.real, name)(*args, **named) == expected, (name, args, named)
        return expected

    def held(self, level: str, name: Dimension) -> int:
        return sum(cost.get(name, 0) for on, cost, _ in self.holds.values() if level in on)

    def end(self, hold: str, used: Mapping[Dimension, int]) -> None:
        on, cost, _ = self.holds.pop(hold)
        for level in on:
            for name, amount in used.items():
                self.spent[level, name] += amount
                if amount > cost.get(name, 0):
                    self.over.add((level, name))

    def drop_expired(self, hold: str) -> None:
        if self.holds[hold][2] <= self.now:
            self.end(hold, {})

    @initialize(of_job=limits, of_all=limits, cost=amounts)
    def begin(self, of_job: Amounts, of_all: Amounts, cost: Amounts) -> None:
        """One level is missing at first."""
        self.open("job:a", of_job, LIFE)
        self.open("tenant:t", {}, LIFE)
        self.open("deployment", of_all, 0)
        self.reserve("h0", list(LEVELS), cost, 3000)

    @rule(level=levels, limits=limits, ttl=st.sampled_from([0, LIFE]))
    def open(self, level: str, limits: Amounts, ttl: int) -> None:
        self.both("open", level, limits, ttl_ms=ttl)
        self.leaves[level] = self.now + ttl if ttl else 0
        for name in limits:  # a limit may have fallen below what is used
            self.over.discard((level, name))
            if self.spent[level, name] + self.held(level, name) > limits[name]:
                self.over.add((level, name))

    @rule(hold=hold_ids, names=some_levels, cost=amounts, lease=leases, together=st.booleans())
    def reserve(
        self, hold: str, names: list[str], cost: Amounts, lease: int, *, together: bool = False
    ) -> None:
        known = {each for each in names if each in self.leaves}
        for each in list(self.holds):
            self.drop_expired(each)
        short = self.shortage(names, cost)
        if together:
            want = Want(hold_id=hold, levels=names, cost=cost, lease_ms=lease)
            [answer] = self.both("reserve_all", [want], now_ms=self.now)
        else:
            answer = self.both("reserve", hold, names, cost, lease_ms=lease, now_ms=self.now)
        if self.ended.get(hold, 0) > self.now:
            assert isinstance(answer, Held)
        elif hold in self.holds:
            on, held, until = self.holds[hold]
            self.holds[hold] = (on, held, max(until, self.now + lease))
            assert isinstance(answer, Held)
        elif short:
            assert isinstance(answer, Short)
            assert (answer.level, answer.dimension) == short
        else:
            assert isinstance(answer, Held)
            costs = {name: amount for name, amount in cost.items() if amount}
            self.holds[hold] = (known, costs, self.now + lease)
        if isinstance(answer, Held):
            assert answer == self.both(
                "reserve", hold, names, cost, lease_ms=lease, now_ms=self.now
            )
            assert min(answer.left.values(), default=0) >= 0

    def shortage(self, names: list[str], cost: Amounts) -> tuple[str, Dimension] | None:
        for level in [each for each in names if each in self.leaves]:
            limits = self.memory.balance(level).limits
            for name in Dimension:
                wanted = cost.get(name, 0)
                used = self.spent[level, name] + self.held(level, name)
                if name in limits and wanted and used + wanted > limits[name]:
                    return level, name
        return None

    @rule(hold=hold_ids, amount=st.integers(-50, -1))
    def reserve_less_than_nothing(self, hold: str, amount: int) -> None:
        for ledger in (self.memory, self.real):
            with pytest.raises(Broken):
                ledger.reserve(hold, LEVELS, {Dimension.TOKENS: amount}, lease_ms=1)

    @rule(hold=hold_ids, used=amounts)
    def settle(self, hold: str, used: Amounts) -> None:
        """A hold whose lease has ended may still be settled while nobody has dropped it."""
        assert self.both("settle", hold, used) == (hold in self.holds)
        if hold in self.holds:
            self.end(hold, used)
            self.ended[hold] = self.now + REMEMBER_MS
        assert not self.both("settle", hold, used)

    @rule(hold=hold_ids)
    def release(self, hold: str) -> None:
        assert self.both("release", hold) == (hold in self.holds)
        if hold in self.holds:
            self.end(hold, {})
            self.ended[hold] = self.now + REMEMBER_MS

    @rule(level=levels)
    def close(self, level: str) -> None:
        held = [each for each, (on, _, _) in self.holds.items() if level in on]
        assert self.both("close", level) == len(held)
        for each in held:
            self.end(each, {})
            self.ended[each] = self.now + REMEMBER_MS
        assert self.memory.balance(level).held == {}

    @rule(limit=st.integers(1, 5))
    def expire(self, limit: int) -> None:
        due = sorted(
            (until, each) for each, (_, _, until) in self.holds.items() if until <= self.now
        )
        assert self.both("expire", limit=limit, now_ms=self.now) == len(due[:limit])
        for _, each in due[:limit]:
            self.end(each, {})

    @precondition(lambda self: self.holds)
    @rule(pick=st.integers(0, 4), cost=amounts, lease=leases)
    def reserve_what_is_held(self, pick: int, cost: Amounts, lease: int) -> None:
        """A step runs again in the middle of its lease, and others later: its hold counts until the later end."""
        hold = sorted(self.holds)[pick % len(self.holds)]
        self.reserve(hold, sorted(self.holds[hold][0]), cost, lease)
        self.advance(1000)
        self.reserve("h9", list(LEVELS), cost, 1)
        self.expire(5)

    @precondition(lambda self: self.holds)
    @rule(pick=st.integers(0, 4), names=some_levels, cost=amounts)
    def reserve_what_was_held(self, pick: int, names: list[str], cost: Amounts) -> None:
        """A step runs again long after its lease, and may spend on other levels."""
        hold = sorted(self.holds)[pick % len(self.holds)]
        self.advance(5000)
        self.reserve(hold, names, cost, 1000)

    @precondition(lambda self: self.ended)
    @rule(pick=st.integers(0, 4), names=some_levels, cost=amounts)
    def reserve_what_has_ended(self, pick: int, names: list[str], cost: Amounts) -> None:
        hold = sorted(self.ended)[pick % len(self.ended)]
        self.reserve(hold, names, cost, 1000)

    @rule(level=levels, limits=limits, first=st.sampled_from([0, LIFE]))
    def open_anew(self, level: str, limits: Amounts, first: int) -> None:
        """A level that was to leave stays, or the other way round."""
        self.open(level, limits, first)
        self.open(level, limits, LIFE - first)
        self.advance(2 * LONG[0])

    @rule(by=st.sampled_from([1, 1000, 3000]) | st.sampled_from(LONG))
    def advance(self, by: int) -> None:
        self.clock.advance(by)
        pass_time(self.redis, by)
        for level in [each for each, until in self.leaves.items() if 0 < until <= self.now]:
            del self.leaves[level]
            for on, _, _ in self.holds.values():  # nothing is owed to it when it comes back
                on.discard(level)
            for name in Dimension:
                self.over.discard((level, name))
                del self.spent[level, name]

    @invariant()
    def balances_are_what_was_settled_and_is_held(self) -> None:
        for level in LEVELS:
            balance: Balance = self.both("balance", level)
            for name in DIMENSIONS:
                used, held = balance.used.get(name, 0), balance.held.get(name, 0)
                assert used == self.spent[level, name]
                assert held == self.held(level, name)
                if (level, name) not in self.over:
                    assert used + held <= balance.limits.get(name, used + held)

    @override
    def teardown(self) -> None:
        """When every hold has ended nothing is held, and no list of holds is left."""
        for level in LEVELS:
            self.close(level)
        self.clock.advance(10_000)
        self.both("expire", limit=100, now_ms=self.now)
        assert [self.both("balance", each).held for each in LEVELS] == [{}] * 4
        assert self.redis.keys("ss:{b}:open:*") == []
        assert self.redis.keys("ss:{b}:holds") == []
        self.advance(REMEMBER_MS)
        assert self.redis.keys("ss:{b}:hold:*") == []


@pytest.mark.timeout(120)
def test_ledger_twins(redis: Redis) -> None:
    machine = type("Machine", (LedgerTwins,), {"redis": redis})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=60,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
