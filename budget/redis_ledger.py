"""The ledger in Redis: one script per call, so that a reservation holds on every level or on none.

Keys are listed in `infra/keys.py`. Holds have no life time of their own: `reserve` drops the expired ones of its
levels and `expire` the rest, or a key's silent end would leave money held for ever.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from signal_search.contracts.budget import Amounts, Dimension

from budget.amounts import counted
from budget.ledger import REMEMBER_MS, Balance, Held, Reservation, Short
from infra import keys
from infra.redis import store_errors
from infra.scripts import Argument, load

if TYPE_CHECKING:
    from redis import Redis

_SCRIPTS = load(
    Path(__file__).with_name("lua"),
    *("ledger_open", "reserve", "settle", "release", "close", "expire"),
    first="hold",
)


class RedisLedger:
    """The `Ledger` port on a synchronous client."""

    def __init__(self, redis: "Redis") -> None:
        """Use this client; it is not closed here."""
        self._redis = redis

    def _run(self, script: str, *args: Argument) -> object:
        with store_errors():
            return _SCRIPTS[script](self._redis, [keys.budget_tag()], args)

    def open(self, level: str, limits: Amounts, *, ttl_ms: int) -> None:
        """Create a level or replace its limits."""
        self._run("ledger_open", level, ttl_ms, *_pairs(limits))

    def reserve(
        self,
        hold_id: str,
        levels: Sequence[str],
        cost: Amounts,
        *,
        lease_ms: int,
        now_ms: int = 0,
    ) -> Reservation:
        """Hold `cost` on all levels or on none."""
        names = tuple(dict.fromkeys(levels))
        pairs = _pairs(counted(cost))
        reply = self._run("reserve", now_ms, lease_ms, hold_id, len(names), *names, *pairs)
        return _reservation(cast("list[bytes | int]", reply))

    def settle(self, hold_id: str, used: Amounts) -> bool:
        """Turn a hold into usage with the real amounts."""
        return self._run("settle", hold_id, REMEMBER_MS, *_pairs(counted(used))) == 1

    def release(self, hold_id: str) -> bool:
        """Give a hold back unused."""
        return self._run("release", hold_id, REMEMBER_MS) == 1

    def balance(self, level: str) -> Balance:
        """Return limits, used and held of a level."""
        with store_errors():
            raw = self._redis.hgetall(keys.budget_level(level))
        return _balance(cast("dict[bytes, bytes]", raw))

    def close(self, level: str) -> int:
        """Release every open hold that includes this level."""
        return cast("int", self._run("close", level, REMEMBER_MS))

    def expire(self, *, limit: int = 100, now_ms: int = 0) -> int:
        """Release up to `limit` expired holds."""
        return cast("int", self._run("expire", now_ms, limit))


def _pairs(amounts: Mapping[Dimension, int]) -> list[Argument]:
    return [part for name, amount in amounts.items() for part in (name.value, amount)]


def _reservation(reply: Sequence[bytes | int]) -> Reservation:
    granted, *texts = (each.decode() if isinstance(each, bytes) else str(each) for each in reply)
    if granted == "0":
        level, name, left = texts
        return Short(level=level, dimension=Dimension(name), left=int(left))
    lefts = zip(texts[::2], texts[1::2], strict=True)
    return Held(left={Dimension(name): int(left) for name, left in lefts})


def _balance(raw: Mapping[bytes, bytes]) -> Balance:
    limits: Amounts = {}
    used: Amounts = {}
    held: Amounts = {}
    parts = {"limit": limits, "used": used, "held": held}
    for field, value in raw.items():
        name, _, part = field.decode().partition(":")
        if part:
            parts[part][Dimension(name)] = int(value)
    return Balance(limits=limits, used=counted(used), held=counted(held))
