"""The Celery application: queues, routes, limits, signals, and nothing else.

A message here is only a bell: the ledger of steps is the truth. So there is no result backend (it leaks and is slow),
no acknowledgement emulation (it loses and repeats messages, costs half the throughput, and its bookkeeping kills
workers when Redis restarts), no countdown or retry (parked in a worker's memory), and messages expire.
"""

from collections.abc import Callable
from typing import Any, Protocol

import structlog
from celery import Celery, bootsteps
from celery.exceptions import OperationalError

from infra.embedded_redis import broker_url
from infra.roles import BROKER_PREFIX, TASK_QUEUES
from infra.settings import Settings

_log = structlog.get_logger("workers.celery_app")

_MODULE = "workers.tasks"
BELL_EXPIRES_S = 60  # an old bell says nothing that the reconciler does not say again


def task_name(task: str) -> str:
    """Return the registered name of a step's task."""
    return f"{_MODULE}.{task}"


def make_app(settings: Settings) -> Celery:
    """Return the application for these settings; nothing connects yet."""
    app = Celery("signal_search", broker=broker_url(settings.broker))
    app.conf.update(
        broker_transport_options={
            "ack_emulation": False,
            "global_keyprefix": BROKER_PREFIX,
            "socket_timeout": 30,
            "socket_connect_timeout": 5,
            "socket_keepalive": True,
            "health_check_interval": 25,
        },
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        task_ignore_result=True,
        task_store_errors_even_if_ignored=False,
        task_acks_late=False,
        task_serializer="json",
        accept_content=["json"],
        task_default_queue="plan",
        task_routes={task_name(task): {"queue": queue} for task, queue in TASK_QUEUES.items()},
        task_create_missing_queues=True,
        worker_prefetch_multiplier=1,
        worker_disable_prefetch=True,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        worker_soft_shutdown_timeout=10,
        # Under the lease of a step, so that a hung task dies before its step is given to another worker.
        task_soft_time_limit=settings.queue.lease_s * 0.8,
        task_time_limit=settings.queue.lease_s * 0.9,
    )
    return app


def send_bell(app: Celery, task: str, step_id: str) -> bool:
    """Send the bell of a task for a step; False when the broker did not take it, and the reconciler has to ring.

    Fails open: a bell that is lost must end neither a step, whose work is done by then, nor the reconciler itself.
    """
    try:
        app.send_task(
            task_name(task),
            args=[step_id],
            queue=TASK_QUEUES[task],
            expires=BELL_EXPIRES_S,
            ignore_result=True,
        )
    except OperationalError:  # the broker is away, or full
        _log.warning("a bell was not sent; the reconciler will ring", task=task)
        return False
    return True


class Background(Protocol):
    """Something that runs in a worker beside its tasks, in a thread of its own."""

    def start(self) -> None:
        """Begin; returns at once."""
        ...

    def stop(self) -> None:
        """End in good order, within a few seconds."""
        ...


def add_background(app: Celery, name: str, make: Callable[[str], Background]) -> None:
    """Run `make(worker name)` in every worker of this application, from after its pool is up until it stops."""

    def start(self: Any, worker: Any) -> None:
        self.background = make(worker.hostname)
        self.background.start()

    def stop(self: Any, _worker: Any) -> None:
        background = getattr(self, "background", None)
        if background is not None:
            background.stop()

    # The pool first: a pool that forks must not copy our threads.
    parts = {"requires": {"celery.worker.components:Pool"}, "start": start, "stop": stop}
    app.steps["worker"].add(type(name, (bootsteps.StartStopStep,), {**parts, "terminate": stop}))
