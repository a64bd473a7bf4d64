"""Virtual time: a queue of what is to happen next, and a clock that jumps there."""

import heapq
from collections.abc import Awaitable, Callable
from itertools import count

from infra.clock import FixedClock

START_MS = 1_790_000_000_000
Work = Callable[[], Awaitable[None]]


class Timeline:
    """Runs work in the order of its time; what is due at the same time, in the order in which it was asked for."""

    def __init__(self) -> None:
        self.clock = FixedClock(START_MS)
        self.events = 0
        self._queue: list[tuple[int, int, Work]] = []
        self._numbers = count()

    @property
    def now_ms(self) -> int:
        return self.clock.now_ms()

    def at(self, when_ms: int, work: Work) -> None:
        """Do `work` at a time, now if that has passed."""
        heapq.heappush(self._queue, (max(when_ms, self.now_ms), next(self._numbers), work))

    def after(self, ms: int, work: Work) -> None:
        """Do `work` in so many milliseconds."""
        self.at(self.now_ms + ms, work)

    def every(self, ms: int, work: Work) -> None:
        """Do `work` again and again, first in so many milliseconds."""

        async def again() -> None:
            await work()
            self.after(ms, again)

        self.after(ms, again)

    async def run(self, is_over: Callable[[], bool]) -> None:
        """Let time pass until it is over or nothing is left to happen."""
        while self._queue and not is_over():
            when_ms, _, work = heapq.heappop(self._queue)
            self.clock.advance(when_ms - self.now_ms)
            self.events += 1
            await work()
