"""Finds what was lost: overdue bells, expired leases and holds, jobs without a step. Runs in every worker."""

import threading
from collections.abc import Callable

import structlog
from signal_search.errors import StoreFailed

from infra.heartbeat import beat, leave
from infra.metrics import Publisher
from infra.roles import Role
from workers.pipeline.look_after import look_after_jobs
from workers.pipeline.source_board import post_sources, repost_sources
from workers.toolbox import Toolbox

_log = structlog.get_logger("workers.reconciler")


class Reconciler:
    """A thread that looks once a second. Safe to run in any number of workers."""

    def __init__(
        self,
        tools: Toolbox,
        publisher: Publisher,
        *,
        worker: str,
        role: Role,
        pid: int,
    ) -> None:
        """Prepare; `worker` is the name under which this worker says that it lives."""
        self._tools = tools
        self._publisher = publisher
        self._worker = worker
        self._role: Role = role
        self._pid = pid
        self._started_ms = 0
        self._period_s = tools.settings.queue.reconcile_s
        self._ended = threading.Event()
        self._resigned = False
        self._thread = threading.Thread(target=self._run, name="reconciler", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def resign(self) -> None:
        """Take down the sign of life, for a worker that takes nothing new; lost bells are still rung."""
        self._resigned = True
        leave(self._tools.redis, self._worker)

    def stop(self) -> None:
        """Stop looking, publish the last counts and take down the sign of life."""
        self._ended.set()
        self._thread.join(5)
        self._publisher.publish(at_once=True)
        _unless_store_fails(lambda: leave(self._tools.redis, self._worker))

    def _run(self) -> None:
        next_beat = 0.0
        _unless_store_fails(lambda: post_sources(self._tools))
        while True:
            if self._tools.clock.monotonic() >= next_beat:
                next_beat = self._tools.clock.monotonic() + self._tools.settings.queue.heartbeat_s
                _unless_store_fails(self._beat)
            _unless_store_fails(self.look)
            if self._ended.wait(self._period_s):
                return

    def look(self) -> int:
        """Ring every overdue bell once, give back expired holds, look after jobs; return how many bells were rung.

        A broker that takes no bell is asked again at the next look: each may cost seconds, and the sign of life waits.
        """
        rung = 0
        for step_id, task in self._tools.steps.overdue():
            if self._tools.bell(task, step_id) is False:
                break
            rung += 1
        self._tools.ledger.expire()
        look_after_jobs(self._tools)
        return rung

    def _beat(self) -> None:
        self._publisher.publish()
        if self._resigned:
            return
        repost_sources(self._tools)
        self._started_ms = self._started_ms or self._tools.clock.now_ms()
        beat(
            self._tools.redis,
            self._worker,
            self._role,
            pid=self._pid,
            started_ms=self._started_ms,
        )


def _unless_store_fails(work: Callable[[], object]) -> None:
    # The store may be restarting; the next look finds what this one missed.
    try:
        work()
    except StoreFailed:
        _log.warning("the store does not answer")
