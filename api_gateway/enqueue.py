"""The door's bell: a Celery producer that knows the names of tasks and queues and nothing of the workers.

A message is only a bell; the ledger of steps is the truth. So a bell that cannot be sent is logged and forgotten:
the reconciler rings again. Calls block for a round trip: keep them off the event loop.
"""

import logging

from celery import Celery
from celery.exceptions import OperationalError

from infra.broker import broker_url, transport_options
from infra.roles import TASK_QUEUES
from infra.settings import Settings

_LOG = logging.getLogger(__name__)

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

    def close(self) -> None:
        """Close the producer's connections."""
        self._app.close()
