"""Slots: a limited number of leases under one name, such as the unfinished jobs of a tenant.

A lease frees itself when its holder does not renew it, so that a crash costs a slot no longer than its time.
Fails closed: when the store does not answer, `StoreFailed` is raised and nothing is admitted.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, cast

from msgspec import Struct

from infra import keys
from infra.clock import Clock, SystemClock
from infra.redis import store_errors
from infra.scripts import Argument, Call, load

if TYPE_CHECKING:
    from redis import Redis

_SCRIPTS = load(
    Path(__file__).with_name("lua"),
    *("slot_take", "slot_renew", "slot_count", "slot_admit"),
    first="slot",
)

JOBS = "jobs"
"""The name of the deployment's slots for unfinished jobs."""

WAITING_MS = 15_000
"""How long a tenant that was refused counts as waiting: three times what it is asked to wait."""

ADMITTED = b"admitted"
"""What a store replies to `admit_call` when the job has its places."""

Admitted = Literal["admitted", "tenant", "deployment", "kept", "share"]


class Ask(Struct, frozen=True, kw_only=True):
    """A job that asks for a place, in the deployment and under its tenant, for `ttl_ms`.

    weight: above 0; tenants share a full deployment by it. kept: the last places, which are for tenants that have none.
    """

    job: str
    tenant: str
    ttl_ms: int
    tenant_limit: int
    limit: int
    weight: float = 1.0
    kept: int = 0


def jobs_of(tenant: str) -> str:
    """Return the name of a tenant's slots for unfinished jobs."""
    return f"{JOBS}:{tenant}"


def admit_call(ask: Ask, *, now_ms: int = 0) -> Call:
    """Return the call that takes a job's places, both or none, or prolongs them; `admitted` reads its reply.

    Short is the tenant (its own limit), the deployment (full), what is kept for newcomers, or the share: the tenant
    has as much of the deployment as its weight gives it, and another that has less waits.
    """
    names = (keys.slots(JOBS), keys.slot_weights(), keys.slots_waiting())
    limits = (ask.tenant_limit, ask.limit, ask.kept, WAITING_MS)
    args = (now_ms, ask.job, ask.ttl_ms, ask.tenant, ask.weight, *limits)
    return Call(_SCRIPTS["slot_admit"], names, args)


def admitted(reply: object) -> Admitted:
    """Return what a reply to `admit_call` says."""
    return cast("Admitted", cast("bytes", reply).decode())


def free_job(slots: "SlotStore", job: str, tenant: str) -> None:
    """Give an ended job's places back. Idempotent."""
    slots.free(jobs_of(tenant), job)
    slots.free(JOBS, job)


class SlotStore(Protocol):
    """The port. `now_ms` 0 means "ask the store"; every call is idempotent by name and holder."""

    def take(self, name: str, holder: str, limit: int, ttl_ms: int, now_ms: int = 0) -> bool:
        """Take one of `limit` slots for `ttl_ms`; who has one already prolongs it. False when all are taken."""
        ...

    def renew(self, name: str, holder: str, ttl_ms: int, now_ms: int = 0) -> bool:
        """Hold a slot for another `ttl_ms` from now. False when it is no longer the holder's."""
        ...

    def free(self, name: str, holder: str) -> bool:
        """Give a slot back. False when there was none; of a lease that has ended either may be said."""
        ...

    def count(self, name: str, now_ms: int = 0) -> int:
        """Return how many slots are held."""
        ...


class Slots:
    """Slots in Redis, on a synchronous client."""

    def __init__(self, redis: "Redis") -> None:
        """Use this client; it is not closed here."""
        self._redis = redis

    def _run(self, script: str, name: str, *args: Argument) -> int:
        with store_errors():
            return cast("int", _SCRIPTS[script](self._redis, [keys.slots(name)], args))

    def take(self, name: str, holder: str, limit: int, ttl_ms: int, now_ms: int = 0) -> bool:
        """Take a slot, or prolong the one held."""
        return self._run("slot_take", name, now_ms, holder, ttl_ms, limit) == 1

    def renew(self, name: str, holder: str, ttl_ms: int, now_ms: int = 0) -> bool:
        """Hold a slot for longer."""
        return self._run("slot_renew", name, now_ms, holder, ttl_ms) == 1

    def free(self, name: str, holder: str) -> bool:
        """Give a slot back."""
        with store_errors():
            return self._redis.zrem(keys.slots(name), holder) == 1

    def count(self, name: str, now_ms: int = 0) -> int:
        """Return how many slots are held."""
        return self._run("slot_count", name, now_ms)


class MemorySlots:
    """Slots in this process: the twin, and for runs without a store."""

    def __init__(self, clock: Clock | None = None) -> None:
        """Ask `clock` where a call does not say what time it is."""
        self._clock = clock or SystemClock()
        self._ends_ms: dict[str, dict[str, int]] = {}

    def _held(self, name: str, now_ms: int) -> dict[str, int]:
        held = self._ends_ms.get(name, {})
        self._ends_ms[name] = {each: ends for each, ends in held.items() if ends > now_ms}
        return self._ends_ms[name]

    def take(self, name: str, holder: str, limit: int, ttl_ms: int, now_ms: int = 0) -> bool:
        """Take a slot, or prolong the one held."""
        now_ms = now_ms or self._clock.now_ms()
        held = self._held(name, now_ms)
        if holder not in held and len(held) >= limit:
            return False
        held[holder] = now_ms + ttl_ms
        return True

    def renew(self, name: str, holder: str, ttl_ms: int, now_ms: int = 0) -> bool:
        """Hold a slot for longer."""
        now_ms = now_ms or self._clock.now_ms()
        held = self._held(name, now_ms)
        if holder not in held:
            return False
        held[holder] = now_ms + ttl_ms
        return True

    def free(self, name: str, holder: str) -> bool:
        """Give a slot back."""
        return self._ends_ms.get(name, {}).pop(holder, None) is not None

    def count(self, name: str, now_ms: int = 0) -> int:
        """Return how many slots are held."""
        return len(self._held(name, now_ms or self._clock.now_ms()))
