"""What all crawl workers know of a host besides its queue: how often it failed in a row, and whether it must rest.

One request per host is in flight, so that reading and then writing needs no script. Fails closed: without an answer of
the store `StoreFailed` is raised.
"""

from collections.abc import Awaitable
from typing import Protocol

from infra import keys
from infra.redis import store_errors

_KEEP_S = 86_400  # trouble of yesterday is no reason to begin with a long pause


class AsyncKeys(Protocol):
    """What is used of an asyncio Redis client that returns bytes."""

    def get(self, name: str) -> Awaitable[bytes | str | None]:
        """Return the value of a key."""
        ...

    def set(
        self, name: str, value: str, *, ex: int | None = None, px: int | None = None
    ) -> Awaitable[object]:
        """Set the value of a key for `ex` seconds or `px` milliseconds."""
        ...

    def delete(self, name: str) -> Awaitable[int]:
        """Delete a key."""
        ...

    def pttl(self, name: str) -> Awaitable[int]:
        """Return the milliseconds a key has left, below 0 when there is none."""
        ...


class HostMemory:
    """Failures in a row and rests of hosts. `reset_after` successes in a row end a series of failures."""

    def __init__(self, redis: AsyncKeys, reset_after: int) -> None:
        """Take a client of the running event loop."""
        self._redis = redis
        self._reset_after = reset_after

    async def failed(self, host: str) -> int:
        """Count a refusal or fault; return how many there were before it.

        Raises:
            StoreFailed: the store did not answer.
        """
        failures, _ = await self._load(host)
        await self._save(host, failures + 1, 0)
        return failures

    async def went_well(self, host: str) -> None:
        """Count a success, and forget the failures when there were enough of them.

        Raises:
            StoreFailed: the store did not answer.
        """
        failures, fine = await self._load(host)
        if not failures:
            return
        if fine + 1 < self._reset_after:
            await self._save(host, failures, fine + 1)
            return
        with store_errors():
            await self._redis.delete(keys.trouble(host))

    async def _load(self, host: str) -> tuple[int, int]:
        with store_errors():
            raw = await self._redis.get(keys.trouble(host))
        if not isinstance(raw, bytes):
            return 0, 0
        failures, fine = raw.split()
        return int(failures), int(fine)

    async def _save(self, host: str, failures: int, fine: int) -> None:
        with store_errors():
            await self._redis.set(keys.trouble(host), f"{failures} {fine}", ex=_KEEP_S)

    async def let_rest(self, host: str, rest_ms: int) -> None:
        """Remember that whoever has no pace of their own must leave the host alone for `rest_ms`.

        Raises:
            StoreFailed: the store did not answer.
        """
        with store_errors():
            await self._redis.set(keys.rest(host), "1", px=rest_ms)

    async def rest_ms(self, host: str) -> int:
        """Return for how long the host rests from a request at a faster pace, 0 when it does not.

        Raises:
            StoreFailed: the store did not answer.
        """
        with store_errors():
            return max(0, await self._redis.pttl(keys.rest(host)))
