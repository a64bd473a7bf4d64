"""Workers are told to end in the middle of a job: another one goes on, with the same result, charged once, exit code 0."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import pytest
from signal_search.client import Client

from infra import command_lines, probe
from infra.child import Child
from infra.heartbeat import live_workers
from infra.redis import connect
from infra.roles import Role
from infra.settings import child_environment
from infra.stack import Parts
from tests.chaos.conftest import undisturbed  # noqa: F401  the fixture
from tests.chaos.stage import (
    HOST,
    Stage,
    assert_as_if_nothing_had_happened,
    wait_until,
)
from tests.e2e.conftest import environment, start
from tests.fakes.ports import free_port

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]

_LATENCY_S = 0.3
_LONG_LEASE = {
    # What is not handed back would be missed for longer than this test may take.
    "SIGNAL_SEARCH_FRONTIER__LEASE_S": "600",
    "SIGNAL_SEARCH_QUEUE__LEASE_S": "600",
}


class Place:
    """A store, a slow site and a gateway-less stack; workers come and go by the test's own hand."""

    def __init__(self, on: Stage, folder: Path, more: dict[str, str]) -> None:
        self.on = on
        self._folder = folder
        self._more = more
        self._children: list[Child] = []

    def start(self, role: Role, name: str, *, slow: str = "") -> Child:
        command = command_lines.worker(role, name=name, concurrency=1)
        extra = {"SIGNAL_SEARCH_WORKER_ROLE": role}
        if slow:
            command[command.index("workers.worker")] = "tests.fakes.slow_worker"
            extra |= {"SLOW_STEP": slow, "SLOW_NOTE": str(self.note)}
        variables = {
            "SIGNAL_SEARCH_REDIS_URL": self.on.running.redis_url,
            "SIGNAL_SEARCH_DATA_DIR": str(self._folder),
            **environment(self.on.running.web_port),
            **self._more,
            **extra,
        }
        child = Child(
            name,
            command,
            log=self._folder / f"{name}.log",
            environment=child_environment(**variables),
        )
        self._children.append(child)
        child.start()
        wait_until(lambda: name in self.alive(), f"{name} gives a sign of life")
        return child

    @property
    def note(self) -> Path:
        return self._folder / "began"

    def alive(self) -> set[str]:
        return {each.name.split("@")[0] for each in live_workers(self.on.redis)}

    def stop(self) -> None:
        for each in self._children:
            each.stop(10)

    def fault(self, **fault: Any) -> None:
        httpx.post(self._faults_url, json={"host": HOST, **fault}, timeout=30).raise_for_status()

    def faults(self) -> list[Any]:
        """Return what is still in force: a fault that is counted leaves when its request arrives."""
        found: list[Any] = httpx.get(self._faults_url, timeout=30).json()
        return found

    @property
    def _faults_url(self) -> str:
        return f"http://127.0.0.1:{self.on.running.web_port}/__faults"


def ends_well(child: Child, *signals: int) -> None:
    """Send signals to a worker as a supervisor does; it must end by itself, with exit code 0."""
    process = child._process
    assert process is not None
    for number in signals:
        process.send_signal(number)
        Event().wait(0.2)  # signals that come at once are one
    assert process.wait(60) == 0, child.last_lines(20)


@contextmanager
def place(folder: Path, **more: str) -> Iterator[Place]:
    running = start(folder, Parts(workers={}, web_port=free_port()))
    redis = connect(running.redis_url)
    web_port = running.web_port
    wait_until(lambda: probe.answers("127.0.0.1", web_port, "/"), "the web answers")
    try:
        with Client(redis_url=running.redis_url) as client:
            made = Place(Stage(running, redis, client, []), folder, {**_LONG_LEASE, **more})
            try:
                yield made
            finally:
                made.stop()
    finally:
        redis.close()
        running.stack.stop()


def test_a_crawl_worker_finishes_what_is_in_flight(tmp_path: Path, undisturbed: dict[str, Any]):  # noqa: F811
    with place(tmp_path) as here:
        here.fault(latency_s=_LATENCY_S, count=None)
        here.start("reduce", "reduce1")
        first, _ = here.start("crawl", "crawl1"), here.start("crawl", "crawl2")
        here.on.submit()
        wait_until(lambda: here.on.pages_seen() >= 3, "the crawl is under way")
        ends_well(first, signal.SIGTERM)
        assert here.alive() == {"reduce1", "crawl2"}
        assert_as_if_nothing_had_happened(here.on, undisturbed)


@pytest.mark.parametrize("signals", [[signal.SIGTERM], [signal.SIGTERM, signal.SIGINT]])
def test_a_request_that_hangs_is_handed_back(
    tmp_path: Path,
    undisturbed: dict[str, Any],  # noqa: F811
    signals: list[int],
):
    """Once when the time is over, once at the second signal, although there would be time."""
    with place(tmp_path, SIGNAL_SEARCH_QUEUE__STOP_S="1" if len(signals) == 1 else "600") as here:
        here.fault(count=1)  # robots.txt is answered at once
        here.fault(latency_s=25, count=1)
        here.start("reduce", "reduce1")
        first = here.start("crawl", "crawl1")
        here.on.submit()
        wait_until(lambda: not here.faults(), "the page is asked for and does not come")
        here.start("crawl", "crawl2")
        ends_well(first, *signals)
        assert_as_if_nothing_had_happened(here.on, undisturbed)


@pytest.mark.parametrize(
    ("role", "step", "signals"),
    [
        ("reduce", "plan", [signal.SIGTERM]),
        ("reduce", "reduce", [signal.SIGINT, signal.SIGTERM]),
        ("all", "reduce", [signal.SIGTERM]),
    ],
)
def test_a_step_that_hangs_is_handed_back(
    tmp_path: Path,
    undisturbed: dict[str, Any],  # noqa: F811
    role: Role,
    step: str,
    signals: list[int],
):
    with place(tmp_path, SIGNAL_SEARCH_QUEUE__STOP_S="1" if len(signals) == 1 else "600") as here:
        here.fault(latency_s=_LATENCY_S, count=None)
        here.start("crawl", "crawl1")
        first = here.start(role, "slow1", slow=step)
        here.on.submit()
        wait_until(here.note.exists, f"the {step} step is at work")
        ends_well(first, *signals)
        assert here.alive() == {"crawl1"}
        here.start("reduce", "reduce2")
        assert_as_if_nothing_had_happened(here.on, undisturbed)


@pytest.mark.parametrize("role", ["crawl", "reduce", "all"])
def test_an_idle_worker_ends_at_once(tmp_path: Path, role: Role):
    with place(tmp_path, SIGNAL_SEARCH_QUEUE__STOP_S="600") as here:
        ends_well(here.start(role, "idle1"), signal.SIGTERM)
        assert here.alive() == set()
