"""One lane of the matrix: a whole stack with traps in its processes, healed at once, through which job after job runs."""

import json
import os
import shutil
import signal
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from signal_search.client.http import HttpTransport
from signal_search.errors import Failed

from infra.probe import answers, beating_pids
from infra.redis import Redis, connect
from infra.roles import BROKER_PREFIX, all_queues
from infra.settings import load
from infra.stack import Parts, Stack
from tests.chaos.points import POINTS, Point
from tests.e2e.conftest import environment
from tests.fakes.ports import free_port
from workers.celery_app import make_app, send_bell

HOST = "harbour.test"
CALL = "all.site1"
SHIM = Path(__file__).with_name("shim")
PATIENCE_S = 90.0  # a condition that takes longer on any machine is never going to hold
_STARTS = 3
_SIGNS = ("armed", "sprung", "report", "passed", "go", "echo", "deaf")
_SETTINGS = {
    "SIGNAL_SEARCH_FRONTIER__LEASE_S": "3",
    "SIGNAL_SEARCH_QUEUE__LEASE_S": "3",
    "SIGNAL_SEARCH_QUEUE__RECHECK_S": "1",
    "SIGNAL_SEARCH_QUEUE__HEARTBEAT_S": "1",
}


class NeverHappened(AssertionError):
    """What was waited for did not come."""


def wait_for(what: str, predicate: Callable[[], Any], within_s: float = PATIENCE_S) -> Any:
    ends = time.monotonic() + within_s
    while not (found := predicate()):
        if time.monotonic() > ends:
            raise NeverHappened(what)
        time.sleep(0.02)
    return found


@contextmanager
def started(folder: Path) -> "Iterator[Lane]":
    """Start a lane, once more when somebody took its port meanwhile; leave nothing running."""
    for number in range(_STARTS):
        lane = Lane(folder / str(number))
        try:
            lane.start()
        except Failed:
            if number == _STARTS - 1:
                raise
            continue
        try:
            yield lane
        finally:
            lane.stop()
        return


@dataclass(frozen=True)
class Death:
    """A process that ended while nobody had asked the stack to stop it; below 0: by that signal."""

    name: str
    code: int


