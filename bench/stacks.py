"""A whole stack of the product with a raw server and its loopback web: one of a bench's own, or one that benches share.

`python -m bench` starts the shared one for the benches that leave it as it was, because a start takes some seconds; a
bench that is run by itself starts its own.
"""

import json
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import Any

from bench.place import RawServer, environment, folder, free_port, raw_server, until
from infra import keys
from infra.redis import Redis, connect
from infra.settings import load
from infra.stack import Parts, Stack

_SHARED = "BENCH_STACK"  # the variable that says where the shared stack is


class Place:
    """The addresses of a running stack, of its raw server and its web, and who its processes are."""

    def __init__(
        self, redis_url: str, ports: dict[str, int], pids: dict[str, int], stack: Stack | None
    ) -> None:
        self.redis_url = redis_url
        self.ports = ports
        self.server = RawServer(ports["raw"])
        self.redis: Redis = connect(redis_url)
        self._pids = pids
        self._stack = stack

    @property
    def gateway(self) -> str:
        return f"http://127.0.0.1:{self.ports['gateway']}"

    def pids(self, prefix: str) -> list[int]:
        """Return the processes of the parts whose names begin so: gateway, worker-crawl1, worker-reduce1, redis."""
        found = self._pids if self._stack is None else _pids(self._stack)
        return [pid for name, pid in found.items() if name.startswith(prefix)]

    def web_requests(self) -> list[dict[str, Any]]:
        """Return the loopback web's own log."""
        connection = HTTPConnection("127.0.0.1", self.ports["web"], timeout=10)
        connection.request("GET", "/__log")
        found = json.loads(connection.getresponse().read())
        connection.close()
        rows: list[dict[str, Any]] = found["requests"] if isinstance(found, dict) else found
        return [row for row in rows if not row["path"].startswith("/__")]

    @contextmanager
    def healed(self) -> Iterator[list[str]]:
        """Start again what dies during the block; yield the names of what was started."""
        assert self._stack is not None
        ended = threading.Event()
        started: list[str] = []
        healer = threading.Thread(target=self._stack.run, args=(ended, started.append))
        healer.start()
        try:
            yield started
        finally:
            ended.set()
            healer.join()

    def passed_on(self) -> dict[str, str]:
        """Return the environment by which another bench finds this stack."""
        told = {"redis_url": self.redis_url, "ports": self.ports, "pids": self._pids}
        return {_SHARED: json.dumps(told)}


def _pids(stack: Stack) -> dict[str, int]:
    children = [each.child for each in stack.processes]
    return {each.name: each.pid for each in children if each.pid}


@contextmanager
def own_stack(
    crawl: int = 2,
    reduce: int = 1,
    *,
    gateway: bool = True,
    variables: Mapping[str, str] | None = None,
) -> Iterator[Place]:
    """Run a stack until the end of the block; `variables` are set for its processes."""
    ports = {name: free_port() for name in ("gateway", "web")}
    parts = Parts(
        workers={"crawl": crawl, "reduce": reduce},
        gateway=gateway,
        port=ports["gateway"],
        web_port=ports["web"],
    )
    with folder() as data, raw_server() as server:
        path = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        told = {**environment(server, ports["web"]), **path, **(variables or {})}
        stack = Stack(load(data_dir=str(data), redis_url=""), parts, environment=told)
        stack.start()
        at = Place(stack.redis_url, {**ports, "raw": server.port}, _pids(stack), stack)
        try:
            yield at
        finally:
            at.redis.close()
            stack.stop()


@contextmanager
def shared_stack() -> Iterator[Place]:
    """Use the shared stack when there is one, else run one: two crawl workers, a reduce worker, a gateway."""
    told = os.environ.get(_SHARED)
    if told is None:
        with own_stack() as at:
            yield at
        return
    found = json.loads(told)
    at = Place(found["redis_url"], found["ports"], found["pids"], None)
    at.server.requests()  # what an earlier bench asked for
    try:
        yield at
    finally:
        at.redis.close()


@contextmanager
def standing_still(pids: list[int]) -> Iterator[None]:
    """Let these processes stand still during the block."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def drained(at: Place) -> None:
    """Wait until every job that was accepted has ended, so that the next bench finds an idle stack."""
    shards = [keys.steps_due(shard) for shard in range(keys.STEP_SHARDS)]
    until(lambda: not any(map(at.redis.zcard, shards)), "the end of all jobs", within_s=240)
