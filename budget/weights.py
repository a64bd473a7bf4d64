"""How much of a host's turns a job gets: its tenant's weight, shared among the tenant's unfinished jobs.

So a tenant with a hundred jobs does not get a hundred times the turns of a tenant with one.
"""

from budget.slots import SlotStore, jobs_of
from infra.clock import Clock
from infra.settings import Settings

_FRESH_S = 2.0  # a count that is a little old moves a share a little


class Weights:
    """Weights of jobs, by counts that are up to two seconds old. Threads may share it."""

    def __init__(self, slots: SlotStore, settings: Settings, clock: Clock) -> None:
        """Count the jobs in `slots`."""
        self._slots = slots
        self._settings = settings
        self._clock = clock
        self._known: dict[str, tuple[float, float]] = {}

    def of_job(self, tenant: str) -> float:
        """Return the weight of one of a tenant's jobs, above 0.

        Raises:
            StoreFailed: when the store does not answer.
        """
        now = self._clock.monotonic()
        until, weight = self._known.get(tenant, (0.0, 0.0))
        if now >= until:
            weight = self._settings.weight_of(tenant) / max(1, self._slots.count(jobs_of(tenant)))
            self._known[tenant] = (now + _FRESH_S, weight)
        return weight
