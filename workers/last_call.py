"""The end of a worker in good order and in bounded time: what SIGTERM and SIGINT mean.

The first signal: nothing new is taken, what is at work may finish. After `queue.stop_s`, or at the second signal, what
is left is handed back, so that another worker takes it at once instead of when a lease has expired. Some seconds later
the process is gone, with exit code 0, whatever hangs.
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue

import structlog
from signal_search.errors import StoreFailed

_log = structlog.get_logger("workers.last_call")

HAND_BACK_S = 3.0
"""How long handing back may take before the process ends without it."""

_EACH_S = 1.0

Work = Callable[[], object]


class LastCall:
    """A thread that waits for the signals of its process and keeps the time of its end.

    first: what to do at the first signal; late: what to do when the time is over, or at the second one.
    pool: returns the ids of the processes that work on tasks; they are told to leave when the time is over.
    """

    def __init__(
        self,
        *,
        within_s: float,
        first: Sequence[Work],
        late: Sequence[Work],
        pool: Callable[[], Sequence[int]] = tuple,
    ) -> None:
        """Prepare to give what is at work `within_s` seconds to finish."""
        self._within_s = within_s
        self._first = first
        self._late = late
        self._pool = pool
        # Its put may interrupt itself, which a lock's owner may not: signals come at any time.
        self._signals: SimpleQueue[None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="last-call", daemon=True)

    def start(self) -> None:
        """Begin to wait for a signal."""
        self._thread.start()

    def stop(self) -> None:
        """Do nothing: the thread watches until the process has ended."""

    def heard(self) -> None:
        """Note a signal; safe to call from a signal handler."""
        self._signals.put(None)

    def _run(self) -> None:
        self._signals.get()
        _log.info("ending: nothing new is taken", within_s=self._within_s)
        _do(self._first)
        with suppress(Empty):
            self._signals.get(timeout=self._within_s)
        _log.warning("ending: what is left is handed back")
        for pid in self._pool():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        _do(self._late)
        with suppress(Empty):  # usually the process has ended before this is over
            self._signals.get(timeout=HAND_BACK_S)
        for child in multiprocessing.active_children():
            child.kill()
        os._exit(0)


def _do(works: Sequence[Work]) -> None:
    """Do all at once, and wait for each a second at most: a store that hangs must not keep the process."""
    threads = [threading.Thread(target=_try, args=(work,), daemon=True) for work in works]
    for each in threads:
        each.start()
    for each in threads:
        each.join(_EACH_S)


def _try(work: Work) -> None:
    try:
        work()
    except StoreFailed:
        _log.warning("the store does not answer; what is left is left to its lease")
