import pytest
from redis import Redis
from signal_search.errors import StoreFailed

from infra import keys
from infra.heartbeat import LiveWorker, beat, leave, live_workers, missing_queues
from infra.redis import connect


def test_a_worker_that_beats_is_alive_for_fifteen_seconds(redis: Redis) -> None:
    beat(redis, "crawl1@here", "crawl", pid=42, started_ms=7)
    assert live_workers(redis) == [
        LiveWorker(name="crawl1@here", role="crawl", pid=42, queues=("crawl",), started_ms=7)
    ]
    assert 5_000 < redis.pttl(keys.worker("crawl1@here")) <= 15_000


def test_all_are_found_in_the_order_of_their_names(redis: Redis) -> None:
    for number in range(1200):  # more than one SCAN page
        beat(redis, f"w{number:04}", "all", pid=number, started_ms=0)
    redis.set("ss:other", "x")
    assert [worker.pid for worker in live_workers(redis)] == list(range(1200))


def test_who_leaves_is_gone(redis: Redis) -> None:
    beat(redis, "a", "all", pid=1, started_ms=0)
    leave(redis, "a")
    leave(redis, "a")
    assert live_workers(redis) == []


@pytest.mark.parametrize(
    ("roles", "missing"),
    [
        ([], ("crawl", "local", "plan")),
        (["crawl"], ("local", "plan")),
        (["reduce"], ("crawl",)),
        (["reduce", "crawl"], ()),
        (["all"], ()),
    ],
)
def test_what_nobody_takes(redis: Redis, roles: list[str], missing: tuple[str, ...]) -> None:
    for role in roles:
        beat(redis, role, role, pid=1, started_ms=0)  # type: ignore[arg-type]
    assert sorted(missing_queues(live_workers(redis))) == sorted(missing)


def test_a_store_that_is_away_is_said() -> None:
    nowhere = connect("unix:///nowhere/redis.sock")
    with pytest.raises(StoreFailed):
        live_workers(nowhere)
    with pytest.raises(StoreFailed):
        beat(nowhere, "a", "all", pid=1, started_ms=0)
    nowhere.close()
