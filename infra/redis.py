"""Connections to Redis, and the one place where its errors become ours."""

from contextlib import AbstractContextManager
from types import TracebackType
from typing import Literal

from redis import Redis
from redis.asyncio import Redis as AsyncRedis
from redis.backoff import ExponentialBackoff
from redis.exceptions import RedisError
from redis.retry import Retry
from signal_search.errors import StoreFailed

__all__ = ["AsyncRedis", "Redis", "connect", "connect_async", "store_errors"]

_SOCKET_TIMEOUT_S = 30.0  # above every blocking read below
_CONNECT_TIMEOUT_S = 5.0
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


class _StoreErrors:
    """A class and no generator: it stands around every call, and this costs a tenth of it."""

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> Literal[False]:
        """Raise `StoreFailed` in place of an error of the client."""
        if isinstance(error, RedisError):
            raise StoreFailed from error
        return False


_STORE_ERRORS = _StoreErrors()


def store_errors() -> AbstractContextManager[None]:
    """Turn any error of the client into `StoreFailed`, without its text (which may hold an address)."""
    return _STORE_ERRORS
