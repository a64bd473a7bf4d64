"""A fan-out of twenty parts and what joins them, through our ledger of steps, beside a Celery chord of twenty.

Ours is the product's own machinery: steps made and rung as a plan does it, each claimed, worked on, told to the joining
step and left, by the same worker pool as the chord's. Beside it a real retrieve job of twenty sources.

    python -m bench.fan_out [--quick]
"""

import gc
import time
from collections.abc import Callable
from functools import partial

from signal_search.client import Client
from signal_search.errors import SignalSearchError

from bench import bare, report, steps_worker
from bench.arithmetic import in_ms
from bench.place import popped, store
from bench.stacks import Place, shared_stack
from infra.redis import Redis, connect

RUNS = report.size(30, 12)
REAL_JOBS = report.size(10, 4)
PARTS = 20
QUESTION = "How high is Mount Corvel?"
_WARM = 3


_held: list[object] = []  # what starters hold; let go after the last measurement


def timed(start: Callable[[str], object], redis: Redis, key: str) -> float:
    """Return the seconds from the start of a fan-out to the word of who joined it."""
    began = time.perf_counter()
    _held.append(start(key))
    joined = int(popped(redis, key))
    spent = time.perf_counter() - began
    report.require(joined == PARTS, f"a fan-out that joined {joined}")
    return spent


def fan_outs(url: str, redis: Redis) -> tuple[list[float], list[float]]:
    """Return the seconds of each of ours and of each chord, in turns, on a store that no other worker looks at."""
    ours: list[float] = []
    theirs: list[float] = []
    with bare.worker(url), steps_worker.worker(url) as start:
        sender = bare.make_app(url, results=True)
        for number in range(RUNS + _WARM):
            ours.append(timed(partial(start, PARTS), redis, f"bench:fan-out:{number}"))
            chord = partial(bare.fan_out, sender, PARTS)
            theirs.append(timed(chord, redis, f"bare:chord:{number}"))
        _held.clear()
        gc.collect()  # a chord's results unsubscribe when they go: while there is a store
        sender.close()
    return ours[_WARM:], theirs[_WARM:]


def real_jobs(at: Place) -> list[float]:
    """Return the seconds of each job that asks as many open sources as a chord has parts, replies cached."""
    seconds = []
    with Client(redis_url=at.redis_url) as client:
        names = [each.id for each in client.sources() if each.enabled][:PARTS]
        for _ in range(REAL_JOBS + 1):
            began = time.perf_counter()
            try:
                client.retrieve(
                    QUESTION, {"required_tier": "L3"}, sources=names, timeout=60, depth="deep"
                )
            except SignalSearchError as error:
                report.tell("real job", {"error": error.code})
                return []
            seconds.append(time.perf_counter() - began)
    return seconds[1:]


def main() -> None:
    with store() as url:
        redis = connect(url)
        ours, theirs = map(in_ms, fan_outs(url, redis))
        redis.close()
    report.tell("fan-out", {"ours": ours, "chord": theirs})
    with shared_stack() as at:
        jobs = real_jobs(at)
    ratio = ours["p50_ms"] / theirs["p50_ms"]
    rows = [
        report.row(
            "fan-out of 20 and its join, p50, ms, against a Celery chord",
            ours["p50_ms"],
            n=RUNS,
            peer=theirs["p50_ms"],
            ratio=ratio,
            bar="< 1",
        )
    ]
    figures = {"ours": ours, "chord": theirs}
    if jobs:
        real = in_ms(jobs)
        figures["retrieve_job_of_20_sources"] = real
        rows.append(
            report.row("retrieve job of 20 cached sources, p50, ms", real["p50_ms"], n=len(jobs))
        )
    report.finish(rows, figures)


if __name__ == "__main__":
    main()
