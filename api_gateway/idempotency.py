"""What an Idempotency-Key stands for: one request and one job, for a day.

The record is written before the job, with the job's id in it. So a caller that repeats a submission which died half
way finishes that very job instead of making a second one.
"""

from collections.abc import Sequence
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


class Claim(Struct, frozen=True, kw_only=True):
    """An owner's key, and what it is to stand for from now on."""

    owner: str
    key: str
    record: Record


class Idempotency:
    """Records in Redis. Raises StoreFailed when the store does not answer."""

    def __init__(self, redis: "Redis", ttl_s: int) -> None:
        """Keep records for `ttl_s` seconds."""
        self._redis = redis
        self._ttl_s = ttl_s

    def claim(self, asked: Sequence[Claim]) -> list[Record | Conflict]:
        """Return the record that each key stands for: the claim's own, or an earlier one of the same request.

        `idempotency_conflict`: the key was used for another request. One trip for all.
        """
        names = [keys.idempotency(each.owner, digest(each.key)) for each in asked]
        with store_errors(), self._redis.pipeline(transaction=False) as pipe:
            for name, each in zip(names, asked, strict=True):
                pipe.set(name, msgspec.json.encode(each.record), nx=True, ex=self._ttl_s)
                pipe.get(name)
            known = cast("list[bytes | None]", pipe.execute()[1::2])
        return [_meant(each, raw) for each, raw in zip(asked, known, strict=True)]

    def forget(self, owner: str, key: str) -> None:
        """Drop a record whose job was not admitted, so that the key may be used again."""
        with store_errors():
            self._redis.delete(keys.idempotency(owner, digest(key)))


def _meant(asked: Claim, raw: bytes | None) -> Record | Conflict:
    known = msgspec.json.decode(raw, type=Record) if raw is not None else asked.record
    if known.request == asked.record.request:
        return known
    message = "This Idempotency-Key was used for another request."
    return Conflict(message, code="idempotency_conflict")


def check_key(key: str) -> None:
    """Refuse what is no key.

    Raises:
        Invalid: it is empty, too long or not visible ASCII.
    """
    if not key or len(key) > _MAX_KEY or not key.isascii() or not key.isprintable():
        raise Invalid(
            f"The key has 1 to {_MAX_KEY} visible ASCII characters.", field="Idempotency-Key"
        )
