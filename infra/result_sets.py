"""Result sets of adaptive searches: kept for a time that reading does not lengthen, a number for each tenant."""

from pathlib import Path
from typing import cast

import msgspec
import zstandard
from msgspec import Struct
from redis import Redis

from infra import keys
from infra.redis import store_errors
from infra.scripts import load

_SCRIPTS = load(Path(__file__).with_name("lua"), "result_set_put")
_MAX_BYTES = 64 * 1024 * 1024


class _Named(Struct, frozen=True):
    """The part of a set that says which it is."""

    id: str


class ResultSets:
    """A tenant's sets. Raises StoreFailed when the store does not answer."""

    def __init__(self, redis: Redis, *, most: int) -> None:
        """Work on `redis`; a tenant's oldest sets beyond `most` are let go."""
        self._redis = redis
        self._most = most

    def put(self, tenant: str, found: Struct, *, created_ms: int, end_ms: int) -> None:
        """Keep a set, which has an `id`, until `end_ms`. Idempotent: the same set again stays where it was in line."""
        raw = msgspec.json.encode(found)
        name = msgspec.json.decode(raw, type=_Named).id
        args = (
            name,
            created_ms,
            end_ms,
            self._most,
            keys.result_set(tenant, ""),
            zstandard.compress(raw),
        )
        names = [keys.result_sets(tenant), keys.result_set(tenant, name)]
        with store_errors():
            _SCRIPTS["result_set_put"](self._redis, names, args)

    def get(self, tenant: str, name: str) -> bytes | None:
        """Return a set as JSON, None when the tenant has none of that id: it never had, it expired, it was let go."""
        with store_errors():
            raw = cast("bytes | None", self._redis.get(keys.result_set(tenant, name)))
        return zstandard.decompress(raw, max_output_size=_MAX_BYTES) if raw is not None else None
