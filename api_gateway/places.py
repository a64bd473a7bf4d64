"""How many unfinished jobs a tenant and the deployment may have. No queue behind it: a full house says so at once.

A place is a lease by the job's id: short while the job is being made, then until its deadline. The workers give it back
when the job ends; what they could not give back is cleared away when the house looks full. Fails closed: raises
StoreFailed when the store does not answer.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal, cast

from signal_search.contracts.job import JobSpec
from signal_search.errors import Busy

from budget.slots import JOBS, Admitted, Ask, Slots, admit_call, admitted, free_job, jobs_of
from infra import keys
from infra.redis import store_errors
from infra.scripts import Call, run_together
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

    def take(self, specs: Sequence[JobSpec]) -> list[Busy | None]:
        """Take each job's places, both or none, for as long as it takes to make it; idempotent. None: taken."""
        ttl_ms = int(self._settings.gateway.slot_ttl_s * 1000)
        asks = [self._ask(spec, ttl_ms) for spec in specs]
        answers = self._admit(asks)
        again = [place for place, answer in enumerate(answers) if answer != "admitted"]
        if again and self._clear(asks[place].tenant for place in again):
            for place, answer in zip(
                again, self._admit([asks[each] for each in again]), strict=True
            ):
                answers[place] = answer
        return [None if each == "admitted" else _full(_REFUSALS[each]) for each in answers]

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

    def _admit(self, asks: Sequence[Ask]) -> list[Admitted]:
        with store_errors():
            replies = run_together(self._redis, [admit_call(each) for each in asks])
        return [admitted(each) for each in replies]

    def _clear(self, tenants: Iterable[str]) -> bool:
        """Free the places of ended jobs; return whether there were any."""
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


def _full(message: str) -> Busy:
    return Busy(message, retry_after_s=_RETRY_AFTER_S)
