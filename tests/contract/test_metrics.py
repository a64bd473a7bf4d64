"""What Prometheus is shown, read with Prometheus's own parser, of several processes on one store."""

import asyncio
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from prometheus_client.parser import text_string_to_metric_families
from redis import Redis
from signal_search.contracts.budget import Dimension

from budget.frontier import Completion, Offer
from budget.gauges import FrontierGauges, PurseGauges
from budget.redis_frontier import RedisFrontier, RedisFrontierWorker
from budget.redis_ledger import RedisLedger
from infra.clock import FixedClock
from infra.heartbeat import beat
from infra.metrics import FETCHES, HTTP_SECONDS, STEPS, Publisher, render, totals
from infra.redis import connect, connect_async
from infra.steps import StepRules, Steps

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


@pytest.fixture(autouse=True)
def uncounted() -> None:
    """Nothing was counted in this process before: these tests run with other stores too."""
    for metric in (FETCHES, STEPS):
        metric.clear()


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
from infra.redis import connect, connect_async
from infra.steps import StepRules, Steps
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


def test_steps_that_wait_are_counted_by_queue_and_a_missing_role_is_seen(
    redis: Redis, clock: FixedClock
) -> None:
    """Nobody plays `reduce`; a crawl worker lives and keeps ringing. What waits for the other is late all the same."""
    steps = Steps(redis, StepRules(lease_ms=1000, grace_ms=100, max_attempts=3, ttl_ms=60_000))
    now_ms = clock.now_ms()
    beat(redis, "x", "crawl", pid=1, started_ms=0)
    steps.make("job_1/plan", "plan", now_ms=now_ms - 9_500)
    steps.make("job_2/plan", "plan", now_ms=now_ms - 4_000)
    steps.make("job_3/reduce", "reduce", now_ms=now_ms - 500)
    steps.make("job_3/crawl/q1.one", "crawl", now_ms=now_ms - 250)
    held = steps.claim("job_3/crawl/q1.one", now_ms=now_ms - 50)
    assert held.waited_ms == 200
    for ago_ms in (9_000, 6_000, 2_000, 100):
        steps.overdue(now_ms=now_ms - ago_ms)
    page = render(redis, clock)
    assert value(page, "signal_search_store_up") == 1
    assert value(page, "signal_search_steps_due", queue="plan") == 3
    assert value(page, "signal_search_step_lateness_seconds", queue="plan") == 9.5
    assert value(page, "signal_search_queue_workers", queue="plan") == 0
    assert value(page, "signal_search_steps_due", queue="crawl") == 0
    assert value(page, "signal_search_step_lateness_seconds", queue="crawl") == 0
    assert value(page, "signal_search_queue_workers", queue="crawl") == 1
    assert value(page, "signal_search_steps_open") == 4
    assert value(page, "signal_search_workers", role="crawl") == 1
    assert value(page, "signal_search_workers", role="reduce") == 0


def offer_of(uid: str, host: str) -> Offer:
    return Offer(
        uid=uid, host=host, payload=b"", job="job_1", waiter=f"job_1|{uid}",
        deadline_ms=2**50, pause_ms=1000,
    )  # fmt: skip


def test_the_frontier_s_gauges_are_those_of_its_hosts(
    redis: Redis, redis_url: str, clock: FixedClock
) -> None:
    """Five hosts: one asked, one suspended by its answer, three that wait, of which one may not be asked yet."""
    now_ms = clock.now_ms()
    frontier = RedisFrontier(redis)

    async def play() -> None:
        other = connect_async(redis_url)
        worker = RedisFrontierWorker(other)
        frontier.offer([offer_of("1", "a.test"), offer_of("2", "a.test")], now_ms=now_ms - 7_000)
        turn = await worker.turn([], 1, lease_ms=5_000, pause_ms=1_000, now_ms=now_ms - 7_000)
        frontier.offer([offer_of("3", "b.test")], now_ms=now_ms - 7_000)
        [claim] = turn.claims
        suspending = Completion(
            uid=claim.uid, host=claim.host, fence=claim.fence, reply=b"", fresh_ms=0, keep_ms=0,
            pause_ms=1_000, suspend_ms=60_000, suspend_reason="source_rate_limited",
        )  # fmt: skip
        await worker.turn([suspending], 0, lease_ms=5_000, pause_ms=0, now_ms=now_ms - 6_000)
        await worker.turn([], 1, lease_ms=9_000, pause_ms=1_000, now_ms=now_ms - 6_000)
        frontier.offer([offer_of("4", "c.test")], now_ms=now_ms - 3_250)
        frontier.offer([offer_of("5", "d.test")], now_ms=now_ms - 1_000)
        frontier.offer([offer_of("6", "d.test")], now_ms=now_ms - 1_000)
        await worker.aclose()
        await other.aclose()

    asyncio.run(play())
    page = render(redis, clock, [FrontierGauges(redis, clock)])
    assert value(page, "signal_search_hosts_suspended") == 1  # a.test, with request 2
    assert value(page, "signal_search_fetches_in_flight") == 1  # request 3 at b.test
    assert value(page, "signal_search_hosts_waiting") == 3  # a, c, d
    assert value(page, "signal_search_hosts_due") == 2  # c, d
    assert value(page, "signal_search_host_lateness_seconds") == 3.25  # c
    assert value(page, "signal_search_fetches_pending") == 5  # all but request 1
    after = FixedClock(now_ms + 54_000)
    later = render(redis, after, [FrontierGauges(redis, after)])
    assert value(later, "signal_search_hosts_suspended") == 0


def test_the_purse_of_the_deployment_is_shown_by_dimension(redis: Redis, clock: FixedClock) -> None:
    ledger = RedisLedger(redis)
    ledger.open("deployment", {Dimension.FETCHES: 10, Dimension.TOKENS: 5000}, ttl_ms=0)
    ledger.open("tenant:secret-name", {Dimension.FETCHES: 3}, ttl_ms=0)
    levels = ("tenant:secret-name", "deployment")
    ledger.reserve("h1", levels, {Dimension.FETCHES: 1, Dimension.TOKENS: 400}, lease_ms=60_000)
    ledger.reserve("h2", levels, {Dimension.FETCHES: 1, Dimension.TOKENS: 400}, lease_ms=60_000)
    ledger.settle("h1", {Dimension.FETCHES: 1, Dimension.TOKENS: 150})
    page = render(redis, clock, [PurseGauges(redis, clock, "ever")])

    def shown(dimension: str) -> list[float | None]:
        name = "signal_search_budget"
        return [
            value(page, name, dimension=dimension, part=part) for part in ("limit", "used", "held")
        ]

    assert shown("fetches") == [10, 1, 1]
    assert shown("tokens") == [5000, 150, 400]
    assert shown("bytes") == [None, None, None]
    assert b"secret-name" not in page


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
