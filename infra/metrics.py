"""What is counted, and how it is shown to Prometheus.

A deployment has many processes and one `/metrics`: each process adds what it counted to a hash in Redis now and then,
and the page shows the sums beside gauges read from the store at that moment. Fails open: counting never stops work.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from threading import Lock

import msgspec
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from redis import Redis
from signal_search.errors import StoreFailed
from typing_extensions import override

from infra import keys
from infra.clock import Clock
from infra.redis import store_errors
from infra.store_metrics import StoreCollector

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_SECONDS = (0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0)
_PUBLISH_S = 5.0

REGISTRY = CollectorRegistry(auto_describe=True)

FETCHES = Counter(
    "signal_search_fetches", "Requests to sources, by outcome.", ["outcome"], registry=REGISTRY
)
FETCH_SECONDS = Histogram(
    "signal_search_fetch_seconds",
    "Time from sending a request to its last byte.",
    registry=REGISTRY,
    buckets=_SECONDS,
)
STEPS = Counter(
    "signal_search_steps", "Job steps tried, by outcome.", ["task", "outcome"], registry=REGISTRY
)
STEP_WAIT_SECONDS = Histogram(
    "signal_search_step_wait_seconds",
    "Time from when a job step was due to when a worker claimed it.",
    ["task"],
    registry=REGISTRY,
    buckets=_SECONDS,
)
OFFERS = Counter(
    "signal_search_offers",
    "Requests offered to the frontier, by what became of them; a look again at an open one counts again.",
    ["disposition"],
    registry=REGISTRY,
)
JOBS = Counter("signal_search_jobs", "Jobs ended, by state.", ["state"], registry=REGISTRY)
SPENT = Counter(
    "signal_search_spent",
    "What ended jobs have spent, by dimension.",
    ["dimension"],
    registry=REGISTRY,
)
HTTP_REQUESTS = Counter(
    "signal_search_http_requests",
    "Requests to the gateway.",
    ["method", "route", "status"],
    registry=REGISTRY,
)
HTTP_SECONDS = Histogram(
    "signal_search_http_seconds",
    "Time to the first byte of the gateway's answer.",
    ["route"],
    registry=REGISTRY,
    buckets=_SECONDS,
)

Series = tuple[str, tuple[tuple[str, str], ...]]


class Publisher:
    """Adds this process's counts to the deployment's; threads may share it.

    One per process, made after a fork: a second one in the same process would add everything again.
    """

    def __init__(self, redis: Redis, clock: Clock) -> None:
        """Start with nothing published."""
        self._redis = redis
        self._clock = clock
        self._published: dict[Series, float] = {}
        self._next_s = 0.0
        self._lock = Lock()

    def publish(self, *, at_once: bool = False) -> bool:
        """Add what is new, at most every five seconds unless `at_once`; return whether anything was sent.

        A store that does not answer loses nothing: the next call sends the sum.
        """
        with self._lock:
            now_s = self._clock.monotonic()
            if now_s < self._next_s and not at_once:
                return False
            self._next_s = now_s + _PUBLISH_S
            return self._publish()

    def _publish(self) -> bool:
        counted = dict(_counted())
        sent = False
        with suppress(StoreFailed):
            sent = self._add(dict(self._news(counted)))
            self._published = counted
        return sent

    def _news(self, counted: dict[Series, float]) -> Iterator[tuple[Series, float]]:
        """Yield what was added since; a new series counts even at 0, as a histogram needs its empty buckets too."""
        for series, value in counted.items():
            before = self._published.get(series)
            if value != before:
                yield series, value - (before or 0.0)

    def _add(self, new: dict[Series, float]) -> bool:
        if not new:
            return False
        with store_errors(), self._redis.pipeline(transaction=True) as pipe:
            for series, value in new.items():
                pipe.hincrbyfloat(keys.metrics(), _field(series), value)
            pipe.execute()
        return True


def render(redis: Redis, clock: Clock, extra: Sequence[Collector] = ()) -> bytes:
    """Return the page in Prometheus's text format: the deployment's counts, the store's gauges, and `extra`.

    When the store does not answer, the page has this process's own counts and `signal_search_store_up 0`.
    """
    page = CollectorRegistry(auto_describe=False)
    page.register(_Sums(redis))
    page.register(StoreCollector(redis, clock))
    for each in extra:
        page.register(each)
    return generate_latest(page)


class _Sums(Collector):
    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    @override
    def collect(self) -> Iterator[Metric]:
        sums = self._read()
        for family in REGISTRY.collect():
            yield _family(family, sums)

    def _read(self) -> dict[Series, float]:
        try:
            with store_errors():
                stored = self._redis.hgetall(keys.metrics())
        except StoreFailed:
            return dict(_counted())
        return {_series(field): float(value) for field, value in stored.items()}


def _family(family: Metric, sums: dict[Series, float]) -> Metric:
    """Return the family with the deployment's sums instead of this process's values."""
    shown = Metric(family.name, family.documentation, family.type)
    ours = [series for series in sums if series[0].startswith(family.name + "_")]
    for name, labels in sorted(ours, key=_place):
        shown.add_sample(name, dict(labels), sums[name, labels])
    return shown


def _place(series: Series) -> tuple[tuple[tuple[str, str], ...], str, float]:
    """Order a histogram as its readers expect it: by labels, then buckets by their bounds, then count and sum."""
    name, labels = series
    bound = dict(labels).get("le")
    rest = tuple(label for label in labels if label[0] != "le")
    return rest, name, float("inf") if bound is None else float(bound)


def _counted() -> Iterator[tuple[Series, float]]:
    for family in REGISTRY.collect():
        for sample in family.samples:
            if not sample.name.endswith("_created"):
                yield (sample.name, tuple(sorted(sample.labels.items()))), sample.value


def _field(series: Series) -> bytes:
    return msgspec.json.encode(series)


def _series(field: bytes | str) -> Series:
    return msgspec.json.decode(field, type=Series)


def totals(redis: Redis, names: Iterable[str]) -> dict[str, float]:
    """Return the deployment's sum of each named sample over all its labels, for `doctor` and benchmarks.

    Raises:
        StoreFailed: when the store does not answer.
    """
    with store_errors():
        stored = redis.hgetall(keys.metrics())
    sums: defaultdict[str, float] = defaultdict(float)
    for field, value in stored.items():
        sums[_series(field)[0]] += float(value)
    return {name: sums[name] for name in names}
