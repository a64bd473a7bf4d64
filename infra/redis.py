"""Connections to Redis, and the one place where its errors become ours."""

from collections.abc import Iterator
from contextlib import contextmanager

from redis import Redis
from redis.asyncio import Redis as AsyncRedis
from redis.backoff import ExponentialBackoff
from redis.exceptions import RedisError
from redis.retry import Retry
from signal_search.errors import StoreFailed

__all__ = ["AsyncRedis", "Redis", "connect", "connect_async", "store_errors", "time_ms"]

_SOCKET_TIMEOUT_S = 30.0  # above every blocking read below
_CONNECT_TIMEOUT_S = 5.0
_TIME_S = 1.0  # whoever asks for the time may be an event loop
_MAX_CONNECTIONS = 256  # redis-py 8 caps a plain pool at 100


def connect(url: str) -> Redis:
    """Return a client for redis://, rediss:// or unix:// URLs; connections open on first use."""
    return Redis.from_url(
        url,
        socket_timeout=_SOCKET_TIMEOUT_S,
        socket_connect_timeout=_CONNECT_TIMEOUT_S,
        max_connections=_MAX_CONNECTIONS,
        retry=Retry(ExponentialBackoff(cap=0.5, base=0.01), 3),
        health_check_interval=25,
    )


def connect_async(url: str) -> AsyncRedis:
    """Return an asyncio client; it belongs to one event loop."""
    return AsyncRedis.from_url(
        url,
        socket_timeout=_SOCKET_TIMEOUT_S,
        socket_connect_timeout=_CONNECT_TIMEOUT_S,
        max_connections=_MAX_CONNECTIONS,
        health_check_interval=25,
    )


@contextmanager
def store_errors() -> Iterator[None]:
    """Turn any error of the client into `StoreFailed`, without its text (which may hold an address)."""
    try:
        yield
    except RedisError as error:
        raise StoreFailed from error


def time_ms(url: str) -> int:
    """Return the store's epoch time in milliseconds, over a connection of its own that gives up after a second.

    Raises:
        StoreFailed: the store did not answer.
    """
    client = Redis.from_url(url, socket_timeout=_TIME_S, socket_connect_timeout=_TIME_S, retry=None)
    with store_errors():
        try:
            seconds, microseconds = client.time()
        finally:
            client.close()
    return seconds * 1000 + microseconds // 1000
