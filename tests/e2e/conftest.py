"""One real stack for all end-to-end tests: embedded store, gateway, two crawl workers, a reduce worker, the loopback web."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from infra.loopback_web.server import hosts
from infra.settings import load
from infra.stack import Parts, Stack
from tests.fakes.ports import free_port

INTERVAL_S = 0.1
# Where no worker is killed: there a lease that ends is one of a worker that had no time, and would be work done twice.
LONG_LEASES = {"SIGNAL_SEARCH_FRONTIER__LEASE_S": "40", "SIGNAL_SEARCH_QUEUE__LEASE_S": "40"}


def environment(web_port: int, **more: str) -> dict[str, str]:
    return {
        "SIGNAL_SEARCH_LOOPBACK__ONLY": "true",
        "SIGNAL_SEARCH_LOOPBACK__HOSTS": json.dumps(hosts(web_port)),
        "SIGNAL_SEARCH_POLITENESS__LOOPBACK_INTERVAL_S": str(INTERVAL_S),
        "SIGNAL_SEARCH_FRONTIER__LEASE_S": "3",
        "SIGNAL_SEARCH_QUEUE__LEASE_S": "4",
        "SIGNAL_SEARCH_QUEUE__RECHECK_S": "1",
        "SIGNAL_SEARCH_SEARCH__DEADLINE_S": "50",  # a busy machine may need more than the ten seconds of the defaults
        **more,
    }


@dataclass
class Running:
    """A stack that runs, and its web."""

    stack: Stack
    web_port: int

    @property
    def redis_url(self) -> str:
        return self.stack.redis_url

    @property
    def gateway_url(self) -> str:
        return self.stack.gateway_url

    def requests(self, host: str = "") -> list[dict[str, Any]]:
        """Return the web's own log, oldest first."""
        answer = httpx.get(
            f"http://127.0.0.1:{self.web_port}/__log",
            params={"host": host} if host else {},
            timeout=30,
        )
        found = answer.json()
        rows: list[dict[str, Any]] = found["requests"] if isinstance(found, dict) else found
        return [row for row in rows if not row["path"].startswith("/__")]

    def forget_requests(self) -> None:
        httpx.delete(f"http://127.0.0.1:{self.web_port}/__log", timeout=30)


def start(folder: Path, parts: Parts, **more: str) -> Running:
    settings = load(data_dir=str(folder), redis_url="")
    stack = Stack(settings, parts, environment=environment(parts.web_port, **more))
    stack.start()
    return Running(stack, parts.web_port)


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    parts = Parts(
        workers={"crawl": 2, "reduce": 1}, gateway=True, port=free_port(), web_port=free_port()
    )
    running = start(tmp_path_factory.mktemp("stack"), parts, **LONG_LEASES)
    yield running
    running.stack.stop()
