"""From many requests at once to few trips: what arrives while a batch is being made is the next batch.

One thread makes jobs, so that the event loop never waits for the store. A caller alone is a batch of one and waits for
nobody; under load the cost of trips and threads is shared.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from threading import Thread

from signal_search.contracts.job import AnyRequest, Job
from signal_search.errors import SignalSearchError

from api_gateway.problems import attempted
from api_gateway.submission import Asked, Caller

_LOG = logging.getLogger(__name__)

_MOST = 64  # submissions in a batch
_CLOSE_S = 5.0

Answer = tuple[Job, bool]
Outcome = Answer | BaseException
Submit = Callable[[Sequence[Asked]], Sequence[Answer | SignalSearchError]]
Waiting = tuple[Asked, "asyncio.Future[Answer]"]


class Intake:
    """Belongs to one event loop, the one it is made in."""

    def __init__(self, submit: Submit) -> None:
        """Start the thread; `submit` makes the jobs of one batch."""
        self._submit = submit
        self._loop = asyncio.get_running_loop()
        self._waiting: SimpleQueue[Waiting | None] = SimpleQueue()
        self._thread = Thread(target=self._run, name="intake", daemon=True)
        self._thread.start()

    async def submit(self, request: AnyRequest, caller: Caller) -> Answer:
        """Return the job and whether this call made it; raises as `Desk.submit`."""
        future: asyncio.Future[Answer] = self._loop.create_future()
        self._waiting.put(((request, caller), future))
        return await future

    async def close(self) -> None:
        """End the thread after what waits."""
        self._waiting.put(None)
        await asyncio.to_thread(self._thread.join, _CLOSE_S)

    def _run(self) -> None:
        is_open = True
        while is_open:
            batch, is_open = self._next()
            if batch:
                outcomes = self._outcomes([asked for asked, _ in batch])
                futures = [future for _, future in batch]
                self._loop.call_soon_threadsafe(_tell, futures, outcomes)

    def _next(self) -> tuple[list[Waiting], bool]:
        batch: list[Waiting] = []
        each = self._waiting.get()
        try:
            while each is not None:
                batch.append(each)
                if len(batch) == _MOST:
                    return batch, True
                each = self._waiting.get_nowait()
        except Empty:
            return batch, True
        return batch, False

    def _outcomes(self, asked: list[Asked]) -> list[Outcome]:
        made = attempted(lambda: self._submit(asked))
        if not isinstance(made, Exception):
            return list(made)
        if isinstance(made, SignalSearchError) or len(asked) == 1:
            return [made] * len(asked)
        # A bug: one request must not fail those beside it.
        _LOG.error("a batch of submissions failed; each is tried alone", exc_info=made)
        return [outcome for each in asked for outcome in self._outcomes([each])]


def _tell(futures: list["asyncio.Future[Answer]"], outcomes: list[Outcome]) -> None:
    for future, outcome in zip(futures, outcomes, strict=True):
        if future.done():  # its request was given up
            continue
        if isinstance(outcome, BaseException):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)
