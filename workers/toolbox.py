"""The composition root: settings become the tools that the pipeline works with. One toolbox per process."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from budget.frontier import Caps, Frontier
from budget.ledger import Ledger
from budget.redis_frontier import RedisFrontier
from budget.redis_ledger import RedisLedger
from budget.slots import Slots, SlotStore
from infra.clock import Clock
from infra.job_log import JobLog
from infra.job_store import JobStore
from infra.redis import Redis, connect
from infra.settings import Settings
from infra.steps import StepRules, Steps, task_of
from infra.store_clock import StoreClock
from workers.fetching.pace import Paces, paces_of
from workers.registry import Registry

Bell = Callable[[str, str], object]
"""Send the bell of a task for a step: (task, step id). It may be lost (False says so); the reconciler rings again."""


@dataclass(frozen=True)
class Toolbox:
    """Everything a step may use; nothing in it is global."""

    settings: Settings
    clock: Clock
    redis: Redis
    store: JobStore
    log: JobLog
    steps: Steps
    ledger: Ledger
    slots: SlotStore
    frontier: Frontier
    registry: Registry
    paces: Paces
    bell: Bell

    def ring(self, step_id: str) -> None:
        """Tell a step that there is news for it."""
        task = self.steps.ring(step_id)
        if task:
            self.bell(task, step_id)

    def ensure(self, step_id: str, task: str) -> None:
        """Make a step and ring it, unless it is there."""
        if self.steps.make(step_id, task):
            self.bell(task, step_id)

    def start(self, step_ids: Sequence[str]) -> None:
        """Make steps and ring them. To make one again, or to ring twice, changes nothing."""
        self.steps.make_all(step_ids)
        for each in step_ids:
            self.bell(task_of(each), each)


def step_rules(settings: Settings) -> StepRules:
    """Return the times of the step ledger."""
    queue = settings.queue
    longest_s = max(settings.jobs.deadline_s.values())
    return StepRules(
        lease_ms=int(queue.lease_s * 1000),
        grace_ms=int(queue.grace_s * 1000),
        max_attempts=queue.max_attempts,
        ttl_ms=int((longest_s + settings.jobs.result_ttl_s) * 1000),
    )


def _caps(settings: Settings) -> Caps:
    caps = settings.frontier
    return Caps(host=caps.cap_host, job=caps.cap_job, total=caps.cap_total)


def open_toolbox(settings: Settings, bell: Bell, *, clock: Clock | None = None) -> Toolbox:
    """Connect the tools; connections open on first use."""
    redis = connect(settings.redis_url)
    chosen = clock or StoreClock(settings.redis_url)
    return Toolbox(
        settings=settings,
        clock=chosen,
        redis=redis,
        store=JobStore(redis),
        log=JobLog(redis),
        steps=Steps(redis, step_rules(settings)),
        ledger=RedisLedger(redis),
        slots=Slots(redis),
        frontier=RedisFrontier(redis, caps=_caps(settings)),
        registry=Registry(settings),
        paces=paces_of(settings),
        bell=bell,
    )
