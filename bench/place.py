"""Where the queue's benches run: one whole stack, and a raw server that many made-up hosts lead to."""

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

from infra.loopback_web.server import hosts as web_hosts
from infra.redis import Redis, connect
from infra.settings import load
from infra.stack import Parts, Stack

INTERVAL_S = 0.05
HOSTS = [f"h{number}.bench.test" for number in range(200)]
BUSY = "busy.bench.test"  # asks for a second between requests


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Place:
    """One stack with its raw server, and the addresses of both."""

    def __init__(self, stack: Stack, raw_port: int, port: int) -> None:
        self.stack = stack
        self.raw_port = raw_port
        self.port = port
        self.redis: Redis = connect(stack.redis_url)

    def workers(self) -> list[int]:
        kept = [each.child for each in self.stack.processes if each.child.name.startswith("worker")]
        return [child.pid for child in kept if child.pid]

    def requests(self) -> list[tuple[float, str, str]]:
        connection = HTTPConnection("127.0.0.1", self.raw_port, timeout=10)
        connection.request("GET", "/__log")
        rows = json.loads(connection.getresponse().read())
        connection.close()
        return [(row[0], row[1], row[2]) for row in rows]


@contextmanager
def process(command: list[str], **environment: str) -> Iterator[None]:
    with subprocess.Popen(
        command,
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as running:
        try:
            yield
        finally:
            running.terminate()


@contextmanager
def place() -> Iterator[Place]:
    raw_port, web_port, port = free_port(), free_port(), free_port()
    listed = {**web_hosts(web_port), **dict.fromkeys([*HOSTS, BUSY], f"127.0.0.1:{raw_port}")}
    environment = {
        "SIGNAL_SEARCH_LOOPBACK__ONLY": "true",
        "SIGNAL_SEARCH_LOOPBACK__HOSTS": json.dumps(listed),
        "SIGNAL_SEARCH_POLITENESS__LOOPBACK_INTERVAL_S": str(INTERVAL_S),
        "SIGNAL_SEARCH_FETCH__CONCURRENCY": "128",
        "SIGNAL_SEARCH_GATEWAY__TENANT_SLOTS": "5000",
        "SIGNAL_SEARCH_GATEWAY__DEPLOYMENT_SLOTS": "5000",
    }
    parts = Parts(workers={"crawl": 2, "reduce": 1}, gateway=True, port=port, web_port=web_port)
    server = str(Path(__file__).with_name("raw_server.py"))
    with (
        tempfile.TemporaryDirectory(prefix="ss-bench-") as folder,
        process([sys.executable, server, str(raw_port)]),
    ):
        stack = Stack(load(data_dir=folder, redis_url=""), parts, environment=environment)
        stack.start()
        try:
            yield Place(stack, raw_port, port)
        finally:
            stack.stop()
