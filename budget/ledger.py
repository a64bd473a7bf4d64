"""The port of the budget ledger: reserve before spending, settle with the real amount, release what was not used.

Fails closed: when the store does not answer, `StoreFailed` is raised and nothing may be spent.
"""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct
from signal_search.contracts.budget import Amounts, Dimension

REMEMBER_MS = 86_400_000
"""How long an ended hold's id is known: the longest deadline a job may have."""

DROPPED_AT_ONCE = 1000
"""How many expired holds a reservation drops at most, so that it never blocks the store for long."""


class Held(Struct, frozen=True, kw_only=True):
    """Granted. `left` is the least that remains per dimension over all limited levels."""

    left: Amounts = {}


class Short(Struct, frozen=True, kw_only=True):
    """Not granted: this level has only `left` of this dimension. Nothing was held anywhere."""

    level: str
    dimension: Dimension
    left: int


Reservation = Held | Short


class Want(Struct, frozen=True, kw_only=True):
    """One reservation among several that are asked for together."""

    hold_id: str
    levels: Sequence[str]
    cost: Amounts
    lease_ms: int


class Balance(Struct, frozen=True, kw_only=True):
    """The state of one level. A dimension without a limit is absent from `limits`."""

    limits: Amounts = {}
    used: Amounts = {}
    held: Amounts = {}


class Ledger(Protocol):
    """Budgets over levels such as `job:ID`, `tenant:T`, `deployment`, counted in dimensions.

    A level that was not opened, or has left, limits nothing and counts nothing.

    `now_ms` 0 means "ask the store", so that tests inject time. Every call is idempotent by `hold_id` or level.
    Invariant: used + held never exceeds a limit through `reserve`; only a `settle` above its hold (an over-run,
    which is recorded in full) can.
    """

    def open(self, level: str, limits: Amounts, *, ttl_ms: int) -> None:
        """Create a level or replace its limits (usage stays); it leaves after `ttl_ms` (0: stays)."""
        ...

    def reserve(
        self,
        hold_id: str,
        levels: Sequence[str],
        cost: Amounts,
        *,
        lease_ms: int,
        now_ms: int = 0,
    ) -> Reservation:
        """Hold `cost` on all levels or on none. The same id again returns `Held` without holding twice.

        The lease of an id that is held already is prolonged, never shortened.

        Expired holds are dropped first, the oldest DROPPED_AT_ONCE of them. An id that was already settled or
        released returns `Held` and holds nothing: a step that runs again is not charged again (for REMEMBER_MS). The
        id of a hold that expired is free again. What costs nothing is never short.

        Raises:
            Broken: when an amount is negative.
        """
        ...

    def reserve_all(self, wants: Sequence[Want], *, now_ms: int = 0) -> list[Reservation]:
        """Reserve each in turn, in one trip; one that is short keeps none of the others from being held."""
        ...

    def settle(self, hold_id: str, used: Amounts) -> bool:
        """Turn a hold into usage with the real amounts (less: refund; more: over-run). False if no such hold."""
        ...

    def settle_all(self, used: Sequence[tuple[str, Amounts]]) -> None:
        """Settle each hold in turn, in one trip."""
        ...

    def spend(self, want: Want, *, now_ms: int = 0) -> Reservation:
        """Reserve and settle what will surely cost this much, in one trip; nothing is spent when it is short."""
        ...

    def release(self, hold_id: str) -> bool:
        """Give a hold back unused. False if no such hold."""
        ...

    def balance(self, level: str) -> Balance:
        """Return limits, used and held of a level; empty if it does not exist."""
        ...

    def close(self, level: str) -> int:
        """Release every open hold that includes this level; return how many there were."""
        ...

    def expire(self, *, limit: int = 100, now_ms: int = 0) -> int:
        """Release up to `limit` expired holds; return how many."""
        ...
