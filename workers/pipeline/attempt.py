"""One try of one step: claim it, work on it, hand it on. The same for every task."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from signal_search.contracts.job import JobEvent
from signal_search.contracts.source import SkipReason
from signal_search.errors import Broken, SignalSearchError, StoreFailed

from infra.metrics import STEP_WAIT_SECONDS
from infra.steps import StepClaim, task_of
from workers.pipeline.ending import end_job
from workers.pipeline.refusal import refuse
from workers.toolbox import Toolbox

_FIRST_WAIT_MS = 1000


@dataclass(frozen=True)
class Rest:
    """The step rests until it is rung or `wake_ms` have passed."""

    wake_ms: int


@dataclass(frozen=True)
class Leave:
    """The step is done for good."""


Next = Rest | Leave
Work = Callable[[Toolbox, str], Next]


def attempt(tools: Toolbox, step_id: str, work: Work) -> str:
    """Try a step; return what became of it, for the log.

    A step that another worker holds, or that is gone, is left alone: bells may ring twice. A step that was tried
    too often is given up. What `work` raises passes through; an error of ours is tried again soon, longer each time,
    anything else when the lease has expired.
    """
    claim = tools.steps.claim(step_id)
    if claim.outcome == "dead":
        _give_up(tools, step_id)
    if claim.outcome != "claimed":
        return claim.outcome
    STEP_WAIT_SECONDS.labels(task=task_of(step_id)).observe(claim.waited_ms / 1000)
    try:
        after = work(tools, step_id)
    except SignalSearchError:
        with suppress(StoreFailed):  # then the lease has to expire
            wait_ms = _FIRST_WAIT_MS * 2 ** (claim.attempt - 1)
            tools.steps.retry(step_id, claim, wait_ms=wait_ms)
        raise
    return _finish(tools, step_id, claim, after)


def _finish(tools: Toolbox, step_id: str, claim: StepClaim, after: Next) -> str:
    if isinstance(after, Leave):
        return tools.steps.leave(step_id, claim)
    done = tools.steps.rest(step_id, claim, wake_ms=after.wake_ms)
    if done == "again":
        tools.bell(task_of(step_id), step_id)
    return done


def _give_up(tools: Toolbox, step_id: str) -> None:
    """End the job of a plan or reduce step; a source that cannot be asked is refused, and the job goes on."""
    job_id, task, *call = step_id.split("/", 2)
    if task == "crawl" and call:
        refuse(
            tools,
            job_id,
            call[0],
            SkipReason.NOT_CONFIGURED,
            "asking this source failed repeatedly",
        )
        tools.steps.drop(step_id)
        tools.ring(f"{job_id}/reduce")
        return
    end_job(tools, job_id, JobEvent.FAIL, error=Broken("A step of this job failed repeatedly."))
    tools.steps.drop(step_id)