@dataclass
class Lane:
    """A running stack. What it is told through files in its folder, the shim in its processes obeys."""

    folder: Path
    crawlers: int = 2
    deaths: list[Death] = field(default_factory=list)
    is_store_healed: threading.Event = field(default_factory=threading.Event)
    _names: dict[int, str] = field(default_factory=dict)
    _ended: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        functions = sorted({each.function for each in POINTS})
        (self.folder / "points.json").write_text(json.dumps(functions))
        self.set_clock("gateway", 0)
        self.set_clock("workers", 0)
        self.is_store_healed.set()
        self.web_port = free_port()
        parts = Parts(
            workers={"crawl": self.crawlers, "reduce": 1},
            gateway=True,
            port=free_port(),
            web_port=self.web_port,
        )
        path = os.pathsep.join(filter(None, (str(SHIM), os.environ.get("PYTHONPATH", ""))))
        more = {**_SETTINGS, "PYTHONPATH": path, "CHAOS_FOLDER": str(self.folder)}
        self.stack = Stack(
            load(data_dir=str(self.folder / "data"), redis_url=""),
            parts,
            environment=environment(self.web_port, **more),
        )
        self.stack.start()
        self.redis: Redis = connect(self.stack.redis_url)
        self.http = HttpTransport(self.stack.gateway_url)
        self._bells = make_app(load(redis_url=self.stack.redis_url))
        self._remember_names()
        self._healer = threading.Thread(target=self._heal, name="healer")
        self._healer.start()

    def stop(self) -> None:
        self._ended.set()
        self._healer.join()
        self._bells.close()
        self.http.close()
        self.redis.close()
        self.stack.stop()

    def _heal(self) -> None:
        """Start again what died, at once: the stack itself takes its time after the second death."""
        while not self._ended.wait(0.05):
            for each in self.stack.processes:
                if not each.child.is_alive():
                    code = each.child._process.returncode if each.child._process else 0
                    self.deaths.append(Death(each.child.name, code))
                    each.child.bury()
                    each.child.start()
                    self._remember_names()
            if self.is_store_healed.is_set() and not self.store.is_alive():
                self.store.start()

    # --- traps ---

    def arm(self, point: Point, action: str) -> None:
        wanted = {
            "place": point.place,
            "turn": point.turn,
            "not_empty": point.not_empty,
            "action": action,
        }
        if point.is_deaf:
            self.sign("deaf")
        draft = self.folder / "armed.new"
        draft.write_text(json.dumps(wanted))
        draft.rename(self.folder / "armed")

    def sprung(self) -> dict[str, int]:
        """Wait until a process stepped into the trap; return who it was and when."""
        report = self.folder / "report"
        wait_for("a process passes the point", report.exists)
        found: dict[str, int] = json.loads(report.read_bytes())
        return found

    def release(self) -> None:
        self.sign("go")

    def sign(self, name: str) -> None:
        (self.folder / name).touch()

    def forget_signs(self) -> None:
        for name in _SIGNS:
            (self.folder / name).unlink(missing_ok=True)
        self.set_clock("gateway", 0)
        self.set_clock("workers", 0)

    def set_clock(self, host: str, offset_s: float) -> None:
        with os.fdopen(os.open(self.folder / f"clock-{host}", os.O_RDWR | os.O_CREAT), "r+b") as to:
            to.write(struct.pack("d", offset_s))

    # --- the store ---

    @property
    def store(self) -> Any:
        return self.stack._redis

    @contextmanager
    def without_store(self, number: int, *, is_emptied: bool = False) -> Iterator[None]:
        """End the store by this signal; start it again afterwards, with what it had written down or with nothing."""
        self.is_store_healed.clear()
        pid = self.store.pid
        os.kill(pid, number)
        wait_for("the store ends", lambda: not self.store.is_alive())
        try:
            yield
        finally:
            if is_emptied:
                shutil.rmtree(self.folder / "data" / "redis" / "appendonlydir")
            self.store.start()
            self.is_store_healed.set()

    @contextmanager
    def frozen_store(self) -> Iterator[None]:
        pid = self.store.pid
        os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(pid, signal.SIGCONT)

    # --- bells ---

    def steps_of(self, job_id: str) -> dict[str, str]:
        return {
            f"{job_id}/plan": "plan",
            f"{job_id}/crawl/{CALL}": "crawl",
            f"{job_id}/reduce": "reduce",
        }

    def ring_everything(self, job_id: str) -> None:
        for step_id, task in self.steps_of(job_id).items():
            send_bell(self._bells, task, step_id)

    def lose_bells(self) -> None:
        self.redis.delete(*(f"{BROKER_PREFIX}{queue}" for queue in all_queues()))

    # --- the site ---

    def requests(self) -> list[dict[str, Any]]:
        """What the site saw, in the order the requests began."""
        answer = httpx.get(
            f"http://127.0.0.1:{self.web_port}/__log", params={"host": HOST}, timeout=30
        )
        rows = [row for row in answer.json() if not row["path"].startswith("/__")]
        return sorted(rows, key=lambda row: row["t_start"])

    def hang(self, latency_s: float, *, count: int | None = 1) -> None:
        fault = {"host": HOST, "latency_s": latency_s, "count": count}
        httpx.post(
            f"http://127.0.0.1:{self.web_port}/__faults", json=fault, timeout=30
        ).raise_for_status()

    def heal_site(self) -> None:
        httpx.delete(f"http://127.0.0.1:{self.web_port}/__faults", timeout=30).raise_for_status()

    def forget_replies(self) -> None:
        """Let the next job ask anew: every cell makes the same requests."""
        for pattern in ("ss:{f:*}:reply:*", "ss:{f:*}:given:*", "ss:robots:*"):
            names = list(self.redis.scan_iter(pattern))
            if names:
                self.redis.delete(*names)

    # --- its processes ---

    def _remember_names(self) -> None:
        for each in self.stack.processes:
            if (pid := each.child.pid) is not None:
                self._names[pid] = each.child.name

    def name_of(self, pid: int) -> str:
        """Return the name of a process of the stack, dead or alive."""
        return self._names.get(pid, "")

    def wait_until_well(self) -> None:
        """Wait until every worker beats and the gateway answers: a cell begins with a whole stack."""
        wait_for("all workers beat", lambda: not (self._workers() - beating_pids(self.url)))
        port = int(self.stack.gateway_url.rsplit(":", 1)[1])
        wait_for("the gateway answers", lambda: answers("127.0.0.1", port, "/readyz"))

    def _workers(self) -> set[int]:
        """Return the workers' process ids; 0 for one that does not run."""
        kept = [e.child for e in self.stack.processes if e.child.name.startswith("worker")]
        return {each.pid or 0 for each in kept}

    @property
    def url(self) -> str:
        return self.stack.redis_url

    def threads_lost(self) -> int:
        """Count the threads of any process that ended by an error so far; the worker seems well without them."""
        logs = (self.folder / "data" / "logs").glob("*.log")
        return sum(log.read_bytes().count(b"Exception in thread") for log in logs)
