"""What Prometheus is shown, read with Prometheus's own parser, of several processes on one store."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from prometheus_client.parser import text_string_to_metric_families
from redis import Redis

from infra import keys
from infra.clock import FixedClock
from infra.heartbeat import beat
from infra.metrics import FETCHES, HTTP_SECONDS, STEPS, Publisher, render, totals
from infra.redis import connect

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def samples(page: bytes) -> Samples:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(page.decode())
        for sample in family.samples
    }


def value(page: bytes, name: str, **labels: str) -> float | None:
    return samples(page).get((name, tuple(sorted(labels.items()))))


COUNTING = """
import sys
from infra.clock import SystemClock
from infra.metrics import FETCHES, HTTP_SECONDS, Publisher
from infra.redis import connect
for _ in range(int(sys.argv[2])):
    FETCHES.labels(outcome="other_process").inc()
    HTTP_SECONDS.labels(route="/other").observe(0.03)
print(Publisher(connect(sys.argv[1]), SystemClock()).publish())
"""


def test_the_counts_of_all_processes_are_one_sum(
    redis: Redis, redis_url: str, clock: FixedClock
) -> None:
    for count in (2, 3):
        run = subprocess.run(
            [sys.executable, "-c", COUNTING, redis_url, str(count)],
            capture_output=True,
            text=True,
            check=True,
        )
        assert run.stdout == "True\n"
    page = render(redis, clock)
    assert value(page, "signal_search_fetches_total", outcome="other_process") == 5
    assert value(page, "signal_search_http_seconds_count", route="/other") == 5
    assert value(page, "signal_search_http_seconds_bucket", route="/other", le="0.02") == 0
    assert value(page, "signal_search_http_seconds_bucket", route="/other", le="0.05") == 5
    assert value(page, "signal_search_http_seconds_bucket", route="/other", le="+Inf") == 5
    assert value(page, "signal_search_http_seconds_sum", route="/other") == pytest.approx(0.15)
    assert totals(redis, ["signal_search_fetches_total"]) == {"signal_search_fetches_total": 5}


def test_only_what_is_new_is_added(redis: Redis, clock: FixedClock) -> None:
    publisher = Publisher(redis, clock)
    counter = STEPS.labels(task="plan", outcome="only_new")
    counter.inc(2)
    assert publisher.publish()
    assert not publisher.publish(at_once=True)
    counter.inc()
    assert publisher.publish(at_once=True)
    assert (
        value(render(redis, clock), "signal_search_steps_total", task="plan", outcome="only_new")
        == 3
    )


def test_it_publishes_every_five_seconds(redis: Redis, clock: FixedClock) -> None:
    publisher = Publisher(redis, clock)
    FETCHES.labels(outcome="paced").inc()
    assert publisher.publish()
    FETCHES.labels(outcome="paced").inc()
    clock.advance(4_999)
    assert not publisher.publish()
    clock.advance(1)
    assert publisher.publish()


def test_a_store_that_is_away_loses_no_count(redis: Redis, clock: FixedClock) -> None:
    away = connect("unix:///nowhere/redis.sock")
    publisher = Publisher(away, clock)
    FETCHES.labels(outcome="kept").inc(4)
    assert not publisher.publish()
    publisher._redis = redis
    assert publisher.publish(at_once=True)
    assert value(render(redis, clock), "signal_search_fetches_total", outcome="kept") == 4
    away.close()


def test_the_page_stands_without_a_store(clock: FixedClock) -> None:
    away = connect("unix:///nowhere/redis.sock")
    FETCHES.labels(outcome="local").inc()
    page = render(away, clock)
    assert value(page, "signal_search_store_up") == 0
    assert value(page, "signal_search_fetches_total", outcome="local") == 1
    assert value(page, "signal_search_workers", role="all") is None
    away.close()


def test_gauges_are_read_from_the_store(redis: Redis, clock: FixedClock) -> None:
    now_ms = clock.now_ms()
    redis.rpush("ss:mq:plan", "bell", "bell")
    redis.zadd(keys.steps_due(0), {"a": now_ms - 4_000, "b": now_ms + 1_000})
    redis.zadd(keys.steps_due(3), {"c": now_ms - 9_500})
    beat(redis, "x", "crawl", pid=1, started_ms=0)
    page = render(redis, clock)
    assert value(page, "signal_search_store_up") == 1
    assert value(page, "signal_search_queue_depth", queue="plan") == 2
    assert value(page, "signal_search_queue_depth", queue="crawl") == 0
    assert value(page, "signal_search_steps_due", which="all") == 3
    assert value(page, "signal_search_steps_due", which="overdue") == 2
    assert value(page, "signal_search_step_lateness_seconds") == 9.5
    assert value(page, "signal_search_workers", role="crawl") == 1
    assert value(page, "signal_search_workers", role="reduce") == 0


def test_a_histogram_s_buckets_come_in_their_order(redis: Redis, clock: FixedClock) -> None:
    HTTP_SECONDS.labels(route="/order").observe(3)
    Publisher(redis, clock).publish()
    lines = [
        line
        for line in render(redis, clock).decode().splitlines()
        if "_bucket" in line and "/order" in line
    ]
    bounds = [float(line.split('le="')[1].split('"')[0]) for line in lines]
    assert bounds == sorted(bounds)
    assert bounds[-1] == float("inf")
    assert len(bounds) == 12


def test_threads_that_share_a_publisher_add_each_count_once(
    redis: Redis, clock: FixedClock
) -> None:
    publisher = Publisher(redis, clock)
    counter = STEPS.labels(task="crawl", outcome="shared")

    def work(_number: int) -> None:
        counter.inc()
        publisher.publish(at_once=True)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(200)))
    page = render(redis, clock)
    assert value(page, "signal_search_steps_total", task="crawl", outcome="shared") == 200
