"""What an Idempotency-Key stands for: one request and one job, for a day.

The record is written before the job, with the job's id in it. So a caller that repeats a submission which died half
way finishes that very job instead of making a second one.
"""

from typing import TYPE_CHECKING, cast

import msgspec
from msgspec import Struct
from signal_search.errors import Conflict, Invalid

from infra import keys
from infra.ids import digest
from infra.redis import store_errors

if TYPE_CHECKING:
    from redis import Redis

_MAX_KEY = 255


class Record(Struct, frozen=True, kw_only=True):
    """The request's digest and the id of the job that it makes."""

    request: str
    job_id: str


class Idempotency:
    """Records in Redis. Raises StoreFailed when the store does not answer."""

    def __init__(self, redis: "Redis", ttl_s: int) -> None:
        """Keep records for `ttl_s` seconds."""
        self._redis = redis
        self._ttl_s = ttl_s

    def claim(self, tenant: str, key: str, record: Record) -> str:
        """Return the id of the job that `key` stands for: the record's own, or that of an earlier call.

        Raises:
            Invalid: the key is empty, too long or not visible ASCII.
            Conflict: `idempotency_conflict`: the key was used for another request.
        """
        name = keys.idempotency(tenant, digest(_checked(key)))
        raw = msgspec.json.encode(record)
        with store_errors():
            is_new = self._redis.set(name, raw, nx=True, ex=self._ttl_s)
            before = None if is_new else cast("bytes | None", self._redis.get(name))
        known = record if before is None else msgspec.json.decode(before, type=Record)
        if known.request != record.request:
            raise Conflict(
                "This Idempotency-Key was used for another request.", code="idempotency_conflict"
            )
        return known.job_id

    def forget(self, tenant: str, key: str) -> None:
        """Drop a record whose job was not admitted, so that the key may be used again."""
        with store_errors():
            self._redis.delete(keys.idempotency(tenant, digest(key)))


def _checked(key: str) -> str:
    if not key or len(key) > _MAX_KEY or not key.isascii() or not key.isprintable():
        raise Invalid(
            f"The key has 1 to {_MAX_KEY} visible ASCII characters.", field="Idempotency-Key"
        )
    return key
