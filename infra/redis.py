"""Connections to Redis (one server, Sentinel or a cluster), and the one place where its errors become ours.

A client of a cluster answers to the same calls. What one server does in one trip and a cluster cannot is here:
`values_of` and `identity`. Every script names one key, or keys of one tag.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, Literal, cast

from redis import Redis
from redis import Sentinel as SyncSentinel
from redis.asyncio import Redis as AsyncRedis
from redis.asyncio import RedisCluster as AsyncRedisCluster
from redis.asyncio import Sentinel as AsyncSentinel
from redis.asyncio.cluster import ClusterNode as AsyncClusterNode
from redis.asyncio.retry import Retry as AsyncRetry
from redis.asyncio.sentinel import SentinelConnectionPool as AsyncSentinelPool
from redis.backoff import ExponentialBackoff
from redis.cluster import ClusterNode, RedisCluster
from redis.exceptions import RedisClusterException, RedisError
from redis.retry import Retry
from redis.sentinel import SentinelConnectionPool
from signal_search.errors import StoreFailed
from typing_extensions import override

from infra import keys
from infra.store_address import StoreAddress, parse

__all__ = [
    "AsyncRedis",
    "Redis",
    "connect",
    "connect_async",
    "identity",
    "is_cluster",
    "node_infos",
    "store_errors",
    "time_ms",
    "time_of",
    "values_of",
]

_SOCKET_TIMEOUT_S = 30.0  # above every blocking read below
_CONNECT_TIMEOUT_S = 5.0
_SENTINEL_TIMEOUT_S = 2.0
_TIME_S = 1.0  # whoever asks for the time may be an event loop
# After a restart every pooled connection is a dead one; each is opened again within the call that finds it so.
_BACKOFF, _TRIES = ExponentialBackoff(cap=0.5, base=0.01), 3
_MAX_CONNECTIONS = 256  # redis-py 8 caps a plain pool at 100


def connect(url: str) -> Redis:
    """Return a client for an address of `infra/store_address.py`.

    Connections open on first use, but a cluster is asked for its nodes at once.

    Raises:
        ValueError: no address of a store.
        StoreFailed: no node of the cluster answers.
    """
    address = parse(url)
    if address.kind == "single":
        return Redis.from_url(url, retry=Retry(_BACKOFF, _TRIES), **_limits())
    if address.kind == "sentinel":
        sentinel = SyncSentinel(address.hosts, **_asking(address))  # type: ignore[no-untyped-call]
        retry = Retry(_BACKOFF, _TRIES)
        pool = _SentinelPool(address.service, sentinel, retry=retry, **_wiring(address))  # type: ignore[no-untyped-call]
        return Redis.from_pool(pool)
    nodes = [ClusterNode(host, port) for host, port in address.hosts]  # type: ignore[no-untyped-call]
    with store_errors():
        cluster = RedisCluster(startup_nodes=nodes, **_of_cluster(address))
    return cast("Redis", cluster)


def connect_async(url: str) -> AsyncRedis:
    """Return an asyncio client; it belongs to one event loop, and connections open on first use.

    Raises:
        ValueError: no address of a store.
    """
    address = parse(url)
    if address.kind == "single":
        return AsyncRedis.from_url(url, retry=AsyncRetry(_BACKOFF, _TRIES), **_limits())
    if address.kind == "sentinel":
        sentinel = AsyncSentinel(address.hosts, **_asking(address))  # type: ignore[no-untyped-call]
        retry = AsyncRetry(_BACKOFF, _TRIES)
        pool = _AsyncSentinelPool(address.service, sentinel, retry=retry, **_wiring(address))  # type: ignore[no-untyped-call]
        return AsyncRedis.from_pool(pool)
    nodes = [AsyncClusterNode(host, port) for host, port in address.hosts]
    return cast("AsyncRedis", AsyncRedisCluster(startup_nodes=nodes, **_of_cluster(address)))


def _limits() -> dict[str, Any]:
    return {
        "socket_timeout": _SOCKET_TIMEOUT_S,
        "socket_connect_timeout": _CONNECT_TIMEOUT_S,
        "max_connections": _MAX_CONNECTIONS,
        "health_check_interval": 25,
    }


def _asking(address: StoreAddress) -> dict[str, Any]:
    own: dict[str, Any] = {
        "socket_timeout": _SENTINEL_TIMEOUT_S,
        "socket_connect_timeout": _SENTINEL_TIMEOUT_S,
        "ssl": address.tls,
    }
    if address.sentinel_password:
        own["password"] = address.sentinel_password
    return {"sentinel_kwargs": own}


def _wiring(address: StoreAddress) -> dict[str, Any]:
    who = {"username": address.username, "password": address.password, "db": address.database}
    return {**who, **_limits(), "ssl": address.tls}


def _of_cluster(address: StoreAddress) -> dict[str, Any]:
    who = {"username": address.username, "password": address.password}
    return {**who, **_limits(), "ssl": address.tls}


class _SentinelPool(SentinelConnectionPool):
    """Closes its connections to the Sentinels too."""

    @override
    def disconnect(self, inuse_connections: bool = True) -> None:
        super().disconnect(inuse_connections)
        for each in self.sentinel_manager.sentinels:
            each.close()


class _AsyncSentinelPool(AsyncSentinelPool):
    """Closes its connections to the Sentinels too."""

    @override
    async def disconnect(self, inuse_connections: bool = True) -> None:
        await super().disconnect(inuse_connections)
        for each in self.sentinel_manager.sentinels:
            await each.aclose()


def is_cluster(client: Redis | AsyncRedis) -> bool:
    """Return whether a client speaks to a cluster."""
    return isinstance(client, RedisCluster | AsyncRedisCluster)


def values_of(client: Redis, names: Sequence[str]) -> list[bytes | None]:
    """Return the strings under `names`, in one trip to each server that has some of them."""
    with store_errors(), client.pipeline(transaction=False) as pipe:
        for name in names:
            pipe.get(name)
        return cast("list[bytes | None]", pipe.execute())


def node_infos(client: Redis, section: str) -> list[dict[str, Any]]:
    """Return what INFO says in a section, of each server that takes writes."""
    with store_errors():
        if not is_cluster(client):
            return [dict(client.info(section))]
        answer: Any = client.execute_command(  # type: ignore[no-untyped-call]
            "INFO", section, target_nodes=RedisCluster.PRIMARIES
        )
    return _each_info(answer)


async def identity(client: AsyncRedis) -> str:
    """Return which instances of the server hold the keys now: another text after a restart or a failover."""
    with store_errors():
        if is_cluster(client):
            answer: Any = await client.execute_command(  # type: ignore[no-untyped-call]
                "INFO", "server", target_nodes=AsyncRedisCluster.PRIMARIES
            )
        else:
            answer = await client.info("server")
    return " ".join(sorted(str(each["run_id"]) for each in _each_info(answer)))


def _each_info(answer: Any) -> list[dict[str, Any]]:
    """Return the answers of several servers by name as a list; that of one comes as it is."""
    is_one = any(not isinstance(each, dict) for each in answer.values())
    return [answer] if is_one else list(answer.values())


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
        if isinstance(error, RedisError | RedisClusterException):
            raise StoreFailed from error
        return False


_STORE_ERRORS = _StoreErrors()


def store_errors() -> AbstractContextManager[None]:
    """Turn any error of the client into `StoreFailed`, without its text (which may hold an address)."""
    return _STORE_ERRORS


def time_ms(url: str) -> int:
    """Return the store's epoch time in milliseconds, over a connection of its own; one server gives up after a second.

    Raises:
        StoreFailed: the store did not answer.
    """
    if parse(url).kind == "single":
        limits = {"socket_timeout": _TIME_S, "socket_connect_timeout": _TIME_S}
        client = Redis.from_url(url, retry=None, **limits)
    else:
        client = connect(url)
    try:
        return time_of(client)
    finally:
        client.close()


def time_of(client: Redis) -> int:
    """Return the store's epoch time in milliseconds; of a cluster, that of one server.

    Raises:
        StoreFailed: the store did not answer.
    """
    with store_errors():  # a script names a key, so that of a cluster one server is asked
        answer: Any = client.eval("return redis.call('TIME')", 1, keys.boot())
    return int(answer[0]) * 1000 + int(answer[1]) // 1000
