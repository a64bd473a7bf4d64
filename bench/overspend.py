"""Overspend of any dimension by 64 concurrent jobs whose processes are killed (-9) without settling.

Eight processes of eight jobs reserve, settle, release and forget over job, tenant and deployment, whose limits are so
low that they stop them, and are raised a little again and again; four processes are killed in the middle and started
again, then all. Used and held of every level are read all the while: the figure is the most that their sum ever
exceeded a limit by. When all are dead and their leases over, nothing may be held.

    python -m bench.overspend [--quick]
"""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from signal_search.contracts.budget import Dimension

from bench import report
from bench.place import running, store, until
from bench.spender import DEPLOYMENT, LEASE_MS, TENANTS
from budget.redis_ledger import RedisLedger
from infra.child import Child
from infra.redis import Redis, connect

PROCESSES, THREADS = 8, 8
KILLED = 4
STEPS = {
    "job": 15,
    "tenant": 150,
    "deployment": 450,
}  # of each dimension: a limit at first, and each raise
SECONDS = report.size(8, 4)
LEVELS = [
    DEPLOYMENT,
    *(f"tenant:{each}" for each in range(TENANTS)),
    *(f"job:{each}" for each in range(PROCESSES * THREADS)),
]


@contextmanager
def spenders(url: str, numbers: range) -> Iterator[list[Child]]:
    with ExitStack() as ending:
        yield [
            ending.enter_context(
                running(f"spender{each}", ["-m", "bench.spender", url, str(each), str(THREADS)])
            )
            for each in numbers
        ]


class Watch:
    """Raises the limits, and keeps the most that any level exceeded one by, over all samples."""

    def __init__(self, ledger: RedisLedger) -> None:
        self._ledger = ledger
        self._raises = 0
        self.samples = 0
        self.most = -(10**9)

    def raise_limits(self) -> None:
        self._raises += 1
        for level in LEVELS:
            limit = STEPS[level.split(":", 1)[0]] * self._raises
            self._ledger.open(level, dict.fromkeys(Dimension, limit), ttl_ms=600_000)

    def look(self, level: str) -> None:
        balance = self._ledger.balance(level)
        for each, limit in balance.limits.items():
            spent = balance.used.get(each, 0) + balance.held.get(each, 0)
            self.most = max(self.most, spent - limit)
            self.samples += 1

    def look_for(self, seconds: float) -> None:
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            for level in LEVELS:
                self.look(level)
                self.look(DEPLOYMENT)  # the one that all share
            self.raise_limits()


def held(ledger: RedisLedger) -> int:
    """Return the sum of all that is held, over all levels and dimensions."""
    return sum(sum(ledger.balance(level).held.values()) for level in LEVELS)


def spend(url: str, redis: Redis, watch: Watch) -> None:
    """Let all spend, kill half of them, start as many again, kill all."""
    with spenders(url, range(PROCESSES)) as first:
        until(lambda: int(redis.get("bench:ready") or 0) == PROCESSES, "spenders that are ready")
        watch.look_for(SECONDS / 2)
        kill(first[:KILLED])
        with spenders(url, range(KILLED)) as second:
            watch.look_for(SECONDS / 2)
            kill([*first[KILLED:], *second])


def kill(children: list[Child]) -> None:
    pids = [each.pid for each in children if each.pid]
    report.require(len(pids) == len(children), "a spender ended by itself")
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


def main() -> None:
    with store() as url:
        redis = connect(url)
        ledger = RedisLedger(redis)
        watch = Watch(ledger)
        watch.raise_limits()
        spend(url, redis, watch)
        left = held(ledger)
        time.sleep(LEASE_MS / 1000 + 0.2)
        while ledger.expire():
            pass
        counts = {
            each: int(redis.get(f"bench:{each}") or 0) for each in ("held", "short", "forgotten")
        }
        after = held(ledger)
        redis.close()
    report.require(left > 0, "no hold was left behind by who was killed")
    report.require(counts["short"] > 0, "no limit was reached")
    figures = {"samples": watch.samples, "most_over_limit": watch.most, **counts}
    figures |= {"held_when_killed": left, "held_after_expiry": after}
    report.tell("overspend", figures)
    jobs = PROCESSES * THREADS
    rows = [
        report.row(
            f"overspend of any dimension, {jobs} concurrent jobs, {KILLED + PROCESSES} kills",
            max(0, watch.most),
            n=counts["held"],
            bar="<= 0",
        ),
        report.row("held after the leases of the killed", after, n=counts["held"], bar="<= 0"),
    ]
    report.finish(rows, figures)


if __name__ == "__main__":
    main()
