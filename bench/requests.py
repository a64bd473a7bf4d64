"""The requests that benches offer to the frontier, and the store's own count of what they cost."""

import time
from collections.abc import Iterable
from typing import Any

from signal_search.contracts.source import Request

from bench.place import INTERVAL_S
from budget.frontier import Offer
from budget.redis_frontier import RedisFrontier
from infra.redis import Redis
from workers.fetching.cache import fingerprint, host_key
from workers.pipeline.encoding import encode_request

_BATCH = 1000
_DEADLINE_MS = 600_000


def offers(
    host: str, paths: Iterable[str], *, job: str = "bench", pause_s: float = INTERVAL_S
) -> list[Offer]:
    """Return one offer for each path of a host, on behalf of a job that is over: nobody waits for what is fetched."""
    deadline_ms = time.time_ns() // 1_000_000 + _DEADLINE_MS
    asked = [
        Request(url=f"http://{host}{path}", adapter="site", source_id=f"site:http://{host}/")
        for path in paths
    ]
    return [
        Offer(
            uid=fingerprint(each),
            host=host_key(each.url),
            payload=encode_request(each),
            job=job,
            waiter=f"{job}|{each.url}",
            deadline_ms=deadline_ms,
            pause_ms=int(pause_s * 1000),
        )
        for each in asked
    ]


def offer_all(redis: Redis, offered: list[Offer]) -> None:
    """Queue them all, some at a time."""
    frontier = RedisFrontier(redis)
    for start in range(0, len(offered), _BATCH):
        frontier.offer(offered[start : start + _BATCH])


class Trips:
    """What the store has read and run since this was made, by its own count."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._before = self._now()

    def _now(self) -> dict[str, int]:
        stats: dict[str, Any] = dict(self._redis.info("stats"))
        names = ("total_reads_processed", "total_commands_processed")
        return {name: int(stats[name]) for name in names}

    def per(self, n: int) -> dict[str, float]:
        """Return reads from client sockets, and commands (those within scripts too), for each of n fetches."""
        after = self._now()
        spent = {name: after[name] - self._before[name] for name in after}
        return {
            "trips_per_fetch": round(spent["total_reads_processed"] / n, 3),
            "commands_per_fetch": round(spent["total_commands_processed"] / n, 2),
        }
