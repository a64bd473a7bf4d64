"""Memory: by how much gateway and workers grow for each 1,000 jobs, and whether the store's keys leave with the jobs.

After a warm-up, in which the caches of all processes fill and the timers of the first messages run out (a worker keeps
one for each until its limit of time, 108 s, so that until then it grows), two batches of jobs through the gateway; the
slope is that of the resident memory of all processes of a part over three readings. Results live a minute and cached
replies less (settings), so the keys can be counted again when all of it is over. What has a life time of a day,
whatever the settings, is counted apart.

    python -m bench.memory [--quick]
"""

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from signal_search.client import Client

from bench import report
from bench.arithmetic import slope
from bench.processes import rss_mib
from bench.stacks import Place, drained, own_stack
from infra.redis import Redis

WARM_S = report.size(115, 1)
BATCH = report.size(500, 80)
CALLERS = 4
TTL_S = 60
PARTS = ("gateway", "worker-crawl1", "worker-reduce1")
QUESTION = "How high is Mount Corvel?"
_SETTINGS = {
    "SIGNAL_SEARCH_JOBS__RESULT_TTL_S": str(TTL_S),
    "SIGNAL_SEARCH_JOBS__IDEMPOTENCY_TTL_S": str(TTL_S),
    "SIGNAL_SEARCH_CACHE__DEFAULT_TTL_S": "30",
    "SIGNAL_SEARCH_CACHE__DELIVERY_TTL_S": "30",
    "SIGNAL_SEARCH_CACHE__REVALIDATE_S": "0",
    "SIGNAL_SEARCH_CACHE__STALE_IF_ERROR_S": "0",
}


def run_jobs(at: Place, count: int) -> None:
    """Run jobs through the gateway, some at a time."""

    def some(share: int) -> None:
        with Client(at.gateway) as client:
            for _ in range(share):
                client.retrieve(QUESTION, sources=["wikipedia"])

    shares = [count // CALLERS] * CALLERS
    with ThreadPoolExecutor(CALLERS) as callers:
        list(callers.map(some, shares))
    drained(at)


def warm_up(at: Place) -> int:
    """Run jobs for a while; return how many."""
    ends, count = time.monotonic() + WARM_S, 0
    while time.monotonic() < ends:
        run_jobs(at, BATCH)
        count += BATCH
    return count


def memory(at: Place) -> dict[str, float]:
    """Return the MiB of each part."""
    return {name: rss_mib(at.pids(name)[0]) for name in PARTS}


def kind_of(key: bytes) -> str:
    """Return what sort of key this is: its words that are the same for all jobs."""
    parts = key.decode().split(":")
    return ":".join(each for each in parts if each.isalpha())


def kinds(redis: Redis) -> tuple[Counter[str], Counter[str]]:
    """Return how many keys there are of each sort, and how many of them have no life time."""
    every: Counter[str] = Counter()
    endless: Counter[str] = Counter()
    for key in redis.scan_iter(count=1000):
        every[kind_of(key)] += 1
        if redis.pttl(key) == -1:
            endless[kind_of(key)] += 1
    return every, endless


def measure(at: Place) -> dict[str, Any]:
    """Return the readings of the memory, and the keys before and after."""
    warm = warm_up(at)
    _every, endless_before = kinds(at.redis)
    readings = [(0, memory(at))]
    for number in (1, 2):
        run_jobs(at, BATCH)
        readings.append((number * BATCH, memory(at)))
    if not report.is_quick():
        time.sleep(TTL_S + 5)
    every, endless = kinds(at.redis)
    slopes = {
        name: slope([(jobs / 1000, found[name]) for jobs, found in readings]) for name in PARTS
    }
    return {
        "jobs": 2 * BATCH,
        "jobs_before": warm,
        "readings_mib": [{name: round(each, 1) for name, each in r.items()} for _n, r in readings],
        "mib_per_1000_jobs": {name: round(each, 2) for name, each in slopes.items()},
        "keys_left": dict(every),
        "keys_without_life_time": dict(endless),
        "more_without_life_time": sum((endless - endless_before).values()),
    }


def main() -> None:
    with own_stack(crawl=1, variables=_SETTINGS) as at:
        found = measure(at)
    report.tell("memory", found)
    rows = [
        report.row(f"memory of {name}, MiB for each 1,000 jobs", each, n=2 * BATCH, bar="<= 1")
        for name, each in found["mib_per_1000_jobs"].items()
    ]
    rows.append(
        report.row(
            "Redis keys without a life time, more than before the jobs",
            found["more_without_life_time"],
            n=2 * BATCH,
            bar="<= 0",
        )
    )
    if not report.is_quick():
        left = sum(found["keys_left"].values()) - sum(found["keys_without_life_time"].values())
        rows.append(
            report.row(
                "Redis keys with a longer life left after the results' TTL, for each job",
                round(left / (found["jobs_before"] + 2 * BATCH), 2),
                n=found["jobs_before"] + 2 * BATCH,
            )
        )
    report.finish(rows, found)


if __name__ == "__main__":
    main()
