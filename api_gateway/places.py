"""How many unfinished jobs a tenant and the deployment may have. No queue behind it: a full house says so at once.

A place is a lease by the job's id until its deadline. Ended jobs are cleared away when the house looks full, so that
nobody has to remember to give a place back. Fails closed: raises StoreFailed when the store does not answer.
"""

from typing import TYPE_CHECKING, cast

from signal_search.contracts.job import JobSpec
from signal_search.errors import Busy

from budget.slots import Slots
from infra import keys
from infra.redis import store_errors
from infra.settings import Gateway

if TYPE_CHECKING:
    from redis import Redis

_DEPLOYMENT = "jobs"
_RETRY_AFTER_S = 5.0


class Places:
    """Places for unfinished jobs."""

    def __init__(self, redis: "Redis", settings: Gateway) -> None:
        """Grant as many as `settings` say."""
        self._redis = redis
        self._slots = Slots(redis)
        self._settings = settings

    def take(self, spec: JobSpec) -> None:
        """Take the job's places, both or none; idempotent.

        Raises:
            Busy: all are taken by unfinished jobs.
        """
        ttl_ms = spec.deadline_ms - spec.created_at_ms
        tenant = _of_tenant(spec.tenant)
        if not self._take(tenant, spec.id, self._settings.tenant_slots, ttl_ms):
            raise _full("You have as many unfinished jobs as you may.")
        if not self._take(_DEPLOYMENT, spec.id, self._settings.deployment_slots, ttl_ms):
            self._slots.free(tenant, spec.id)
            raise _full("The service has as many unfinished jobs as it may.")

    def free(self, job_id: str, tenant: str) -> None:
        """Give an ended job's places back."""
        self._slots.free(_of_tenant(tenant), job_id)
        self._slots.free(_DEPLOYMENT, job_id)

    def _take(self, name: str, job_id: str, limit: int, ttl_ms: int) -> bool:
        if self._slots.take(name, job_id, limit, ttl_ms):
            return True
        self._clear(name)
        return self._slots.take(name, job_id, limit, ttl_ms)

    def _clear(self, name: str) -> None:
        # Only a job that is known to have ended: one that is not there may be about to be created.
        with store_errors():
            holders = cast("list[bytes]", self._redis.zrange(keys.slots(name), 0, -1))
            with self._redis.pipeline(transaction=False) as pipe:
                for holder in holders:
                    pipe.hexists(keys.job(holder.decode()), "finished_at_ms")
                ended = pipe.execute()
        for holder, has_ended in zip(holders, ended, strict=True):
            if has_ended:
                self._slots.free(name, holder.decode())


def _of_tenant(tenant: str) -> str:
    return f"{_DEPLOYMENT}:{tenant}"


def _full(message: str) -> Busy:
    return Busy(message, retry_after_s=_RETRY_AFTER_S)
