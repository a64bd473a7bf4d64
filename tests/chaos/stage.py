"""The stage of all chaos: one question over a slow site, a stack that heals itself, and what must come out of it."""

import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from signal_search.client import Client
from signal_search.contracts.job import TERMINAL_STATES, Job
from signal_search.contracts.query import Constraints, RetrieveRequest, SourcePrefs
from signal_search.contracts.result import Result
from signal_search.contracts.trace import Ended

from budget.ledger import Balance
from budget.redis_ledger import RedisLedger
from infra.redis import Redis, connect
from infra.roles import Role
from infra.stack import Parts
from tests.e2e.conftest import INTERVAL_S, Running, start
from tests.fakes.ports import free_port

HOST = "harbour.test"
REQUEST = RetrieveRequest(
    query="When is the harbour bridge opened for ships?",
    constraints=Constraints(source_prefs=SourcePrefs(only=(f"site:http://{HOST}/",))),
)
_LATENCY_S = 0.3  # three times the interval: whoever looks, mostly finds a request in flight
_FACTS = (
    *("answer", "findings", "scores", "confidence", "stop", "usage", "exhausted", "token_used"),
    *("claims_true", "claims_total", "uncertainties", "conflicts", "source_outcomes", "warnings"),
    "degradations",
)


def wait_until(predicate: Callable[[], object], description: str, *, within_s: float = 90) -> None:
    """Look again and again; for moments that are milliseconds long there are traps."""
    ends = time.monotonic() + within_s
    while not predicate():
        if time.monotonic() > ends:
            pytest.fail(f"never happened: {description}")
        time.sleep(0.02)


def facts(result: Result) -> dict[str, Any]:
    """Return what two runs of a question must agree on: everything but ids and times."""
    found = {name: msgspec.to_builtins(getattr(result, name)) for name in _FACTS}
    sources = [msgspec.to_builtins(each) for each in result.sources]
    return found | {"sources": [{**each, "fetched_at": ""} for each in sources]}


@dataclass
class Stage:
    """A running stack with the slow site, and one job on it."""

    running: Running
    redis: Redis
    client: Client
    restarted: list[str]
    job_id: str = ""

    def submit(self) -> None:
        self.job_id = self.client.submit(REQUEST).id

    def job(self) -> Job:
        return self.client.job(self.job_id)

    def pages_seen(self) -> int:
        return len(self.running.requests(HOST))

    def finish(self) -> Result:
        wait_until(lambda: self.job().state in TERMINAL_STATES, "the job ends")
        return self.client.result(self.job_id)

    def pid(self, name: str) -> int:
        [child] = [each.child for each in self.running.stack.processes if each.child.name == name]
        assert child.pid is not None
        return child.pid

    def kill(self, name: str) -> None:
        """Take a worker away in the middle of whatever it does."""
        os.kill(self.pid(name), signal.SIGKILL)

    def wait_for_restart(self, name: str) -> None:
        wait_until(lambda: name in self.restarted, f"{name} is started again")


@contextmanager
def stage(
    folder: Path, workers: dict[Role, int], *, latency_s: float = _LATENCY_S, **more: str
) -> Iterator[Stage]:
    """Start everything and heal it once a second; leave nothing running. `more` are settings of the environment."""
    running = start(folder, Parts(workers=workers, web_port=free_port()), **more)
    ended = threading.Event()
    restarted: list[str] = []
    healer = threading.Thread(target=running.stack.run, args=(ended, restarted.append))
    healer.start()
    fault = {"host": HOST, "latency_s": latency_s, "count": None}
    httpx.post(
        f"http://127.0.0.1:{running.web_port}/__faults", json=fault, timeout=30
    ).raise_for_status()
    redis = connect(running.redis_url)
    try:
        with Client(redis_url=running.redis_url) as client:
            yield Stage(running, redis, client, restarted)
    finally:
        redis.close()
        ended.set()
        healer.join()
        running.stack.stop()


def assert_polite(on: Stage) -> None:
    """No two requests began closer than the interval, by the server's own clock."""
    starts = sorted(row["t_start"] for row in on.running.requests(HOST))
    gaps = [later - earlier for earlier, later in pairwise(starts)]
    assert len(gaps) >= 3
    assert min(gaps) >= INTERVAL_S * 1000, gaps


def settled(on: Stage, job_id: str) -> Balance:
    """Return a job's account when nothing is held any more: its holds are given back after its end has been told."""
    ledger, level = RedisLedger(on.redis), f"job:{job_id}"
    wait_until(lambda: not any(ledger.balance(level).held.values()), "nothing is held any more")
    return ledger.balance(level)


def assert_charged_once(on: Stage, result: Result) -> None:
    """The ledger says what the result says, and nothing is held any more."""
    balance = settled(on, on.job_id)
    usage = result.usage
    assert {name: amount for name, amount in balance.used.items() if amount} == {
        "tokens": usage.tokens,
        "calls": usage.calls,
        "fetches": usage.fetches,
        "bytes": usage.bytes,
    }


def assert_ended_once(on: Stage) -> None:
    """The log has one end, and it is the last word."""
    entries = [entry for _id, entry in on.client.events(on.job_id) if entry]
    assert [isinstance(each, Ended) for each in entries].count(True) == 1
    assert isinstance(entries[-1], Ended)
    keys = [each.key for each in entries]
    assert len(keys) == len(set(keys))


def assert_as_if_nothing_had_happened(on: Stage, undisturbed: dict[str, Any]) -> None:
    """The job ends with the undisturbed result, paid for once, and the site noticed nothing impolite."""
    result = on.finish()
    assert facts(result) == undisturbed
    assert_charged_once(on, result)
    assert_ended_once(on)
    assert_polite(on)


@cache
def facts_undisturbed() -> dict[str, Any]:
    """Return the facts of a run that nothing disturbs: a whole stack, once for all files of this process."""
    with (
        tempfile.TemporaryDirectory(prefix="ss-calm-") as folder,
        stage(Path(folder), {"crawl": 1, "reduce": 1}) as on,
    ):
        on.submit()
        result = on.finish()
        assert result.findings
        assert_charged_once(on, result)
        assert_ended_once(on)
        assert_polite(on)
        return facts(result)
