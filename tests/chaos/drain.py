"""The same work, the same kills: what stock Celery loses and repeats, and what our ledger of steps does."""

import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from signal_search.contracts.job import RetrieveSpec
from signal_search.contracts.query import RetrieveRequest
from signal_search.contracts.trace import CallRefused

from infra.broker import broker_url
from infra.child import Child
from infra.embedded_redis import EmbeddedRedis
from infra.job_log import JobLog
from infra.job_store import JobStore
from infra.redis import Redis, connect
from infra.settings import child_environment, load
from infra.steps import Steps
from tests.chaos.lane import wait_for
from tests.chaos.points import ROOT
from workers.toolbox import step_rules

Side = Literal["stock", "ours"]
_JOB, _RUNS = "job_drain", "drain:runs"
_QUIET_S = 45.0  # nothing was done for so long: nothing more will be
_LONG_MS = 86_400_000


@dataclass(frozen=True)
class Drained:
    """What became of `asked` pieces of work; `repeated` were done more than once, `doubled` also counted twice."""

    side: Side
    asked: int
    kills: int
    restarts: int
    lost: int
    repeated: int
    doubled: int
    seconds: float

    @property
    def text(self) -> str:
        return (
            f"{self.side:>5}: {self.asked} tasks, {self.kills} kills -9, {self.restarts} store kills: "
            f"lost {self.lost}, done twice {self.repeated}, counted twice {self.doubled}, {self.seconds:.0f} s"
        )


class Drain:
    """One side: a store, a worker that is killed again and again, and the work."""

    def __init__(self, folder: Path, side: Side, asked: int) -> None:
        self.side = side
        self.asked = asked
        self._store = EmbeddedRedis(folder)
        url = self._store.start()
        self.redis: Redis = connect(url)
        self._settings = load(redis_url=url)
        environment = child_environment(
            DRAIN=side,
            PYTHONPATH=os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", "")))),
            SIGNAL_SEARCH_REDIS_URL=url,
            SIGNAL_SEARCH_BROKER_URL=broker_url(url),
            SIGNAL_SEARCH_QUEUE__LEASE_S="3",
        )
        command = [
            *(sys.executable, "-m", "celery", "-A", "tests.chaos.drain_app", "worker"),
            *("--pool", "prefork", "--concurrency", "2", "-n", f"{side}@%h"),
            *(
                "-Q",
                "celery" if side == "stock" else "crawl",
                "--without-gossip",
                "--without-mingle",
            ),
        ]
        self._worker = Child(side, command, log=folder / f"{side}.log", environment=environment)

    def ask(self) -> None:
        if self.side == "stock":
            self._ask_stock()
            return
        rules = step_rules(self._settings)
        spec = RetrieveSpec(
            id=_JOB,
            tenant="local",
            request=RetrieveRequest(query="Nothing is asked."),
            created_at_ms=1,
            deadline_ms=_LONG_MS,
            result_ttl_s=600,
        )
        JobStore(self.redis).create(spec, look_after_ms=10 * _LONG_MS * 365 * 100)
        steps = Steps(self.redis, rules)
        for number in range(self.asked):
            steps.make(f"{_JOB}/crawl/{number}", "crawl")

    def _ask_stock(self) -> None:
        from celery import Celery  # noqa: PLC0415  this side only

        app = Celery("stock", broker=broker_url(self._settings.redis_url), set_as_current=False)
        for number in range(self.asked):
            app.send_task("stock.work", args=[number])
        app.close()

    def start(self) -> None:
        self._worker.start()

    def done(self) -> int:
        return int(self.redis.llen(_RUNS))

    def kill_worker(self) -> None:
        pid = self._worker.pid
        assert pid is not None
        os.killpg(pid, signal.SIGKILL)
        self._worker.wait(10)
        self._worker.start()

    def kill_store(self) -> None:
        pid = self._store.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        wait_for("the store is dead", lambda: not self._store.is_alive())
        self._store.start()

    def wait_until_quiet(self, is_drained: Callable[[], bool]) -> None:
        seen, since = self.done(), time.monotonic()
        while not is_drained() and time.monotonic() - since < _QUIET_S:
            time.sleep(0.1)
            if self.done() != seen:
                seen, since = self.done(), time.monotonic()

    def runs(self) -> Counter[bytes]:
        return Counter(self.redis.lrange(_RUNS, 0, -1))

    def commits(self) -> Counter[str]:
        """What counted: entries of the log by key; the stock side has nothing that would tell a repetition."""
        if self.side == "stock":
            return Counter({number.decode(): times for number, times in self.runs().items()})
        entries = (entry for _id, entry in JobLog(self.redis).read(_JOB))
        return Counter(entry.key for entry in entries if isinstance(entry, CallRefused))

    def stop(self) -> None:
        self._worker.stop(15)
        self.redis.close()
        self._store.stop()


def drain(folder: Path, side: Side, *, asked: int, kills: int, store_every: int = 3) -> Drained:
    """Drain `asked` pieces of work while the worker is killed `kills` times, evenly spread, and the store sometimes."""
    began = time.monotonic()
    side_of = Drain(folder, side, asked)
    restarts = 0
    try:
        side_of.ask()
        side_of.start()
        for number in range(1, kills + 1):
            wanted = asked * number // (kills + 2)
            wait_for("work is done", lambda wanted=wanted: side_of.done() >= wanted)
            side_of.kill_worker()
            if number % store_every == 0:
                side_of.kill_store()
                restarts += 1
        side_of.wait_until_quiet(lambda: len(side_of.commits()) == asked)
        commits, runs = side_of.commits(), side_of.runs()
    finally:
        side_of.stop()
    return Drained(
        side=side,
        asked=asked,
        kills=kills,
        restarts=restarts,
        lost=asked - len(commits),
        repeated=sum(runs.values()) - len(runs),
        doubled=sum(commits.values()) - len(commits),
        seconds=time.monotonic() - began,
    )
