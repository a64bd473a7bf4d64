"""The ledger in Redis and its memory twin through the same random steps: every answer is the same, no money is lost."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from redis import Redis
from signal_search.contracts.budget import Amounts, Dimension
from typing_extensions import override

from budget.ledger import Held, Short
from budget.memory_ledger import MemoryLedger
from budget.redis_ledger import RedisLedger
from infra.clock import FixedClock

NOW = 1_790_000_000_000
LEVELS = ("job:a", "job:b", "tenant:t", "deployment")
DIMENSIONS = (Dimension.TOKENS, Dimension.CALLS, Dimension.BYTES)

levels = st.sampled_from(LEVELS)
some_levels = st.lists(levels, max_size=4)
hold_ids = st.sampled_from([f"h{number}" for number in range(8)])
amounts = st.dictionaries(st.sampled_from(DIMENSIONS), st.integers(0, 60), max_size=3)
limits = st.dictionaries(st.sampled_from(DIMENSIONS), st.integers(0, 200), max_size=3)


class LedgerTwins(RuleBasedStateMachine):
    """Beside the twins a plain account is kept: what was settled, by level."""

    redis: Redis

    def __init__(self) -> None:
        super().__init__()
        self.redis.flushall()
        self.now = NOW
        self.memory = MemoryLedger(FixedClock(NOW))
        self.real = RedisLedger(self.redis)
        self.opened: set[str] = set()
        self.spent: Counter[tuple[str, Dimension]] = Counter()
        self.over: set[str] = set()
        self.holds: dict[str, tuple[frozenset[str], Amounts]] = {}

    def both(self, name: str, *args: Any, **named: Any) -> Any:
        expected = getattr(self.memory, name)(*args, **named)
        assert getattr(self.real, name)(*args, **named) == expected, (name, args, named)
        return expected

    @initialize(of_job=limits, of_all=limits)
    def begin(self, of_job: Amounts, of_all: Amounts) -> None:
        self.open("job:a", of_job)
        self.open("deployment", of_all)

    @rule(level=levels, limits=limits)
    def open(self, level: str, limits: Amounts) -> None:
        self.both("open", level, limits, ttl_ms=0)
        self.opened.add(level)
        self.over.add(level)  # a limit may have fallen below what is used

    @rule(hold=hold_ids, names=some_levels, cost=amounts, lease=st.integers(1, 5000))
    def reserve(self, hold: str, names: list[str], cost: Amounts, lease: int) -> None:
        before = {each: self.memory.balance(each) for each in LEVELS}
        answer = self.both("reserve", hold, names, cost, lease_ms=lease, now_ms=self.now)
        after = {each: self.memory.balance(each) for each in LEVELS}
        if isinstance(answer, Short):
            assert answer.level in names
            for each in LEVELS:  # nothing was held; expired holds may have gone
                for name, held in after[each].held.items():
                    assert held <= before[each].held[name]
        else:
            assert isinstance(answer, Held)
            assert min(answer.left.values(), default=0) >= 0
            self._check_limits(names, before)

    def _check_limits(self, names: list[str], before: dict[str, Any]) -> None:
        for each in names:
            now = self.memory.balance(each)
            for name, limit in now.limits.items():
                grown = now.held.get(name, 0) > before[each].held.get(name, 0)
                if grown:
                    assert now.used.get(name, 0) + now.held.get(name, 0) <= limit

    @rule(hold=hold_ids, used=amounts)
    def settle(self, hold: str, used: Amounts) -> None:
        holding = [each for each in LEVELS if self._lists(each, hold)]
        if self.both("settle", hold, used):
            for level in holding:
                self.spent.update({(level, name): amount for name, amount in used.items()})

    def _lists(self, level: str, hold: str) -> bool:
        return hold in self.memory._levels[level].open if level in self.opened else False

    @rule(hold=hold_ids)
    def release(self, hold: str) -> None:
        self.both("release", hold)

    @rule(level=levels)
    def close(self, level: str) -> None:
        self.both("close", level)
        assert self.memory.balance(level).held == {}

    @rule(limit=st.integers(1, 5))
    def expire(self, limit: int) -> None:
        assert self.both("expire", limit=limit, now_ms=self.now) <= limit

    @rule(by=st.integers(1, 3000))
    def advance(self, by: int) -> None:
        self.now += by

    @invariant()
    def balances_agree_and_usage_is_what_was_settled(self) -> None:
        for level in LEVELS:
            balance = self.both("balance", level)
            for name in DIMENSIONS:
                assert balance.used.get(name, 0) == self.spent[level, name]
                assert balance.held.get(name, 0) >= 0

    @override
    def teardown(self) -> None:
        """When every hold has ended nothing is held, and no list of holds is left."""
        for level in LEVELS:
            self.both("close", level)
        self.both("expire", limit=100, now_ms=self.now + 10_000)
        assert [self.both("balance", each).held for each in LEVELS] == [{}] * 4
        assert self.redis.keys("ss:{b}:open:*") == []
        assert self.redis.keys("ss:{b}:holds") == []


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
