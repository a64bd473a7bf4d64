"""The door's bell: a Celery producer that knows the names of tasks and queues and nothing of the workers.

A message is only a bell; the ledger of steps is the truth. So a bell that cannot be sent is logged and forgotten:
the reconciler rings again. Calls block for a round trip: keep them off the event loop.
"""

import logging
from typing import Any

from celery import Celery
from celery.exceptions import OperationalError
from kombu import Connection

from infra.embedded_redis import broker_url
from infra.roles import BROKER_PREFIX, TASK_QUEUES, all_queues
from infra.settings import Settings

_LOG = logging.getLogger(__name__)

_EXPIRES_S = 60  # an old bell says nothing that the reconciler does not say again

# The same as the workers' (a test compares them): a message must arrive where they listen.
TRANSPORT_OPTIONS: dict[str, object] = {
    "ack_emulation": False,
    "global_keyprefix": BROKER_PREFIX,
    "socket_timeout": 30,
    "socket_connect_timeout": 5,
    "socket_keepalive": True,
    "health_check_interval": 25,
}
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
            broker_transport_options={**TRANSPORT_OPTIONS, **_PATIENCE},
            task_ignore_result=True,
            task_serializer="json",
            accept_content=["json"],
        )

    def ring(self, task: str, step_id: str) -> bool:
        """Send the bell of `task` for a step; False when the broker did not take it."""
        try:
            self._app.send_task(
                f"workers.tasks.{task}",
                args=[step_id],
                queue=TASK_QUEUES[task],
                expires=_EXPIRES_S,
                ignore_result=True,
                retry=False,
            )
        except OperationalError:
            _LOG.warning("a bell was not sent; the reconciler will ring")
            return False
        return True

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


def _depth(connection: Connection, queue: str) -> int:
    channel: Any
    # On Redis nothing is declared, and asking whether the queue exists forgets the prefix of its key.
    passive = connection.transport.driver_type != "redis"
    try:
        with connection.channel() as channel:  # a queue that is not there costs its channel
            return int(channel.queue_declare(queue, passive=passive).message_count)
    except connection.channel_errors:
        return 0  # nothing was ever sent there
