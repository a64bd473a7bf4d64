"""Nothing can be written to the log any more: the service goes on without it."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from redis import Redis

from infra import command_lines
from infra.heartbeat import live_workers
from infra.settings import child_environment, load
from tests.chaos.stage import wait_until
from tests.fakes.ports import free_port

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(240),
    pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here"),
]


@contextmanager
def deaf(command: list[str], redis_url: str, folder: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a command whose every line of output fails with "no space left on device"."""
    environment = child_environment(
        SIGNAL_SEARCH_REDIS_URL=redis_url,
        SIGNAL_SEARCH_DATA_DIR=str(folder),
        SIGNAL_SEARCH_LOG__LEVEL="DEBUG",
        SIGNAL_SEARCH_WORKER_ROLE="reduce",
    )
    full = os.open("/dev/full", os.O_WRONLY)
    process = subprocess.Popen(command, env=environment, stdout=full, stderr=full)
    os.close(full)
    try:
        yield process
    finally:
        process.terminate()
        assert process.wait(60) in {0, -15}


def test_gateway_and_worker_go_on_without_a_log(
    redis: Redis, redis_url: str, tmp_path: Path
) -> None:
    port = free_port()
    gateway = command_lines.gateway(load().gateway, port=port)
    worker = command_lines.worker("reduce", name="deaf", concurrency=1)

    def answers() -> bool:
        try:
            return httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=30).status_code == 200
        except httpx.HTTPError:
            return False

    with deaf(gateway, redis_url, tmp_path), deaf(worker, redis_url, tmp_path):
        wait_until(answers, "the gateway answers")
        wait_until(lambda: len(live_workers(redis)) == 1, "the worker lives")
        asked = httpx.post(
            f"http://127.0.0.1:{port}/v1/retrieve", json={"query": "why?"}, timeout=30
        )
        assert asked.status_code == 202
        wait_until(
            lambda: (
                httpx.get(
                    f"http://127.0.0.1:{port}/v1/jobs/{asked.json()['id']}", timeout=30
                ).json()["state"]
                != "queued"
            ),
            "the job is planned",
        )
