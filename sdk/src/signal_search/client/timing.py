"""Time as the client needs it: passed in, so that waiting can be tested without waiting.

The desk stands below infra and so cannot ask its Clock; this is the desk's own, with nothing but a monotonic reading
and a pause.
"""

import asyncio
import threading
import time
from typing import Protocol


class Timing(Protocol):
    """Seconds that never run backwards, and a way to let some pass."""

    def monotonic(self) -> float:
        """Return seconds from an arbitrary start."""
        ...

    async def pause(self, seconds: float) -> None:
        """Return after so many seconds."""
        ...


class BlockingTiming:
    """Pauses the calling thread, and never suspends; Ctrl-C ends a pause."""

    def monotonic(self) -> float:
        """Return seconds from an arbitrary start."""
        return time.monotonic()

    async def pause(self, seconds: float) -> None:
        """Block for so many seconds."""
        threading.Event().wait(seconds)


class LoopTiming:
    """Pauses the calling asyncio task only."""

    def monotonic(self) -> float:
        """Return seconds from an arbitrary start."""
        return time.monotonic()

    async def pause(self, seconds: float) -> None:
        """Suspend for so many seconds."""
        await asyncio.sleep(seconds)
