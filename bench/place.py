"""Where the benches run: a store, a raw server that many made-up hosts lead to, crawlers.

Every process is started through the product's own `Child`: it has a log, a session of its own, and ends with us.
"""

import json
import os
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, cast

from bench import report
from bench.arithmetic import Seen
from bench.raw_client import host_name
from infra.child import Child
from infra.embedded_redis import EmbeddedRedis
from infra.loopback_web.server import hosts as web_hosts
from infra.redis import Redis, connect
from infra.settings import child_environment

HERE = Path(__file__).parent
INTERVAL_S = 0.05
HOSTS = 500
BUSY = "busy.bench.test"  # its robots.txt asks for a second between requests
SITES = [f"site{number}.bench.test" for number in range(60)]  # their pages lead to more pages


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def until(condition: Callable[[], object], what: str, *, within_s: float = 60.0) -> None:
    """Wait until the condition holds, or end the bench."""
    ends = time.monotonic() + within_s
    while not condition():
        report.require(time.monotonic() < ends, f"{what} did not come within {within_s:g} s")
        time.sleep(0.02)


def popped(redis: Redis, key: str, *, within_s: float = 30.0) -> bytes:
    """Wait for a word on a list of the store and return it, or end the bench."""
    ends = time.monotonic() + within_s
    while (left_s := ends - time.monotonic()) > 0:
        answer = redis.blpop([key], timeout=min(left_s, 20.0))  # under the client's socket timeout
        if answer is not None:
            return cast("bytes", answer[1])
    report.require(condition=False, reason=f"no word on {key} within {within_s:g} s")
    return b""


@contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="ss-bench-", ignore_cleanup_errors=True) as name:
        yield Path(name)


@contextmanager
def running(name: str, command: Sequence[str], **environment: str) -> Iterator[Child]:
    """Run a program of ours until the end of the block."""
    with folder() as logs:
        variables = child_environment(**environment)
        child = Child(
            name,
            [sys.executable, *command],
            log=logs / f"{name}.log",
            environment={**variables, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        child.start()
        try:
            yield child
        finally:
            child.stop(2.0)


class RawServer:
    """The raw server, and what it has seen."""

    def __init__(self, port: int) -> None:
        self.port = port

    def requests(self) -> list[Seen]:
        """Return what was answered since the last call."""
        return [Seen(*row) for row in self._ask("/__log")]

    def delay(self, milliseconds: float) -> None:
        """Let every further request be answered so much later."""
        self._ask(f"/__delay/{milliseconds}")

    def wait_for(
        self,
        wanted: int,
        *,
        within_s: float = 60.0,
        of: Callable[[Seen], bool] = lambda _seen: True,
    ) -> list[Seen]:
        """Wait until `wanted` requests `of` a kind were answered; return all that were, or end the bench."""
        seen: list[Seen] = []
        ends = time.monotonic() + within_s
        while (count := sum(map(of, seen))) < wanted:
            report.require(
                time.monotonic() < ends, f"{count} of {wanted} requests in {within_s:g} s"
            )
            time.sleep(0.05)
            seen += self.requests()
        return seen

    def _ask(self, path: str) -> list[list[Any]]:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=10)
        connection.request("GET", path)
        rows: list[list[Any]] = json.loads(connection.getresponse().read())
        connection.close()
        return rows


@contextmanager
def raw_server() -> Iterator[RawServer]:
    port = free_port()
    with running("raw-server", [str(HERE / "raw_server.py"), str(port)]):
        server = RawServer(port)
        until(lambda: _listens(port), "the raw server")
        yield server


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def store() -> Iterator[str]:
    """Run a store of the kind the product brings, append-only file and all; yield its URL."""
    with folder() as data:
        server = EmbeddedRedis(data)
        try:
            yield server.start()
        finally:
            server.stop()


def environment(server: RawServer, web_port: int = 0) -> dict[str, str]:
    """Return the settings that lead every made-up host to the raw server, and nowhere else."""
    names = [*map(host_name, range(HOSTS)), BUSY, *SITES]
    listed = dict.fromkeys(names, f"127.0.0.1:{server.port}")
    return {
        "SIGNAL_SEARCH_LOOPBACK__ONLY": "true",
        "SIGNAL_SEARCH_LOOPBACK__HOSTS": json.dumps({**web_hosts(web_port or 1), **listed}),
        "SIGNAL_SEARCH_POLITENESS__LOOPBACK_INTERVAL_S": str(INTERVAL_S),
        "SIGNAL_SEARCH_FETCH__CONCURRENCY": "128",
        "SIGNAL_SEARCH_GATEWAY__TENANT_SLOTS": "100000",
        "SIGNAL_SEARCH_GATEWAY__DEPLOYMENT_SLOTS": "100000",
    }


@contextmanager
def crawlers(
    kind: str, count: int, redis_url: str, server: RawServer, **more: str
) -> Iterator[Callable[[], None]]:
    """Start crawler processes that are ready and wait; yield what lets them go, all at once."""
    redis = connect(redis_url)
    redis.delete("bench:ready", "bench:go")
    settings = {**environment(server), "SIGNAL_SEARCH_REDIS_URL": redis_url, **more}
    command = ["-m", "bench.crawler", kind, str(server.port)]
    with ExitStack() as ending:
        ending.callback(redis.close)
        for number in range(count):
            ending.enter_context(running(f"crawler{number}", command, **settings))
        until(lambda: int(redis.get("bench:ready") or 0) == count, "crawlers that are ready")
        yield partial(_let_go, redis, count)


def _let_go(redis: Redis, count: int) -> None:
    redis.rpush("bench:go", *["go"] * count)
