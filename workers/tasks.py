"""The Celery tasks: open the toolbox, call one function, hand on. And the bell that starts them."""

import os
from functools import lru_cache

import structlog
from celery import Celery
from signal_search.errors import Broken, SignalSearchError, StoreFailed

from infra.logging import bound
from infra.metrics import STEPS, Publisher
from infra.settings import current
from infra.steps import task_of
from workers.celery_app import make_app, send_bell
from workers.pipeline.attempt import Work, attempt
from workers.pipeline.crawl import crawl as crawl_step
from workers.pipeline.plan import plan as plan_step
from workers.pipeline.reduce import reduce as reduce_step
from workers.toolbox import Toolbox, open_toolbox

app: Celery = make_app(current())
_log = structlog.get_logger("workers.tasks")

_NOT_OURS = frozenset({"held", "gone"})  # bells may ring twice
_MOST_REQUESTS = 10_000
_requests: dict[str, str] = {}


def ring(task: str, step_id: str) -> bool:
    """Send a bell, and return whether it was taken; a lost one is rung again by the reconciler."""
    return send_bell(app, task, step_id)


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
def plan(step_id: str) -> None:
    """Plan a job."""
    _try("plan", step_id, plan_step)


@app.task
def crawl(step_id: str) -> None:
    """Ask one source."""
    _try("crawl", step_id, crawl_step)


@app.task
def reduce(step_id: str) -> None:
    """Fold a job's log, decide and act."""
    _try("reduce", step_id, reduce_step)


def _try(task: str, step_id: str, work: Work) -> None:
    try:
        STEPS.labels(task=task, outcome=_outcome(step_id, work)).inc()
    except Broken:
        STEPS.labels(task=task, outcome="broken").inc()
        raise
    except SystemExit:  # this process of the pool is told to leave
        hand_back()
        raise
    finally:
        # At once: a process of the pool may have nothing to do for hours, and nobody else can tell what it counted.
        publisher().publish(at_once=True)


def _outcome(step_id: str, work: Work) -> str:
    job_id = step_id.split("/", 1)[0]
    with bound(job_id=job_id, request_id=_request_of(job_id), step=step_id):
        began_s = toolbox().clock.monotonic()
        try:
            outcome = attempt(toolbox(), step_id, work)
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


def _request_of(job_id: str) -> str:
    """Return the request that made a job, for the log; empty when it cannot be told."""
    known = _requests.get(job_id)
    if known is None:
        try:
            known = toolbox().store.request_id(job_id)
        except StoreFailed:
            return ""
        if len(_requests) >= _MOST_REQUESTS:
            _requests.clear()
        _requests[job_id] = known
    return known
