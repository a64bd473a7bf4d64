"""The Celery tasks: open the toolbox, call one function, hand on. And the bell that starts them."""

import os
from collections.abc import Sequence
from functools import lru_cache

import structlog
from celery import Celery
from signal_search.errors import Broken, SignalSearchError, StoreFailed

from infra.logging import bound
from infra.metrics import STEPS, Publisher
from infra.roles import QUEUES, TASK_QUEUES
from infra.settings import current
from infra.steps import task_of
from workers.celery_app import make_app, send_bell
from workers.next_step import NextStep
from workers.pipeline.attempt import Step, Work, begin, carry_out
from workers.pipeline.crawl import crawl as crawl_step
from workers.pipeline.plan import plan as plan_step
from workers.pipeline.recall import recall as recall_step
from workers.pipeline.reduce import reduce as reduce_step
from workers.toolbox import Toolbox, open_toolbox

app: Celery = make_app(current())
_log = structlog.get_logger("workers.tasks")

_NOT_OURS = frozenset({"held", "gone"})  # bells may ring twice
_MOST_REQUESTS = 1_000  # of the jobs at work; each costs a quarter of a KiB
_requests: dict[str, str] = {}


def _send(task: str, step_id: str) -> bool:
    return send_bell(app, task, step_id)


_next = NextStep(_send, keeps=TASK_QUEUES["reduce"] in QUEUES[current().worker_role])


def ring(task: str, step_id: str) -> bool:
    """Send a bell or keep it for this thread; False when it was not taken, and the reconciler has to ring."""
    return _next.ring(task, step_id)


@lru_cache(maxsize=1)
def toolbox() -> Toolbox:
    """Return this process's toolbox, opened on first use (after the pool has forked)."""
    return open_toolbox(current(), ring)


def publisher() -> Publisher:
    """Return this process's publisher of counts; a process that was forked since has its own."""
    return _publisher_of(os.getpid())


@lru_cache(maxsize=1)
def _publisher_of(_pid: int) -> Publisher:
    return Publisher(toolbox().redis, toolbox().clock)


def hand_back() -> None:
    """Give the steps that this process works on to others, at once."""
    for step_id in toolbox().steps.give_back():
        job_id = step_id.split("/", 1)[0]
        with bound(job_id=job_id, request_id=_requests.get(job_id, ""), step=step_id):
            _log.warning("step handed back")
        STEPS.labels(task=task_of(step_id), outcome="handed_back").inc()
        ring(task_of(step_id), step_id)


@app.task
def plan(*step_ids: str) -> None:
    """Plan jobs."""
    _try("plan", step_ids)


@app.task
def crawl(*step_ids: str) -> None:
    """Ask one source each."""
    _try("crawl", step_ids)


@app.task
def recall(*step_ids: str) -> None:
    """Ask research memory."""
    _try("recall", step_ids)


@app.task
def reduce(*step_ids: str) -> None:
    """Fold the log of jobs, decide and act."""
    _try("reduce", step_ids)


WORK: dict[str, Work] = {
    "plan": plan_step,
    "crawl": crawl_step,
    "recall": recall_step,
    "reduce": reduce_step,
}


def _try(task: str, step_ids: Sequence[str]) -> None:
    """Try the steps in turn, the last one's next step too; one that breaks does not keep others from being tried."""
    broken: Broken | None = None
    try:
        for step_id in step_ids[:-1]:
            broken = _counted(task, step_id) or broken
        following = [(task, step_id) for step_id in step_ids[-1:]]
        while following:
            (task, step_id), following = following[0], []
            with _next.kept() as following:
                broken = _counted(task, step_id) or broken
    except SystemExit:  # this process of the pool is told to leave
        hand_back()
        raise
    finally:
        # At once: a process of the pool may have nothing to do for hours, and nobody else can tell what it counted.
        publisher().publish(at_once=True)
    if broken is not None:
        raise broken


def _counted(task: str, step_id: str) -> Broken | None:
    try:
        outcome = _outcome(step_id, WORK[task])
    except Broken as error:
        STEPS.labels(task=task, outcome="broken").inc()
        return error
    STEPS.labels(task=task, outcome=outcome).inc()
    return None


def _outcome(step_id: str, work: Work) -> str:
    began_s = toolbox().clock.monotonic()
    with bound(job_id=step_id.split("/", 1)[0], step=step_id):
        try:
            step = begin(toolbox(), step_id)
            _remember(step)
            with bound(request_id=step.job.request_id):
                return _tried(step, work, began_s)
        except StoreFailed as error:  # before the step was ours
            _log.warning("step could not be asked for", code=error.code)
            return error.code


def _tried(step: Step, work: Work, began_s: float) -> str:
    try:
        outcome = carry_out(toolbox(), step, work)
    except SignalSearchError as error:
        _log.warning("step failed and will be tried again", code=error.code)
        return error.code
    except Exception as error:
        _log.exception("step broke and will be tried again")
        raise Broken from error
    took_ms = round((toolbox().clock.monotonic() - began_s) * 1000, 1)
    tell = _log.debug if outcome in _NOT_OURS else _log.info
    tell("step tried", outcome=outcome, took_ms=took_ms)
    return outcome


def _remember(step: Step) -> None:
    """Remember the request that made a job, for the log of a worker that leaves."""
    if len(_requests) >= _MOST_REQUESTS:
        _requests.clear()
    _requests[step.job_id] = step.job.request_id
