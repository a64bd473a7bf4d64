"""Gauges read from the store at scrape time: what waits, what is late, who lives."""

from collections import Counter
from collections.abc import Iterator

from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from redis import Redis
from signal_search.errors import StoreFailed
from typing_extensions import override

from infra import keys
from infra.clock import Clock
from infra.heartbeat import live_workers
from infra.redis import store_errors
from infra.roles import BROKER_PREFIX, ROLES, all_queues


class StoreCollector(Collector):
    """Asks the store on every scrape. A store that does not answer shows as `signal_search_store_up` 0, alone."""

    def __init__(self, redis: Redis, clock: Clock) -> None:
        """Read from `redis`; lateness is measured against `clock`."""
        self._redis = redis
        self._clock = clock

    @override
    def collect(self) -> Iterator[Metric]:
        """Yield the gauges."""
        up = GaugeMetricFamily("signal_search_store_up", "Whether the store answered this scrape.")
        try:
            gauges = [self._bells(), *self._steps(), self._workers()]
            up.add_metric([], 1)
        except StoreFailed:
            gauges = []
            up.add_metric([], 0)
        yield up
        yield from gauges

    def _bells(self) -> Metric:
        gauge = GaugeMetricFamily(
            "signal_search_queue_depth", "Messages waiting in a queue.", labels=["queue"]
        )
        for queue in all_queues():
            with store_errors():
                gauge.add_metric([queue], self._redis.llen(BROKER_PREFIX + queue))
        return gauge

    def _steps(self) -> tuple[Metric, Metric]:
        now_ms = self._clock.now_ms()
        waiting = GaugeMetricFamily(
            "signal_search_steps_due",
            "Unfinished steps: all, and those whose bell is overdue.",
            labels=["which"],
        )
        lateness = GaugeMetricFamily(
            "signal_search_step_lateness_seconds", "How long the oldest overdue bell has waited."
        )
        shards = [self._shard(keys.steps_due(each), now_ms) for each in range(keys.STEP_SHARDS)]
        waiting.add_metric(["all"], sum(each[0] for each in shards))
        waiting.add_metric(["overdue"], sum(each[1] for each in shards))
        lateness.add_metric([], max(each[2] for each in shards) / 1000)
        return waiting, lateness

    def _shard(self, key: str, now_ms: int) -> tuple[int, int, float]:
        """Return how many steps a shard has, how many are overdue, and by how many ms the oldest is late."""
        with store_errors(), self._redis.pipeline(transaction=False) as pipe:
            pipe.zcard(key)
            pipe.zcount(key, "-inf", now_ms)
            pipe.zrange(key, 0, 0, withscores=True)
            total, overdue, first = pipe.execute()
        late_ms = max(0.0, now_ms - float(first[0][1])) if first else 0.0
        return int(total), int(overdue), late_ms

    def _workers(self) -> Metric:
        gauge = GaugeMetricFamily(
            "signal_search_workers",
            "Workers that gave a sign of life within 15 s.",
            labels=["role"],
        )
        alive = Counter(worker.role for worker in live_workers(self._redis))
        for role in ROLES:
            gauge.add_metric([role], alive[role])
        return gauge
