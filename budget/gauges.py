"""Gauges of the frontier and of the deployment's purse, read from the store at scrape time.

No host and no tenant is a label: there may be any number of them, and whom a tenant asks is nobody else's business.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from prometheus_client.metrics_core import Metric
from typing_extensions import override

from budget.policy import Period, deployment_level
from budget.redis_ledger import RedisLedger
from infra import keys
from infra.clock import Clock
from infra.redis import store_errors
from infra.store_metrics import Gauges, gauge

if TYPE_CHECKING:
    from redis import Redis


class FrontierGauges(Gauges):
    """How busy the frontier is, over all shards."""

    def __init__(self, redis: "Redis", clock: Clock) -> None:
        """Read from `redis`; how late hosts are is measured against `clock`, usually the store's own."""
        self._redis = redis
        self._clock = clock

    @override
    def read(self) -> Iterator[Metric]:
        """Yield the gauges."""
        now_ms = self._clock.now_ms()
        shards = [self._shard(shard, now_ms) for shard in range(keys.FRONTIER_SHARDS)]
        waiting, due, late_ms, in_flight, pending, suspended = zip(*shards, strict=True)
        yield gauge(
            "signal_search_hosts_waiting", "Hosts with queued requests.", [((), sum(waiting))]
        )
        yield gauge("signal_search_hosts_due", "Hosts that could be asked now.", [((), sum(due))])
        says = "How long the first of the hosts that are due has waited for a fetcher."
        yield gauge("signal_search_host_lateness_seconds", says, [((), max(late_ms) / 1000)])
        yield gauge(
            "signal_search_fetches_in_flight",
            "Requests that a fetcher holds.",
            [((), sum(in_flight))],
        )
        says = "Requests queued or in flight."
        yield gauge("signal_search_fetches_pending", says, [((), sum(pending))])
        says = "Hosts that asked to be left alone, or failed, and are not asked for a while."
        yield gauge("signal_search_hosts_suspended", says, [((), sum(suspended))])

    def _shard(self, shard: int, now_ms: int) -> tuple[int, int, float, int, int, int]:
        ready = keys.frontier_ready(shard)
        with store_errors(), self._redis.pipeline(transaction=False) as pipe:
            pipe.zcard(ready)
            pipe.zcount(ready, "-inf", now_ms)
            pipe.zrange(ready, 0, 0, withscores=True)
            pipe.get(keys.frontier_floor(shard))
            pipe.zcard(keys.frontier_leases(shard))
            pipe.hget(keys.frontier_load(shard), "total")
            pipe.zcount(keys.frontier_suspended(shard), f"({now_ms}", "+inf")
            waiting, due, first, floor, in_flight, pending, suspended = pipe.execute()
        floor_ms = float(floor or 0)
        late_ms = now_ms - max(float(first[0][1]), floor_ms) if first else 0.0
        is_open = now_ms >= floor_ms
        return (
            int(waiting),
            int(due) if is_open else 0,
            max(0.0, late_ms),
            int(in_flight),
            int(pending or 0),
            int(suspended),
        )


class PurseGauges(Gauges):
    """What the deployment may spend, has spent and holds; nothing while no limit is set or no job was planned yet."""

    def __init__(self, redis: "Redis", clock: Clock, per: Period) -> None:
        """Read from `redis` the purse of the time that `clock` tells."""
        self._ledger = RedisLedger(redis)
        self._clock = clock
        self._per: Period = per

    @override
    def read(self) -> Iterator[Metric]:
        """Yield the gauge."""
        balance = self._ledger.balance(deployment_level(self._per, self._clock.now_ms()))
        parts = {"limit": balance.limits, "used": balance.used, "held": balance.held}
        rows = [
            ([dimension.value, part], float(amounts.get(dimension, 0)))
            for dimension in balance.limits
            for part, amounts in parts.items()
        ]
        says = "The deployment's purse by dimension: its limit, what is used, what is held for requests under way."
        yield gauge("signal_search_budget", says, rows, ["dimension", "part"])
