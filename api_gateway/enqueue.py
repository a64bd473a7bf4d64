"""The door's bell: a Celery producer that knows the names of tasks and queues and nothing of the workers.

A message is only a bell; the ledger of steps is the truth. So a bell that cannot be sent is logged and forgotten:
the reconciler rings again. Calls block for a round trip: keep them off the event loop.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Any, cast

from celery import Celery
from celery.exceptions import OperationalError
from kombu import Connection, Producer
from kombu.exceptions import KombuError

from infra.broker import broker_url, transport_options
from infra.roles import TASK_QUEUES, all_queues
from infra.settings import Settings

_LOG = logging.getLogger(__name__)

_TOGETHER = 100  # messages in one trip
_STEPS = 8  # of one task in one message: making a message costs more than planning in turn does
_MOST_WAITING = 1000  # batches of bells
_CLOSE_S = 5.0
_PAUSE_S = 0.01  # between two trips to the broker: bells that come meanwhile share messages
_EXPIRES_S = 60  # an old bell says nothing that the reconciler does not say again

# One try: a caller waits for the answer to the submission, which the bell is no part of.
_PATIENCE = {"max_retries": 1, "interval_start": 0, "interval_step": 0, "interval_max": 0}


class Bell:
    """Rings tasks for steps. Fails open: a lost bell costs one round of the reconciler."""

    def __init__(self, settings: Settings) -> None:
        """Prepare the producer; it connects on first use."""
        self._app = Celery(
            "signal_search_door", broker=broker_url(settings.broker), set_as_current=False
        )
        self._app.conf.update(
            broker_transport_options={**transport_options(settings.broker), **_PATIENCE},
            task_ignore_result=True,
            task_serializer="json",
            accept_content=["json"],
        )

    def ring(self, bells: Sequence[tuple[str, str]]) -> bool:
        """Send the bells of tasks for their steps, together; False when the broker did not take them all.

        Steps of one task share a message, and are then tried one after the other by one worker.
        """
        try:
            with (
                self._app.producer_pool.acquire(block=True) as producer,
                cast("Any", producer).batch(max_size=_TOGETHER),  # the stubs do not know it
            ):
                for task, step_ids in _by_task(bells):
                    self._send(producer, task, step_ids)
        except KombuError:
            _LOG.warning("bells were not sent; the reconciler will ring")
            return False
        return True

    def _send(self, producer: Producer, task: str, step_ids: Sequence[str]) -> None:
        self._app.send_task(
            f"workers.tasks.{task}",
            args=list(step_ids),
            queue=TASK_QUEUES[task],
            expires=_EXPIRES_S,
            ignore_result=True,
            retry=False,
            producer=producer,
        )

    def depths(self) -> dict[str, int]:
        """Return how many messages wait in each queue; empty when the broker does not answer."""
        try:
            with self._app.connection_for_read() as connection:
                connection.ensure_connection(max_retries=1, interval_start=0)
                return {queue: _depth(connection, queue) for queue in all_queues()}
        except (OperationalError, OSError):
            return {}

    def close(self) -> None:
        """Close the producer's connections."""
        self._app.close()


class Ringer:
    """Rings in a thread of its own, after the caller has its answer: the bell is no part of a submission.

    The first bell is rung at once. What comes in the moment behind it is rung together, since making a message costs
    as much as all else of a submission.
    """

    def __init__(self, bell: Bell) -> None:
        """Start the thread."""
        self._bell = bell
        self._waiting: SimpleQueue[Sequence[tuple[str, str]] | None] = SimpleQueue()
        self._closing = Event()
        self._thread = Thread(target=self._run, name="ringer", daemon=True)
        self._thread.start()

    def ring(self, bells: Sequence[tuple[str, str]]) -> None:
        """Have these rung soon. When too many wait already, a broker is away: the reconciler rings these."""
        if self._waiting.qsize() < _MOST_WAITING:
            self._waiting.put(bells)

    def close(self) -> None:
        """Ring what waits, then end the thread and the bell's connections."""
        self._closing.set()
        self._waiting.put(None)
        self._thread.join(_CLOSE_S)
        self._bell.close()

    def _run(self) -> None:
        is_open = True
        while is_open:
            bells, is_open = self._next()
            if bells:
                self._bell.ring(bells)
                self._closing.wait(_PAUSE_S)

    def _next(self) -> tuple[list[tuple[str, str]], bool]:
        """Wait for bells; return all that wait, and whether more may come."""
        bells: list[tuple[str, str]] = []
        each = self._waiting.get()
        try:
            while each is not None:
                bells += each
                each = self._waiting.get_nowait()
        except Empty:
            return bells, True
        return bells, False


def _by_task(bells: Iterable[tuple[str, str]]) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield each task with some of its steps, in order."""
    steps: dict[str, list[str]] = {}
    for task, step_id in bells:
        steps.setdefault(task, []).append(step_id)
    for task, step_ids in steps.items():
        for start in range(0, len(step_ids), _STEPS):
            yield task, step_ids[start : start + _STEPS]


def _depth(connection: Connection, queue: str) -> int:
    channel: Any
    # On Redis nothing is declared, and asking whether the queue exists forgets the prefix of its key.
    passive = connection.transport.driver_type != "redis"
    try:
        with connection.channel() as channel:  # a queue that is not there costs its channel
            return int(channel.queue_declare(queue, passive=passive).message_count)
    except connection.channel_errors:
        return 0  # nothing was ever sent there
