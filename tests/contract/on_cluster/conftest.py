"""The contracts of everything that is kept in Redis, once more on a cluster of three."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis

from infra.redis import connect
from tests.fakes.servers import cluster


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="ss-cluster-") as folder, cluster(Path(folder)) as url:
        yield url


@pytest.fixture(scope="session")
def whole(redis_url: str) -> Iterator[Redis]:
    client = connect(redis_url)
    yield client
    client.close()


@pytest.fixture
def redis(whole: Redis) -> Redis:
    whole.flushall()
    return whole
