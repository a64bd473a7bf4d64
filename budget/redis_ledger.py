"""The ledger in Redis: one script per call, so that a reservation holds on every level or on none.

Keys are listed in `infra/keys.py`. Holds have no life time of their own: `reserve` drops the expired ones of its
levels and `expire` the rest, or a key's silent end would leave money held for ever.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from msgspec import msgpack
from signal_search.contracts.budget import Amounts, Dimension

from budget.amounts import counted
from budget.ledger import DROPPED_AT_ONCE, REMEMBER_MS, Balance, Held, Reservation, Short, Want
from infra import keys
from infra.redis import store_errors
from infra.scripts import Argument, Call, load, run_together

if TYPE_CHECKING:
    from redis import Redis

_SCRIPTS = load(
    Path(__file__).with_name("lua"),
    *("ledger_open", "reserve", "settle", "release", "close", "expire"),
    first="hold",
)
_TAG = (keys.budget_tag(),)
# One packed argument and one packed answer: each part on the wire costs the client more than packing all of them.
_pack = msgpack.Encoder().encode
_reply = msgpack.Decoder(list[str | int]).decode
_level = msgpack.Decoder(tuple[int, int, int, int, list[str | int]]).decode
_NO_LIMIT = -1
_DIMENSIONS = {each.value: each for each in Dimension}


class RedisLedger:
    """The `Ledger` port on a synchronous client."""

    def __init__(self, redis: "Redis") -> None:
        """Use this client; it is not closed here."""
        self._redis = redis

    def _run(self, script: str, *args: Argument) -> object:
        with store_errors():
            return _SCRIPTS[script](self._redis, _TAG, args)

    def open(self, level: str, limits: Amounts, *, ttl_ms: int) -> None:
        """Create a level or replace its limits."""
        self._run("ledger_open", level, ttl_ms, _pack(_pairs(limits)))

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
        want = Want(hold_id=hold_id, levels=levels, cost=cost, lease_ms=lease_ms)
        with store_errors():
            return _reservation(_reserve_call(want, now_ms).run(self._redis))

    def reserve_all(self, wants: Sequence[Want], *, now_ms: int = 0) -> list[Reservation]:
        """Reserve each in turn."""
        with store_errors():
            replies = run_together(self._redis, [_reserve_call(each, now_ms) for each in wants])
        return [_reservation(each) for each in replies]

    def settle(self, hold_id: str, used: Amounts) -> bool:
        """Turn a hold into usage with the real amounts."""
        with store_errors():
            return _settle_call(hold_id, used).run(self._redis) == 1

    def settle_all(self, used: Sequence[tuple[str, Amounts]]) -> None:
        """Settle each hold in turn."""
        with store_errors():
            run_together(self._redis, [_settle_call(*each) for each in used])

    def spend(self, want: Want, *, now_ms: int = 0) -> Reservation:
        """Reserve and settle."""
        calls = (_reserve_call(want, now_ms), _settle_call(want.hold_id, want.cost))
        with store_errors():
            reserved, _settled = run_together(self._redis, calls)
        return _reservation(reserved)

    def release(self, hold_id: str) -> bool:
        """Give a hold back unused."""
        return self._run("release", hold_id, REMEMBER_MS) == 1

    def balance(self, level: str) -> Balance:
        """Return limits, used and held of a level."""
        with store_errors():
            raw = self._redis.get(keys.budget_level(level))
        return Balance() if raw is None else _balance(_level(cast("bytes", raw))[-1])

    def close(self, level: str) -> int:
        """Release every open hold that includes this level."""
        return cast("int", self._run("close", level, REMEMBER_MS))

    def expire(self, *, limit: int = 100, now_ms: int = 0) -> int:
        """Release up to `limit` expired holds."""
        return cast("int", self._run("expire", now_ms, limit))


def _pairs(amounts: Amounts) -> list[str | int]:
    return [part for name, amount in amounts.items() for part in (name.value, amount)]


def _reserve_call(want: Want, now_ms: int) -> Call:
    names, cost = list(dict.fromkeys(want.levels)), _pairs(counted(want.cost))
    asked = (now_ms, want.lease_ms, want.hold_id, DROPPED_AT_ONCE, names, cost)
    return Call(_SCRIPTS["reserve"], _TAG, (_pack(asked),))


def _settle_call(hold_id: str, used: Amounts) -> Call:
    return Call(_SCRIPTS["settle"], _TAG, (hold_id, REMEMBER_MS, _pack(_pairs(counted(used)))))


def _reservation(raw: object) -> Reservation:
    reply = _reply(cast("bytes", raw))
    if not reply[0]:
        _, level, name, rest = map(str, reply)
        return Short(level=level, dimension=Dimension(name), left=int(rest))
    left = {_DIMENSIONS[str(reply[at])]: int(reply[at + 1]) for at in range(1, len(reply), 2)}
    return Held(left=left)


def _balance(figures: list[str | int]) -> Balance:
    limits: Amounts = {}
    used: Amounts = {}
    held: Amounts = {}
    for at in range(0, len(figures), 4):
        each = _DIMENSIONS[str(figures[at])]
        limits[each], used[each], held[each] = map(int, figures[at + 1 : at + 4])
    limited = {name: limit for name, limit in limits.items() if limit != _NO_LIMIT}
    return Balance(limits=limited, used=counted(used), held=counted(held))
