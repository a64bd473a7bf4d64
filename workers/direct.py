"""The whole walk in this process, over a store of its own that is gone afterwards: for one question without a gateway.

No broker and no reconciler: bells are a queue, and what nobody rings here is looked up. The store is a real one, so
that every step, budget and pause is what it is in a deployment.
"""

import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Final

import structlog
from signal_search.errors import SignalSearchError, StoreFailed

from infra.embedded_redis import EmbeddedRedis
from infra.logging import configure
from infra.settings import Settings, current
from workers.fetch_loop import FetchLoop
from workers.pipeline.attempt import Work, attempt
from workers.pipeline.crawl import crawl
from workers.pipeline.plan import plan
from workers.pipeline.recall import recall
from workers.pipeline.reduce import reduce
from workers.pipeline.source_board import post_sources
from workers.toolbox import Toolbox, open_toolbox

_WORK: Final[dict[str, Work]] = {
    "plan": plan,
    "crawl": crawl,
    "recall": recall,
    "reduce": reduce,
}
_LOOK_S: Final = 0.01  # for jobs that were submitted
_OVERDUE_S: Final = 0.5  # for steps whose time has come
_END_S: Final = 10.0
_LOG_LEVEL: Final = "WARNING"  # who asks one question reads its answer, not the steps

_log = structlog.get_logger("workers.direct")


@contextmanager
def open_direct() -> Iterator[str]:
    """Run workers in this process until the block ends; yield the address of their store.

    Raises:
        StoreFailed: no store could be started.
    """
    settings = current()
    quiet = settings.log.model_copy(update={"level": _LOG_LEVEL})
    configure(quiet)
    with tempfile.TemporaryDirectory(prefix="signal-search-") as folder:
        store = EmbeddedRedis(Path(folder))
        walk = DirectWalk(settings.model_copy(update={"redis_url": store.start()}))
        walk.start()
        try:
            yield store.url
        finally:
            walk.stop()
            store.stop()


class DirectWalk:
    """Steps in one thread, fetches in another."""

    def __init__(self, settings: Settings) -> None:
        """Prepare; nothing runs before `start`."""
        self._bells: SimpleQueue[tuple[str, str]] = SimpleQueue()
        self._tools: Toolbox = open_toolbox(settings, self._ring)
        self._fetching = FetchLoop(settings, self._ring)
        self._seen: set[str] = set()
        self._looked_s = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="direct", daemon=True)

    def start(self) -> None:
        """Begin to work."""
        post_sources(self._tools)
        self._fetching.start()
        self._thread.start()

    def stop(self) -> None:
        """End after the step at work."""
        self._ended.set()
        self._thread.join(_END_S)
        self._fetching.stop()
        self._tools.redis.close()

    def _ring(self, task: str, step_id: str) -> None:
        self._bells.put((task, step_id))

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                self._try(*self._bells.get(timeout=_LOOK_S))
            except Empty:
                with suppress(StoreFailed):
                    self._look()

    def _look(self) -> None:
        """Ring for jobs that were submitted next to this, and for steps whose time has come."""
        for job_id in self._tools.store.open_jobs():
            if job_id not in self._seen:
                self._seen.add(job_id)
                self._ring("plan", f"{job_id}/plan")
        now_s = self._tools.clock.monotonic()
        if now_s - self._looked_s >= _OVERDUE_S:
            self._looked_s = now_s
            for step_id, task in self._tools.steps.overdue():
                self._ring(task, step_id)

    def _try(self, task: str, step_id: str) -> None:
        try:
            attempt(self._tools, step_id, _WORK[task])
        except SignalSearchError as error:
            _log.warning("step failed and will be tried again", code=error.code, step=step_id)
