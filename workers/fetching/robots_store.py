"""Robots records in Redis, shared by all crawl workers, so that a host is asked for its robots.txt once a day.

An expired record stays until the key does: its failure count makes the next wait longer. Fails closed: without an
answer of the store nothing is known, `StoreFailed` is raised, and nothing may be fetched.
"""

from collections.abc import Awaitable
from typing import Protocol

import msgspec

from infra import keys
from infra.redis import store_errors
from workers.fetching.robots import RobotsRecord

_KNOWN_ORIGINS = 500  # in one process: a file may have thousands of lines
_KEEP_S = 86_400  # the longest any record may be relied on (RFC 9309, 2.4)


class AsyncStrings(Protocol):
    """What is used of an asyncio Redis client that returns bytes."""

    def get(self, name: str) -> Awaitable[bytes | str | None]:
        """Return the value of a key."""
        ...

    def set(self, name: str, value: bytes, *, ex: int) -> Awaitable[object]:
        """Set the value of a key for `ex` seconds."""
        ...


class RobotsStore:
    """Load and save records; the last writer wins, which is harmless. A record that has not changed is read once."""

    def __init__(self, redis: AsyncStrings) -> None:
        """Take a client of the running event loop."""
        self._redis = redis
        self._known: dict[str, tuple[bytes, RobotsRecord]] = {}

    async def load(self, origin: str) -> RobotsRecord | None:
        """Return the record of an origin, also an expired one; None when there is none or it is of an older form.

        Raises:
            StoreFailed: the store did not answer.
        """
        with store_errors():
            raw = await self._redis.get(keys.robots(origin))
        if not isinstance(raw, bytes):
            return None
        known = self._known.get(origin)
        if known is not None and known[0] == raw:
            return known[1]
        try:
            record = msgspec.msgpack.decode(raw, type=RobotsRecord)
        except msgspec.DecodeError:
            return None
        self._remember(raw, record)
        return record

    async def save(self, record: RobotsRecord) -> None:
        """Remember a record for a day.

        Raises:
            StoreFailed: the store did not answer.
        """
        raw = msgspec.msgpack.encode(record)
        with store_errors():
            await self._redis.set(keys.robots(record.origin), raw, ex=_KEEP_S)

    def _remember(self, raw: bytes, record: RobotsRecord) -> None:
        if len(self._known) >= _KNOWN_ORIGINS:
            del self._known[next(iter(self._known))]
        self._known[record.origin] = (raw, record)
