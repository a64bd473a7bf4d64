"""Two workers for the same work: a stock Celery application, and our bells with the ledger of steps. DRAIN says which.

The work is to stand still for a moment and then to leave a mark. The stock one is set up as its manual advises for
work that must not be lost.
"""

import os
import time
from functools import lru_cache

from celery import Celery
from redis import Redis
from signal_search.contracts.source import SkipReason
from signal_search.contracts.trace import CallRefused

from infra.metrics import Publisher
from infra.redis import connect
from infra.settings import current
from workers.celery_app import Background, add_background, make_app, send_bell
from workers.pipeline.attempt import Leave, Step, attempt
from workers.reconciler import Reconciler
from workers.toolbox import Toolbox, open_toolbox

JOB = "job_drain"
RUNS = "drain:runs"  # a list with the number of every piece of work that was done to its end, each time
_WORK_S = 0.05
_VISIBILITY_S = 3  # as short as our lease, so that it can give back within the same time

_settings = current()


def stock_app() -> Celery:
    app = Celery("stock", broker=_settings.broker_url)
    app.conf.update(
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        task_ignore_result=True,
        broker_transport_options={"visibility_timeout": _VISIBILITY_S},
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
    )

    @app.task(name="stock.work")
    def work(number: int) -> None:
        time.sleep(_WORK_S)
        _store().rpush(RUNS, number)

    return app


def our_app() -> Celery:
    app = make_app(_settings)

    def ring(task: str, step_id: str) -> None:
        send_bell(app, task, step_id)

    @lru_cache(maxsize=1)
    def tools() -> Toolbox:
        return open_toolbox(_settings, ring)

    def work(tools: Toolbox, step: Step) -> Leave:
        number = step.id.rsplit("/", 1)[1]
        time.sleep(_WORK_S)
        entry = CallRefused(
            at_ms=tools.clock.now_ms(),
            key=number,
            call_id=number,
            source_id="",
            reason=SkipReason.BUDGET,
        )
        tools.log.append(JOB, entry)
        tools.redis.rpush(RUNS, number)
        return Leave()

    @app.task(name="workers.tasks.crawl")
    def crawl(step_id: str) -> None:
        attempt(tools(), step_id, work)

    def background(worker: str) -> Background:
        publisher = Publisher(tools().redis, tools().clock)
        return Reconciler(tools(), publisher, worker=worker, role="crawl", pid=os.getpid())

    add_background(app, "Reconcile", background)
    return app


@lru_cache(maxsize=1)
def _store() -> Redis:
    return connect(_settings.redis_url)


app = stock_app() if os.environ["DRAIN"] == "stock" else our_app()
