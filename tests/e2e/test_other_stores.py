"""A whole job where the store or the broker is not one Redis: gateway, both roles of workers, an answer that is cited."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from signal_search.client import Client
from signal_search.contracts.result import Result

from infra.redis import connect
from infra.settings import load
from infra.stack import Parts, Stack
from tests.e2e.conftest import environment
from tests.fakes.ports import free_port
from tests.fakes.rabbitmq import rabbitmq
from tests.fakes.servers import cluster, sentinel, server

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]


@contextmanager
def running(folder: Path, redis_url: str, broker_url: str) -> Iterator[Stack]:
    parts = Parts(
        workers={"crawl": 1, "reduce": 1}, gateway=True, port=free_port(), web_port=free_port()
    )
    settings = load(data_dir=str(folder), redis_url=redis_url, broker_url=broker_url)
    stack = Stack(settings, parts, environment=environment(parts.web_port))
    stack.start()
    try:
        yield stack
    finally:
        stack.stop()


def ask(stack: Stack) -> Result:
    with Client(stack.gateway_url) as client:
        result = client.retrieve("How high is Mount Corvel?")
    assert result.findings
    assert result.sources[0].url.startswith("https://en.wikipedia.org/wiki/")
    return result


def spent(redis_url: str, job_id: str) -> int:
    """Return how many steps of the job the store has seen, as proof that it is the store that was used."""
    redis = connect(redis_url)
    try:
        return len(redis.xrange(f"ss:{{j:{job_id}}}:log"))
    finally:
        redis.close()


def test_a_job_on_a_cluster_with_one_redis_for_messages(tmp_path: Path) -> None:
    port = free_port()
    with cluster(tmp_path / "nodes") as url, server(tmp_path / "broker", port):
        with running(tmp_path / "data", url, f"redis://127.0.0.1:{port}/0") as stack:
            result = ask(stack)
        assert spent(url, result.job_id) > 5


def test_a_job_behind_sentinel_before_and_after_its_master_is_killed(tmp_path: Path) -> None:
    with (
        sentinel(tmp_path / "servers") as watched,
        running(tmp_path / "data", watched.url, "") as stack,
    ):
        ask(stack)
        watched.fail_over()
        again = ask(stack)
        assert spent(watched.url, again.job_id) > 5


def test_a_job_with_rabbitmq_for_messages(tmp_path: Path) -> None:
    port = free_port()
    store = f"redis://127.0.0.1:{port}/0"
    with rabbitmq(tmp_path / "rabbit") as broker, server(tmp_path / "store", port):
        with running(tmp_path / "data", store, broker) as stack:
            result = ask(stack)
        assert spent(store, result.job_id) > 5
        redis = connect(store)
        assert redis.keys("ss:mq:*") == []  # no message went through the store
        redis.close()
