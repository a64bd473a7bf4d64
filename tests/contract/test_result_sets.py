"""Result sets in Redis: their time, their number for each tenant, and that reading changes neither."""

import msgspec
from redis import Redis

from infra import keys
from infra.result_sets import ResultSets


class ASet(msgspec.Struct, frozen=True):
    id: str
    rows: tuple[str, ...] = ("a", "b")


NOW_MS = 4_000_000_000_000  # far in the future, so that the store keeps what is not let go


def put(sets: ResultSets, number: int, tenant: str = "t") -> None:
    end_ms = NOW_MS + number + 1_800_000
    sets.put(tenant, ASet(id=f"s{number}"), created_ms=NOW_MS + number, end_ms=end_ms)


def test_a_set_is_read_as_it_was_put(redis: Redis) -> None:
    sets = ResultSets(redis, most=32)
    put(sets, 1)
    raw = sets.get("t", "s1")
    assert raw is not None
    assert msgspec.json.decode(raw, type=ASet) == ASet(id="s1")
    assert sets.get("t", "s2") is None
    assert sets.get("u", "s1") is None


def test_the_33rd_lets_the_oldest_go(redis: Redis) -> None:
    sets = ResultSets(redis, most=32)
    for number in range(33):
        put(sets, number)
    assert sets.get("t", "s0") is None
    assert all(sets.get("t", f"s{number}") is not None for number in range(1, 33))
    put(sets, 1, tenant="u")
    assert sets.get("t", "s1") is not None


def test_the_same_set_again_stays_in_its_place(redis: Redis) -> None:
    sets = ResultSets(redis, most=2)
    for number in (1, 2, 1, 3):
        put(sets, number)
    assert sets.get("t", "s1") is None
    assert redis.zcard(keys.result_sets("t")) == 2


def test_reading_does_not_prolong_a_set(redis: Redis) -> None:
    sets = ResultSets(redis, most=32)
    put(sets, 1)
    before = redis.pexpiretime(keys.result_set("t", "s1"))
    sets.get("t", "s1")
    assert redis.pexpiretime(keys.result_set("t", "s1")) == before == NOW_MS + 1 + 1_800_000
