"""One try of one step: claim it, work on it, hand it on. The same for every task."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from signal_search.contracts.job import JobEvent
from signal_search.contracts.source import SkipReason
from signal_search.errors import Broken, SignalSearchError, StoreFailed

from infra.metrics import STEP_WAIT_SECONDS
from infra.opened_job import OpenedJob, reading
from infra.steps import StepClaim, task_of
from workers.pipeline.ending import end_job
from workers.pipeline.refusal import refuse
from workers.pipeline.state import JobView, fold
from workers.toolbox import Toolbox

_FIRST_WAIT_MS = 1000


@dataclass(frozen=True)
class Rest:
    """The step rests until it is rung or `wake_ms` have passed."""

    wake_ms: int


@dataclass(frozen=True)
class Leave:
    """The step is done for good."""


@dataclass(frozen=True)
class Step:
    """A step that was asked for: the answer to that, and its job as it was then."""

    id: str
    claim: StepClaim
    job: OpenedJob

    @property
    def job_id(self) -> str:
        """Return the job that the step belongs to."""
        return self.id.split("/", 1)[0]

    def view(self) -> JobView:
        """Return what the job's log said."""
        return fold(entry for _id, entry in self.job.entries)


Next = Rest | Leave
Work = Callable[[Toolbox, Step], Next]


def begin(tools: Toolbox, step_id: str) -> Step:
    """Ask for a step, and read its job in the same trip."""
    claim, read = tools.steps.claim_and_read(step_id, reading(step_id.split("/", 1)[0]))
    return Step(step_id, claim, OpenedJob(read))


def attempt(tools: Toolbox, step_id: str, work: Work) -> str:
    """Ask for a step and try it; return what became of it."""
    return carry_out(tools, begin(tools, step_id), work)


def carry_out(tools: Toolbox, step: Step, work: Work) -> str:
    """Try a step that was asked for; return what became of it, for the log.

    A step that another worker holds, or that is gone, is left alone: bells may ring twice. A step that was tried
    too often is given up. What `work` raises passes through; an error of ours is tried again soon, longer each time,
    anything else when the lease has expired.
    """
    claim = step.claim
    if claim.outcome == "dead":
        _give_up(tools, step)
    if claim.outcome != "claimed":
        return claim.outcome
    STEP_WAIT_SECONDS.labels(task=task_of(step.id)).observe(claim.waited_ms / 1000)
    try:
        after = work(tools, step)
    except SignalSearchError:
        with suppress(StoreFailed):  # then the lease has to expire
            wait_ms = _FIRST_WAIT_MS * 2 ** (claim.attempt - 1)
            tools.steps.retry(step.id, claim, wait_ms=wait_ms)
        raise
    return _finish(tools, step, after)


def _finish(tools: Toolbox, step: Step, after: Next) -> str:
    if isinstance(after, Leave):
        return tools.steps.leave(step.id, step.claim)
    done = tools.steps.rest(step.id, step.claim, wake_ms=after.wake_ms)
    if done == "again":
        tools.bell(task_of(step.id), step.id)
    return done


def _give_up(tools: Toolbox, step: Step) -> None:
    """End the job of a plan or reduce step; a source that cannot be asked is refused, and the job goes on."""
    job_id, task, *call = step.id.split("/", 2)
    if task == "crawl" and call:
        refuse(
            tools,
            job_id,
            call[0],
            SkipReason.NOT_CONFIGURED,
            "asking this source failed repeatedly",
        )
        tools.steps.drop(step.id)
        tools.ring(f"{job_id}/reduce")
        return
    if step.job.stored is not None:
        error = Broken("A step of this job failed repeatedly.")
        end_job(tools, step.job.stored, JobEvent.FAIL, error=error)
    tools.steps.drop(step.id)
