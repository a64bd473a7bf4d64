"""The Celery tasks: open the toolbox, call one function, hand on. And the bell that starts them."""

import os
from functools import lru_cache

import structlog
from celery import Celery
from signal_search.errors import Broken, SignalSearchError

from infra.metrics import STEPS, Publisher
from infra.settings import current
from workers.celery_app import make_app, send_bell
from workers.pipeline.attempt import Work, attempt
from workers.pipeline.crawl import crawl as crawl_step
from workers.pipeline.plan import plan as plan_step
from workers.pipeline.reduce import reduce as reduce_step
from workers.toolbox import Toolbox, open_toolbox

app: Celery = make_app(current())
_log = structlog.get_logger("workers.tasks")


def ring(task: str, step_id: str) -> None:
    """Send a bell; a lost one is rung again by the reconciler."""
    send_bell(app, task, step_id)


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
    finally:
        # At once: a process of the pool may have nothing to do for hours, and nobody else can tell what it counted.
        publisher().publish(at_once=True)


def _outcome(step_id: str, work: Work) -> str:
    with structlog.contextvars.bound_contextvars(job_id=step_id.split("/", 1)[0], step=step_id):
        try:
            return attempt(toolbox(), step_id, work)
        except SignalSearchError as error:
            _log.warning("step failed and will be tried again", code=error.code)
            return error.code
        except Exception as error:
            _log.exception("step broke and will be tried again")
            raise Broken from error
