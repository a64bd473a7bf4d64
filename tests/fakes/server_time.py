"""Time passes for a store at once: what it forgets by its own clock, it forgets as if so long had been waited."""

import msgspec
from redis import Redis


def pass_time(redis: Redis, ms: int) -> None:
    """Shorten the life of every key by `ms`, and the time until which a level of the ledger says that it stays.

    The real time a test takes is not given back: a life must not end within a second of a time that a test looks at.
    """
    for key in list(redis.scan_iter(count=1000)):
        life_ms = redis.pttl(key)
        if life_ms < 0:
            continue
        if b":level:" in key:
            leaves_ms, *rest = msgspec.msgpack.decode(redis.get(key) or b"")
            redis.set(key, msgspec.msgpack.encode([leaves_ms - ms, *rest]), keepttl=True)
        redis.pexpire(key, life_ms - ms)  # not above 0: it is gone
