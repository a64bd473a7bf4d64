"""Slots, in Redis and in memory."""

import pytest
from redis import Redis
from signal_search.errors import StoreFailed

from budget.slots import MemorySlots, Slots, SlotStore
from infra import keys
from infra.clock import FixedClock
from infra.redis import connect

NOW = 1_790_000_000_000


@pytest.fixture(params=["memory", "redis"])
def slots(request: pytest.FixtureRequest, clock: FixedClock) -> SlotStore:
    if request.param == "memory":
        return MemorySlots(clock)
    return Slots(request.getfixturevalue("redis"))


def take(slots: SlotStore, holder: str, *, at: int = NOW, limit: int = 2) -> bool:
    return slots.take("tenant:t", holder, limit, 1000, at)


def test_the_limit_holds(slots: SlotStore) -> None:
    assert [take(slots, each) for each in ("a", "b", "c")] == [True, True, False]
    assert slots.count("tenant:t", NOW) == 2


def test_names_do_not_share_slots(slots: SlotStore) -> None:
    take(slots, "a", limit=1)
    assert slots.take("deployment", "a", 1, 1000, NOW)
    assert slots.count("tenant:u", NOW) == 0


def test_who_has_a_slot_takes_it_again_and_prolongs_it(slots: SlotStore) -> None:
    take(slots, "a", limit=1)
    assert take(slots, "a", limit=1, at=NOW + 600)
    assert slots.count("tenant:t", NOW + 1599) == 1
    assert slots.count("tenant:t", NOW + 1600) == 0


def test_a_lease_frees_itself(slots: SlotStore) -> None:
    take(slots, "a", limit=1)
    assert not take(slots, "b", limit=1, at=NOW + 999)
    assert take(slots, "b", limit=1, at=NOW + 1000)


def test_a_slot_is_given_back_once(slots: SlotStore) -> None:
    take(slots, "a", limit=1)
    assert slots.free("tenant:t", "a")
    assert not slots.free("tenant:t", "a")
    assert take(slots, "b", limit=1)


def test_renewing_holds_on_only_to_what_is_held(slots: SlotStore) -> None:
    take(slots, "a", limit=1)
    assert slots.renew("tenant:t", "a", 1000, NOW + 999)
    assert not slots.renew("tenant:t", "b", 1000, NOW + 999)
    assert not take(slots, "b", limit=1, at=NOW + 1998)
    assert not slots.renew("tenant:t", "a", 1000, NOW + 1999)


def test_no_slots_admit_nobody(slots: SlotStore) -> None:
    assert not take(slots, "a", limit=0)


def test_redis_the_key_leaves_after_the_longest_lease(redis: Redis) -> None:
    slots = Slots(redis)
    slots.take("t", "long", 2, 500_000)
    slots.take("t", "short", 2, 10)
    assert 500_000 < redis.pttl(keys.slots("t")) <= 560_000


def test_without_the_store_nobody_is_admitted() -> None:
    slots = Slots(connect("unix:///nonexistent/redis.sock"))
    with pytest.raises(StoreFailed):
        take(slots, "a")
    with pytest.raises(StoreFailed):
        slots.free("tenant:t", "a")
