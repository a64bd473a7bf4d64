"""The time of day is the store's: this machine's may be wrong, and may jump."""

import pytest
from redis import Redis
from signal_search.errors import StoreFailed

from infra.clock import FixedClock
from infra.redis import time_ms
from infra.settings import load
from infra.store_clock import StoreClock
from workers.toolbox import open_toolbox

HOUR_MS = 3_600_000


def of_store(redis: Redis) -> int:
    seconds, microseconds = redis.time()
    return int(seconds * 1000 + microseconds // 1000)


def test_the_time_is_the_stores(redis: Redis, redis_url: str) -> None:
    clock = StoreClock(redis_url)
    before = of_store(redis)
    now = clock.now_ms()
    # Half the way there and back may be put on the wrong side; on a slow machine that is much, but no minute.
    assert before - 60_000 <= now <= of_store(redis) + 60_000


def test_the_machines_time_of_day_is_not_asked(redis_url: str) -> None:
    machine = FixedClock(5_000)  # 5 s after it was started, in 1970
    clock = StoreClock(redis_url, machine=machine, ask=lambda _url: 1_790_000_000_000)
    assert clock.now_ms() == 1_790_000_000_000
    machine.advance(1_234)
    assert clock.now_ms() == 1_790_000_001_234
    assert clock.monotonic() == 6.234


def test_it_asks_again_after_five_minutes_and_not_before() -> None:
    machine, told = FixedClock(0), [1_000_000]
    asked: list[str] = []

    def ask(url: str) -> int:
        asked.append(url)
        return told[-1]

    clock = StoreClock("unix:///nowhere", machine=machine, ask=ask)
    assert clock.now_ms() == 1_000_000
    told.append(1_000_000 + 300_000 + 70)  # the two have gone apart by 70 ms
    machine.advance(299_999)
    assert (clock.now_ms(), len(asked)) == (1_299_999, 1)
    machine.advance(1)
    assert (clock.now_ms(), len(asked)) == (1_300_070, 2)


def test_a_store_that_is_away_later_changes_nothing_and_is_asked_again_soon() -> None:
    machine, away = FixedClock(0), [False]
    asked: list[int] = []

    def ask(_url: str) -> int:
        asked.append(machine.now_ms())
        if away[0]:
            raise StoreFailed
        return HOUR_MS + machine.now_ms()

    clock = StoreClock("unix:///nowhere", machine=machine, ask=ask)
    assert clock.now_ms() == HOUR_MS
    away[0] = True
    machine.advance(300_000)
    assert clock.now_ms() == HOUR_MS + 300_000
    machine.advance(9_999)
    assert clock.now_ms() == HOUR_MS + 309_999
    away[0] = False
    machine.advance(1)
    assert clock.now_ms() == HOUR_MS + 310_000
    assert asked == [0, 300_000, 310_000]


def test_a_store_that_never_answered_has_no_time() -> None:
    clock = StoreClock("unix:///nowhere/redis.sock")
    with pytest.raises(StoreFailed):
        clock.now_ms()
    with pytest.raises(StoreFailed):
        time_ms("unix:///nowhere/redis.sock")


def test_workers_go_by_the_stores_time(redis_url: str) -> None:
    tools = open_toolbox(load(redis_url=redis_url), lambda _task, _step: None)
    assert isinstance(tools.clock, StoreClock)
    tools.redis.close()
