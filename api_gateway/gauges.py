"""Gauges that only the door can read: what waits in the broker, places taken, how each source did, the clock."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from typing_extensions import override

from api_gateway.enqueue import Bell
from api_gateway.source_views import read_sources
from budget.gauges import FrontierGauges, PurseGauges
from budget.policy import Period
from budget.slots import Slots
from infra.clock import Clock
from infra.store_metrics import Gauges, ServerTime, gauge

if TYPE_CHECKING:
    from redis import Redis

_PLACES = "jobs"
_NEVER_ASKED = "unknown"
_WELL = frozenset({"answered", "no_results"})


class BrokerGauges(Collector):
    """The doorbells that wait. A broker that does not answer shows as `signal_search_broker_up` 0, alone."""

    def __init__(self, bell: Bell) -> None:
        """Ask the broker that `bell` rings at."""
        self._bell = bell

    @override
    def collect(self) -> Iterator[Metric]:
        """Yield the gauges."""
        depths = self._bell.depths()
        yield gauge(
            "signal_search_broker_up",
            "Whether the broker answered this scrape.",
            [((), bool(depths))],
        )
        rows = [([queue], float(count)) for queue, count in depths.items()]
        yield gauge(
            "signal_search_queue_depth", "Doorbells waiting in the broker.", rows, ["queue"]
        )


class DoorGauges(Gauges):
    """Places, sources and the clock."""

    def __init__(self, redis: "Redis", clock: Clock, most_jobs: int) -> None:
        """Read from `redis`; compare its time with `clock`. most_jobs: how many unfinished jobs there may be."""
        self._redis = redis
        self._slots = Slots(redis)
        self._clock = clock
        self._most_jobs = most_jobs

    @override
    def read(self) -> Iterator[Metric]:
        """Yield the gauges."""
        taken = self._slots.count(_PLACES)
        says = "Places for unfinished jobs that are taken."
        yield gauge("signal_search_job_places_taken", says, [((), taken)])
        says = "Places for unfinished jobs."
        yield gauge("signal_search_job_places", says, [((), self._most_jobs)])
        yield self._sources()
        skew_ms = self._clock.now_ms() - ServerTime(self._redis).now_ms()
        says = "How far this gateway's clock is before the store's."
        yield gauge("signal_search_clock_skew_seconds", says, [((), skew_ms / 1000)])

    def _sources(self) -> Metric:
        asked = [each for each in read_sources(self._redis) if each.health != _NEVER_ASKED]
        rows = [([each.id], float(each.health.split(":")[0] in _WELL)) for each in asked]
        says = "Whether a source answered when it was last asked, for a day."
        return gauge("signal_search_source_well", says, rows, ["source"])


def gauges_of(
    redis: "Redis", clock: Clock, bell: Bell, *, most_jobs: int, per: Period
) -> list[Collector]:
    """Return what the page shows beside the deployment's counts and the ledger of steps."""
    store_clock = ServerTime(redis)
    return [
        BrokerGauges(bell),
        FrontierGauges(redis, store_clock),
        PurseGauges(redis, store_clock, per),
        DoorGauges(redis, clock, most_jobs),
    ]
