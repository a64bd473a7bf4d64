"""The store's time of day: one for all machines, whatever their own clocks say.

Deadlines are written by one machine and read by another, and leases are counted by the store. So every process takes
the time from the store once and carries it on with its own monotonic clock, which no correction of the time of day
moves; it asks again now and then, since two clocks never run quite alike.
"""

from collections.abc import Callable

from signal_search.errors import StoreFailed

from infra.clock import Clock, SystemClock
from infra.redis import time_ms

_ASK_AGAIN_S = 300.0  # two clocks that differ by 100 ppm are 30 ms apart by then
_RETRY_S = 10.0


class StoreClock:
    """A `Clock` whose time of day is the store's. Threads may share it, and a forked process may go on with it."""

    def __init__(
        self, redis_url: str, *, machine: Clock | None = None, ask: Callable[[str], int] = time_ms
    ) -> None:
        """Take the time from the store at `redis_url`, on first use; `machine` counts the seconds in between."""
        self._redis_url = redis_url
        self._machine = machine or SystemClock()
        self._ask = ask
        self._offset_ms: float | None = None
        self._ask_at_s = 0.0

    def now_ms(self) -> int:
        """Return the epoch time in milliseconds.

        Raises:
            StoreFailed: the store has never answered. Later a store that is away changes nothing.
        """
        offset_ms = self._offset_ms
        if offset_ms is None or self._machine.monotonic() >= self._ask_at_s:
            offset_ms = self._learn(offset_ms)
        return int(self._machine.monotonic() * 1000 + offset_ms)

    def monotonic(self) -> float:
        """Return seconds that never run backwards."""
        return self._machine.monotonic()

    def _learn(self, known_ms: float | None) -> float:
        before_s = self._machine.monotonic()
        self._ask_at_s = before_s + _RETRY_S  # other threads go on with what is known
        try:
            answer_ms = self._ask(self._redis_url)
        except StoreFailed:
            if known_ms is None:
                raise
            return known_ms
        after_s = self._machine.monotonic()
        self._ask_at_s = after_s + _ASK_AGAIN_S
        # The store's clock was read somewhere between asking and hearing.
        self._offset_ms = answer_ms - (before_s + after_s) * 500
        return self._offset_ms
