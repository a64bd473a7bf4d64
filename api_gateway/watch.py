"""Waiting for jobs in one event loop: blocking reads of their logs over one shared client, never a poll loop.

Each waiter holds a connection while it waits, so there are only so many at a time; one more is refused at once.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from signal_search.contracts.trace import Ended
from signal_search.errors import Busy

from infra.clock import Clock
from infra.job_log import START, AsyncJobLog, Located

if TYPE_CHECKING:
    from redis.asyncio import Redis as AsyncRedis

Hearing = Callable[[], Awaitable[Mapping[str, Any]]]  # what an ASGI connection says next

_MAX_WAITERS = 200  # below the client's connections (infra/redis.py)
_RETRY_AFTER_S = 5.0
_ASK_AGAIN_S = 0.05
_READ_MS = 15_000  # under the client's socket timeout


class Watch:
    """Follows job logs. Belongs to one event loop. Raises StoreFailed when the store does not answer."""

    def __init__(
        self, redis: "AsyncRedis", clock: Clock, *, max_waiters: int = _MAX_WAITERS
    ) -> None:
        """Read over `redis`, for at most `max_waiters` at a time."""
        self._log = AsyncJobLog(redis)
        self._clock = clock
        self._free = max_waiters
        self._closing: asyncio.Future[None] | None = None
        self.is_closing = False

    def check_place(self) -> None:
        """Raise Busy when all places are taken: to be asked while a proper refusal can still be sent."""
        if self._free <= 0:
            raise Busy(retry_after_s=_RETRY_AFTER_S)

    @contextmanager
    def place(self) -> Iterator[None]:
        """Take one of the places for as long as the block runs.

        Raises:
            Busy: all are taken.
        """
        self.check_place()
        self._free -= 1
        try:
            yield
        finally:
            self._free += 1

    def close(self) -> None:
        """Let all who wait go at once, and nobody wait from now on: this process is about to end."""
        self.is_closing = True
        if self._closing is not None and not self._closing.done():
            self._closing.set_result(None)

    async def read(self, job_id: str, *, after: str, timeout_ms: int) -> list[Located]:
        """Return entries after a stream id, waiting for the first up to `timeout_ms`; empty when none came."""
        if self.is_closing:
            return []
        if self._closing is None:
            self._closing = asyncio.get_running_loop().create_future()
        reading = asyncio.ensure_future(self._log.wait(job_id, after=after, timeout_ms=timeout_ms))
        either: set[asyncio.Future[Any]] = {reading, self._closing}
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            return reading.result() if reading.done() else []
        finally:
            if not reading.done():
                await _stop(reading)

    async def ended(self, job_id: str, *, within_s: float, receive: Hearing) -> bool:
        """Return True once the job has ended; False when `within_s` are over, the caller has left or we close."""
        with self.place():
            end = asyncio.create_task(self._reach_end(job_id, within_s))
            left = asyncio.create_task(_until_left(receive))
            try:
                await asyncio.wait({end, left}, return_when=asyncio.FIRST_COMPLETED)
                return end.done() and end.result()
            finally:
                await _stop(end, left)

    async def _reach_end(self, job_id: str, within_s: float) -> bool:
        deadline = self._clock.monotonic() + within_s
        after = START
        while (left_ms := self._left_ms(deadline)) > 0:
            found = await self.read(job_id, after=after, timeout_ms=min(left_ms, _READ_MS))
            if has_ended(found):
                return True
            after = found[-1][0] if found else after
        return False

    def _left_ms(self, deadline: float) -> int:
        return 0 if self.is_closing else int((deadline - self._clock.monotonic()) * 1000)


def has_ended(entries: list[Located]) -> bool:
    """Return whether the terminal entry is among these."""
    return any(isinstance(entry, Ended) for _id, entry in entries)


async def _until_left(receive: Hearing) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _stop(*tasks: "asyncio.Task[Any]") -> None:
    # The client's library loses a cancellation that comes while it connects: ask until it is heard.
    open_tasks = set(tasks)
    while open_tasks:
        for each in open_tasks:
            each.cancel()
        _, open_tasks = await asyncio.wait(open_tasks, timeout=_ASK_AGAIN_S)
    await asyncio.gather(*tasks, return_exceptions=True)  # nobody else takes their errors
