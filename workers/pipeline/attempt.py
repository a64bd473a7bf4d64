"""One try of one step: claim it, work on it, hand it on. The same for every task."""

from collections.abc import Callable
from dataclasses import dataclass

from signal_search.contracts.job import JobEvent
from signal_search.errors import Broken

from infra.steps import StepClaim
from workers.pipeline.ending import end_job
from workers.toolbox import Toolbox


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
    too often ends its job. What `work` raises passes through; the claim's lease then expires and the step is
    tried again.
    """
    claim = tools.steps.claim(step_id)
    if claim.outcome == "dead":
        _give_up(tools, step_id)
    if claim.outcome != "claimed":
        return claim.outcome
    return _finish(tools, step_id, claim, work(tools, step_id))


def _finish(tools: Toolbox, step_id: str, claim: StepClaim, after: Next) -> str:
    if isinstance(after, Leave):
        return tools.steps.leave(step_id, claim)
    done = tools.steps.rest(step_id, claim, wake_ms=after.wake_ms)
    if done == "again":
        tools.bell(step_id.split("/")[1], step_id)  # JOB/TASK or JOB/TASK/NAME
    return done


def _give_up(tools: Toolbox, step_id: str) -> None:
    job_id = step_id.split("/", 1)[0]
    end_job(tools, job_id, JobEvent.FAIL, error=Broken("A step of this job failed repeatedly."))
    tools.steps.drop(step_id)
