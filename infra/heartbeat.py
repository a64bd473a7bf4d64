"""Who is alive: each worker writes a short-lived key, and readiness counts the keys.

Fails open for the worker (a missed beat only makes it look absent) and closed for readiness (no key, not ready).
"""

import msgspec
from msgspec import Struct
from redis import Redis
from signal_search.errors import StoreFailed

from infra import keys
from infra.redis import store_errors, values_of
from infra.roles import QUEUES, Role, all_queues

TTL_S = 15
_PATTERN = keys.worker("*")
_SCAN_COUNT = 500


class LiveWorker(Struct, frozen=True, kw_only=True):
    """One worker's last sign of life. `started_ms` is epoch milliseconds; `queues` are what it takes from."""

    name: str
    role: Role
    pid: int
    queues: tuple[str, ...]
    started_ms: int


def beat(redis: Redis, name: str, role: Role, *, pid: int, started_ms: int) -> None:
    """Say that worker `name` lives; holds for `TTL_S` seconds.

    Raises:
        StoreFailed: when the store does not answer.
    """
    alive = LiveWorker(name=name, role=role, pid=pid, queues=QUEUES[role], started_ms=started_ms)
    with store_errors():
        redis.set(keys.worker(name), msgspec.json.encode(alive), ex=TTL_S)


def leave(redis: Redis, name: str) -> None:
    """Take the sign down at once, for a worker that ends in good order."""
    with store_errors():
        redis.delete(keys.worker(name))


def live_workers(redis: Redis) -> list[LiveWorker]:
    """Return the workers whose sign has not expired, by name.

    Raises:
        StoreFailed: when the store does not answer.
    """
    with store_errors():
        names = sorted(set(redis.scan_iter(match=_PATTERN, count=_SCAN_COUNT)))
    values = values_of(redis, [name.decode() for name in names]) if names else []
    return [_decode(value) for value in values if value is not None]


def missing_queues(workers: list[LiveWorker]) -> tuple[str, ...]:
    """Return the queues that nobody alive takes from; empty means that every step can run."""
    taken = {queue for worker in workers for queue in worker.queues}
    return tuple(queue for queue in all_queues() if queue not in taken)


def _decode(value: bytes | str) -> LiveWorker:
    try:
        return msgspec.json.decode(value, type=LiveWorker)
    except msgspec.DecodeError as error:
        raise StoreFailed from error
