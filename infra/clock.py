"""Time is asked for, so that it can be faked: the only module that reads the machine's clock."""

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Wall-clock and monotonic time."""

    def now_ms(self) -> int:
        """Return the epoch time in milliseconds."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never run backwards."""
        ...


class SystemClock:
    """The machine's clock."""

    def now_ms(self) -> int:
        """Return the epoch time in milliseconds."""
        return time.time_ns() // 1_000_000

    def monotonic(self) -> float:
        """Return seconds that never run backwards."""
        return time.monotonic()


class FixedClock:
    """A clock that moves only when told to: for replay and tests."""

    def __init__(self, now_ms: int) -> None:
        """Start at `now_ms` epoch milliseconds."""
        self._now_ms = now_ms

    def now_ms(self) -> int:
        """Return the time it was set to."""
        return self._now_ms

    def monotonic(self) -> float:
        """Return the same time in seconds."""
        return self._now_ms / 1000

    def advance(self, ms: int) -> None:
        """Move forward by `ms` milliseconds."""
        self._now_ms += ms


def iso(ms: int) -> str:
    """Return epoch milliseconds as ISO 8601 in UTC, to the second."""
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def iso_until(ms: int) -> str:
    """Return the first full second at or after `ms`: who comes back then does not come too early."""
    return iso(-(-ms // 1000) * 1000)
