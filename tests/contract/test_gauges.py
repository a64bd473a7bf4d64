"""What only the door can read for the page of figures: the broker's depth, places, sources, the clock."""

import msgspec
from prometheus_client.registry import Collector
from redis import Redis

from api_gateway.enqueue import Bell
from api_gateway.gauges import BrokerGauges, DoorGauges
from budget.slots import Slots
from infra import keys
from infra.clock import FixedClock
from infra.settings import load
from infra.store_metrics import ServerTime
from workers.registry import Registry


def shown(collector: Collector) -> dict[tuple[str, ...], float]:
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in collector.collect()
        for sample in family.samples
    }


def test_rings_that_nobody_takes_are_counted(redis: Redis, redis_url: str) -> None:
    bell = Bell(load(redis_url=redis_url))
    assert shown(BrokerGauges(bell))["signal_search_queue_depth", "plan"] == 0
    for number in range(3):
        assert bell.ring([("plan", f"job_{number}/plan")])
    assert bell.ring([("crawl", "job_1/crawl/q1.one")])
    assert shown(BrokerGauges(bell)) == {
        ("signal_search_broker_up",): 1,
        ("signal_search_queue_depth", "plan"): 3,
        ("signal_search_queue_depth", "local"): 0,
        ("signal_search_queue_depth", "crawl"): 1,
    }
    bell.close()


def test_a_broker_that_is_away_has_no_depth() -> None:
    bell = Bell(load(redis_url="unix:///nowhere/redis.sock"))
    assert shown(BrokerGauges(bell)) == {("signal_search_broker_up",): 0}
    bell.close()


def test_places_sources_and_a_clock_that_is_ahead(redis: Redis) -> None:
    now_ms = ServerTime(redis).now_ms()
    slots = Slots(redis)
    for number in range(3):
        slots.take("jobs", f"job_{number}", 10, 60_000)
    redis.set(keys.sources(), msgspec.json.encode(Registry(load()).views()))
    redis.set(keys.source_health("arxiv"), "answered")
    redis.set(keys.source_health("crossref"), "failed: source_denied")
    found = shown(DoorGauges(redis, FixedClock(now_ms + 600_000), 200))
    skew_s = found.pop(("signal_search_clock_skew_seconds",))
    assert 540 < skew_s <= 600  # the store's own clock went on meanwhile
    assert found == {
        ("signal_search_job_places_taken",): 3,
        ("signal_search_job_places",): 200,
        ("signal_search_source_well", "arxiv"): 1,
        ("signal_search_source_well", "crossref"): 0,
    }
