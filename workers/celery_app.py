"""The Celery application: queues, routes, limits, signals, and nothing else.

A message here is only a bell: the ledger of steps is the truth. So there is no result backend (it leaks and is slow),
no acknowledgement emulation (`infra/broker.py`), no countdown or retry (parked in a worker's memory), and messages
expire.
"""

import logging
import signal
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, Protocol

from celery import Celery, bootsteps, signals
from celery.exceptions import OperationalError
from celery.worker import state

from infra.broker import broker_url, is_redis, transport_options
from infra.roles import POOLS, TASK_QUEUES
from infra.settings import Settings

_MODULE = "workers.tasks"
_ENDING = "End"
_LOG = logging.getLogger(__name__)
# A connection that the broker has closed meanwhile costs one try; nobody waits longer for a bell.
_ONCE_MORE = {"max_retries": 1, "interval_start": 0, "interval_step": 0, "interval_max": 0}
BELL_EXPIRES_S = 60  # an old bell says nothing that the reconciler does not say again


def task_name(task: str) -> str:
    """Return the registered name of a step's task."""
    return f"{_MODULE}.{task}"


def make_app(settings: Settings) -> Celery:
    """Return the application for these settings; nothing connects yet."""
    app = Celery("signal_search", broker=broker_url(settings.broker))
    app.conf.update(
        broker_transport_options=transport_options(settings.broker),
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
        worker_disable_prefetch=_takes_one_by_one(settings),
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        # Under the lease of a step, so that a hung task dies before its step is given to another worker.
        task_soft_time_limit=settings.queue.lease_s * 0.8,
        task_time_limit=settings.queue.lease_s * 0.9,
    )
    return app


def _takes_one_by_one(settings: Settings) -> bool:
    """Say whether a worker asks for a message only when it has a process free. RabbitMQ keeps to the multiplier.

    A pool of threads does not wake the loop that asks: with all threads busy once, it would ask again a second later.
    """
    return is_redis(settings.broker) and POOLS[settings.worker_role] == "prefork"


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
            retry_policy=_ONCE_MORE,
        )
    except (OperationalError, OSError):  # the broker is away, or full
        _LOG.warning("a bell was not sent; the reconciler will ring")
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


class Ending(Background, Protocol):
    """What keeps the time when a worker ends."""

    def heard(self) -> None:
        """Note a signal to end; called in a signal handler."""
        ...


Pids = Callable[[], Sequence[int]]


def add_background(app: Celery, name: str, make: Callable[[str], Background]) -> None:
    """Run `make(worker name)` in every worker of this application, from after its pool is up until it stops."""
    _add_step(app, name, lambda worker: make(worker.hostname))


def add_ending(app: Celery, make: Callable[[Pids], Ending]) -> None:
    """End every worker of this application at SIGTERM and SIGINT, and tell `make(process ids of its pool)` of each.

    To be called before backgrounds are added.

    Celery's own handlers are replaced: they wait for ever at the first signal and lose what is at work at the second.
    """

    def begin(worker: Any) -> Ending:
        ending = make(lambda: worker.pool.info.get("processes", ()))

        def handle(_number: int, _frame: FrameType | None) -> None:
            vars(state)["should_stop"] = 0  # Celery's loop looks at it and ends with this exit code
            ending.heard()

        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, handle)
        return ending

    _add_step(app, _ENDING, begin)


def own_the_log(configure: Callable[[], None]) -> None:
    """Call `configure` where Celery would set up logging of its own."""

    def set_up(**_given: object) -> None:
        configure()

    signals.setup_logging.connect(set_up, weak=False)


def on_name(tell: Callable[[str], None]) -> None:
    """Call `tell` with the worker's name before its pool forks, so that the processes inherit what it did."""

    def begin(*, sender: str, **_more: object) -> None:
        tell(sender)

    signals.celeryd_init.connect(begin, weak=False)


def _add_step(app: Celery, name: str, make: Callable[[Any], Background]) -> None:
    def start(self: Any, worker: Any) -> None:
        self.background = make(worker)
        self.background.start()

    def stop(self: Any, _worker: Any) -> None:
        background = getattr(self, "background", None)
        if background is not None:
            background.stop()

    # The pool first: a pool that forks must not copy our threads. Then who hears signals, then the signs of life.
    steps = app.steps["worker"]
    before = {
        "celery.worker.components:Pool",
        *(each for each in steps if each.__name__ == _ENDING),
    }
    parts = {"requires": before, "start": start, "stop": stop, "terminate": stop}
    steps.add(type(name, (bootsteps.StartStopStep,), parts))
