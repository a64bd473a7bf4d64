"""Slots in Redis and their memory twin through the same random steps: every answer is the same, none too many.

Beside the twins stands a plain list of leases, and it alone judges who must be let in.
"""

from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from redis import Redis
from typing_extensions import override

from budget.slots import MemorySlots, Slots
from infra import keys
from infra.clock import FixedClock
from tests.fakes.server_time import pass_time

NOW = 1_790_000_000_000
TTL = 1000
NAMES = ("tenant:a", "deployment")

names = st.sampled_from(NAMES)
holders = st.sampled_from([f"job{number}" for number in range(4)])
ttls = st.sampled_from([1, TTL, 5 * TTL])


class SlotTwins(RuleBasedStateMachine):
    redis: Redis

    def __init__(self) -> None:
        super().__init__()
        self.redis.flushall()
        self.clock = FixedClock(NOW)
        self.memory = MemorySlots(self.clock)
        self.real = Slots(self.redis)
        self.ends: dict[tuple[str, str], int] = {}

    @property
    def now(self) -> int:
        return self.clock.now_ms()

    def both(self, name: str, *args: Any) -> Any:
        expected = getattr(self.memory, name)(*args)
        assert getattr(self.real, name)(*args) == expected, (name, args)
        return expected

    def held(self, name: str) -> set[str]:
        return {who for (what, who), ends in self.ends.items() if what == name and ends > self.now}

    @rule(name=names, holder=holders, limit=st.integers(0, 3), ttl=ttls)
    def take(self, name: str, holder: str, limit: int, ttl: int) -> None:
        held = self.held(name)
        taken = self.both("take", name, holder, limit, ttl, self.now)
        assert taken == (holder in held or len(held) < limit)
        if taken:
            self.ends[name, holder] = self.now + ttl

    @rule(name=names, holder=holders, ttl=ttls)
    def renew(self, name: str, holder: str, ttl: int) -> None:
        held = self.held(name)
        renewed = self.both("renew", name, holder, ttl, self.now)
        assert renewed == (holder in held)
        if renewed:
            self.ends[name, holder] = self.now + ttl

    @rule(name=names, holder=holders)
    def free(self, name: str, holder: str) -> None:
        """Who has a slot gives it back once; of a lease that has ended either may be said."""
        if holder in self.held(name):
            assert self.both("free", name, holder)
            assert not self.both("free", name, holder)
        else:
            self.memory.free(name, holder)
            self.real.free(name, holder)
        self.ends.pop((name, holder), None)

    @rule(by=st.sampled_from([1, TTL - 1, TTL, 5 * TTL, 120_000]))
    def advance(self, by: int) -> None:
        self.clock.advance(by)
        pass_time(self.redis, by)

    @rule(name=names, holder=holders, ttl=ttls)
    def lose(self, name: str, holder: str, ttl: int) -> None:
        """A holder that comes back after its lease has none to renew."""
        self.take(name, holder, 3, ttl)
        self.advance(ttl)
        self.renew(name, holder, TTL)

    @rule(name=names)
    def count(self, name: str) -> None:
        assert self.both("count", name, self.now) == len(self.held(name))

    @invariant()
    def the_key_outlives_its_leases(self) -> None:
        for name in NAMES:
            longest_ms = max((self.ends[name, who] for who in self.held(name)), default=0)
            if longest_ms:
                assert self.redis.pttl(keys.slots(name)) > longest_ms - self.now

    @override
    def teardown(self) -> None:
        self.advance(5 * TTL)
        assert [self.both("count", name, self.now) for name in NAMES] == [0, 0]
        pass_time(self.redis, 60_000)
        assert self.redis.keys("*") == []


@pytest.mark.timeout(120)
def test_slot_twins(redis: Redis) -> None:
    run_state_machine_as_test(
        type("Machine", (SlotTwins,), {"redis": redis}),
        settings=settings(
            max_examples=60,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
