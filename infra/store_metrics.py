"""Gauges read from the store at scrape time: what waits for a worker, since when, and who lives.

Times are the store's own, by which the ledgers count too: a gateway whose clock is wrong shows right figures, and by
how much it is wrong.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence

from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from redis import Redis
from signal_search.errors import StoreFailed
from typing_extensions import override

from infra import keys
from infra.clock import Clock
from infra.heartbeat import LiveWorker, live_workers
from infra.redis import store_errors, time_of
from infra.roles import ROLES, TASK_QUEUES, all_queues


class ServerTime:
    """The store's clock. Raises StoreFailed when the store does not answer."""

    def __init__(self, redis: Redis) -> None:
        """Ask `redis`."""
        self._redis = redis

    def now_ms(self) -> int:
        """Return the store's epoch time in milliseconds."""
        return time_of(self._redis)

    def monotonic(self) -> float:
        """Return the same time in seconds."""
        return self.now_ms() / 1000


class Gauges(Collector, ABC):
    """Gauges that need the store. Fails open: they are left out when it does not answer."""

    @override
    def collect(self) -> Iterator[Metric]:
        """Yield the gauges."""
        try:
            found = list(self.read())
        except StoreFailed:
            found = []
        yield from found

    @abstractmethod
    def read(self) -> Iterator[Metric]:
        """Yield the gauges; may raise StoreFailed."""


def gauge(
    name: str, says: str, rows: Sequence[tuple[Sequence[str], float]], labels: Sequence[str] = ()
) -> Metric:
    """Return a gauge with a row per combination of label values."""
    family = GaugeMetricFamily(name, says, labels=labels)
    for values, value in rows:
        family.add_metric(values, value)
    return family


class StoreCollector(Gauges):
    """Asks the store on every scrape. A store that does not answer shows as `signal_search_store_up` 0, alone."""

    def __init__(self, redis: Redis, clock: Clock) -> None:
        """Read from `redis`; how late steps are is measured against `clock`, usually the store's own."""
        self._redis = redis
        self._clock = clock

    @override
    def collect(self) -> Iterator[Metric]:
        """Yield the gauges."""
        found = list(super().collect())
        yield gauge(
            "signal_search_store_up", "Whether the store answered this scrape.", [((), bool(found))]
        )
        yield from found

    @override
    def read(self) -> Iterator[Metric]:
        """Yield what waits and who lives."""
        workers = live_workers(self._redis)
        yield from self._steps(self._clock.now_ms())
        yield from _alive(workers)
        yield self._memory()

    def _memory(self) -> Metric:
        """Yield how full the store is: one that is full refuses writes."""
        with store_errors():
            found = self._redis.info("memory")
        rows = [(["used"], float(found["used_memory"])), (["limit"], float(found["maxmemory"]))]
        says = "The store's memory: used, and its limit (0: none)."
        return gauge("signal_search_store_memory_bytes", says, rows, ["part"])

    def _steps(self, now_ms: int) -> Iterator[Metric]:
        """Yield how many steps wait for a worker, by queue, and for how long the first of them has."""
        due = dict.fromkeys(all_queues(), 0)
        late_s = dict.fromkeys(all_queues(), 0.0)
        for task, queue in TASK_QUEUES.items():
            for shard in range(keys.STEP_SHARDS):
                count, oldest_ms = self._waiting(keys.steps_waiting(shard, task), now_ms)
                due[queue] += count
                late_s[queue] = max(late_s[queue], oldest_ms / 1000)
        says = "Job steps that are due and wait for a worker."
        yield gauge(
            "signal_search_steps_due", says, [([each], due[each]) for each in due], ["queue"]
        )
        says = "How long the first of the steps that are due has waited for a worker."
        rows = [([each], late_s[each]) for each in late_s]
        yield gauge("signal_search_step_lateness_seconds", says, rows, ["queue"])
        says = "Unfinished job steps: due, at work, or resting until they look again."
        yield gauge("signal_search_steps_open", says, [((), self._open())])

    def _waiting(self, key: str, now_ms: int) -> tuple[int, float]:
        """Return how many members are due, and for how many ms the first has been."""
        with store_errors(), self._redis.pipeline(transaction=False) as pipe:
            pipe.zcount(key, "-inf", now_ms)
            pipe.zrange(key, 0, 0, withscores=True)
            count, first = pipe.execute()
        return int(count), max(0.0, now_ms - float(first[0][1])) if first else 0.0

    def _open(self) -> int:
        with store_errors(), self._redis.pipeline(transaction=False) as pipe:
            for shard in range(keys.STEP_SHARDS):
                pipe.zcard(keys.steps_due(shard))
            return sum(map(int, pipe.execute()))


def _alive(workers: Sequence[LiveWorker]) -> Iterator[Metric]:
    """Yield the workers by role, and by the queue they take from: 0 there is a role that is missing."""
    roles = Counter(each.role for each in workers)
    takers = Counter(queue for each in workers for queue in each.queues)
    says = "Workers that gave a sign of life within 15 s; one that is told to end gives none."
    yield gauge("signal_search_workers", says, [([role], roles[role]) for role in ROLES], ["role"])
    says = "Workers alive that take from a queue; 0: its steps wait for ever."
    yield gauge(
        "signal_search_queue_workers",
        says,
        [([each], takers[each]) for each in all_queues()],
        ["queue"],
    )
