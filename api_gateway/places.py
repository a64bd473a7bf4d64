"""How many unfinished jobs a tenant and the deployment may have. No queue behind it: a full house says so at once.

A place is a lease by the job's id: short while the job is being made, then until its deadline. The workers give it back
when the job ends; what they could not give back is cleared away when the house looks full. Fails closed: raises
StoreFailed when the store does not answer.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, cast

from signal_search.contracts.job import JobSpec
from signal_search.errors import Busy

from budget.slots import JOBS, Ask, Slots, admit_call, admitted, free_job, jobs_of
from infra import keys
from infra.redis import store_errors
from infra.scripts import Call
from infra.settings import Settings

if TYPE_CHECKING:
    from redis import Redis

_RETRY_AFTER_S = 5.0
_REFUSALS: dict[Literal["tenant", "deployment", "kept", "share"], str] = {
    "tenant": "You have as many unfinished jobs as you may.",
    "deployment": "The service has as many unfinished jobs as it may.",
    "kept": "The service is nearly full, and its last places are for callers who have none.",
    "share": "The service is nearly full, you have your share of it, and another caller waits.",
}


class Places:
    """Places for unfinished jobs."""

    def __init__(self, redis: "Redis", settings: Settings) -> None:
        """Grant as many as `settings` say."""
        self._redis = redis
        self._slots = Slots(redis)
        self._settings = settings

    def take(self, spec: JobSpec) -> Call:
        """Return the call that takes a job's places, both or none, for as long as it takes to make it; idempotent."""
        return admit_call(self._ask(spec, int(self._settings.gateway.slot_ttl_s * 1000)))

    def refusal(self, reply: object) -> Busy | None:
        """Return why a reply to `take` refuses the job its places, None if it has them."""
        answer = admitted(reply)
        if answer == "admitted":
            return None
        return Busy(_REFUSALS[answer], retry_after_s=_RETRY_AFTER_S)

    def keep(self, spec: JobSpec) -> Call:
        """Return the call that prolongs a job's places to its deadline."""
        return admit_call(self._ask(spec, spec.deadline_ms - spec.created_at_ms))

    def free(self, job_id: str, tenant: str) -> None:
        """Give an ended job's places back."""
        free_job(self._slots, job_id, tenant)

    def _ask(self, spec: JobSpec, ttl_ms: int) -> Ask:
        door = self._settings.gateway
        return Ask(
            job=spec.id,
            tenant=spec.tenant,
            ttl_ms=ttl_ms,
            tenant_limit=self._settings.slots_of(spec.tenant),
            limit=door.deployment_slots,
            weight=self._settings.weight_of(spec.tenant),
            kept=int(door.deployment_slots * door.newcomer_share),
        )

    def clear(self, tenants: Iterable[str]) -> bool:
        """Free the places of ended jobs, of these tenants and in all; return whether there were any."""
        names = [jobs_of(each) for each in set(tenants)]
        return sum(self._clear_one(each) for each in (JOBS, *names)) > 0

    def _clear_one(self, name: str) -> int:
        # Only a job that is known to have ended: one that is not there may be about to be created.
        with store_errors():
            holders = cast("list[bytes]", self._redis.zrange(keys.slots(name), 0, -1))
            with self._redis.pipeline(transaction=False) as pipe:
                for holder in holders:
                    pipe.hexists(keys.job(holder.decode()), "finished_at_ms")
                ended = pipe.execute()
        gone = [each.decode() for each, has_ended in zip(holders, ended, strict=True) if has_ended]
        return sum(self._slots.free(name, each) for each in gone)
