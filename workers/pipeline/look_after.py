"""Jobs that would wait for ever: their step was lost with part of the store, or who was to end them died in between.

Every unfinished job is looked at now and then. A job before its plan needs its plan step, any other its reduce step,
which sees to all else; a step that is there but that nobody will ring is rung.
"""

from signal_search.contracts.job import JobState

from infra.job_store import StoredJob
from infra.steps import task_of
from workers.pipeline.ending import clear_job
from workers.pipeline.memory_call import step_of
from workers.pipeline.state import fold
from workers.toolbox import Toolbox

_UNPLANNED = frozenset({JobState.QUEUED, JobState.PLANNING})


def look_after_jobs(tools: Toolbox) -> int:
    """Mend the unfinished jobs whose time has come; return how many needed it. Idempotent; safe in many workers.

    Raises:
        StoreFailed: the store did not answer.
    """
    again_ms = int(tools.settings.queue.look_after_s * 1000)
    due = tools.store.overdue(now_ms=tools.clock.now_ms(), again_ms=again_ms)
    return sum(_look_after(tools, job_id) for job_id in due)


def _look_after(tools: Toolbox, job_id: str) -> bool:
    stored = tools.store.get(job_id)
    if stored is None:
        tools.store.forget(job_id)
        return False
    if stored.is_finished:
        clear_job(tools, stored)  # who ended it died before it was done with that
        return True
    return _mend_main(tools, stored) or _ring_strays(tools, job_id)


def _mend_main(tools: Toolbox, stored: StoredJob) -> bool:
    """Make the step that carries the job on, or ring it when nobody else would."""
    job_id = stored.spec.id
    task = "plan" if _is_unplanned(tools, stored) else "reduce"
    step_id = f"{job_id}/{task}"
    standing = tools.steps.standing(step_id)
    if standing == "due" or _has_moved(tools, stored):
        return False
    if standing == "gone":
        tools.ensure(step_id, task)
    else:
        tools.bell(task, step_id)
    return True


def _is_unplanned(tools: Toolbox, stored: StoredJob) -> bool:
    """Say whether the plan is still to be made; a job that waits for its caller may do so on either side of it."""
    if stored.state is JobState.DELEGATED:
        return fold(entry for _id, entry in tools.log.read(stored.spec.id)).planned is None
    return stored.state in _UNPLANNED


def _has_moved(tools: Toolbox, before: StoredJob) -> bool:
    """Say whether the job went on meanwhile: the step that is missing may just have done its work."""
    now = tools.store.get(before.spec.id)
    return now is None or now.state is not before.state


def _ring_strays(tools: Toolbox, job_id: str) -> bool:
    """Ring calls that were not asked to the end and that nobody would ring; the reducer makes those that are gone."""
    view = fold(entry for _id, entry in tools.log.read(job_id))
    waiting = [
        step_of(job_id, each.call)
        for each in (view.active_calls() if view.planned is not None else ())
        if not each.is_asked
    ]
    strays = [step_id for step_id in waiting if tools.steps.standing(step_id) == "stray"]
    for step_id in strays:
        tools.bell(task_of(step_id), step_id)
    return bool(strays)
