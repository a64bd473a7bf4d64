"""The end of a gateway in good order: who waits for a job is let go as soon as the signal comes.

The server itself stops to listen, finishes open requests and then closes; but a stream of events or a caller that waits
would keep it until its limit. Both lose nothing: a stream is gone on with by Last-Event-ID, a job by its address.
"""

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_ENDS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def told_to_end(tell: Callable[[], None]) -> Iterator[None]:
    """Call `tell` on the running event loop at SIGTERM and SIGINT, after whoever listened before.

    Only the main thread of a process hears signals; elsewhere (an application inside another) this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in _ENDS}

    def heard(number: int, frame: FrameType | None) -> None:
        previous = before[signal.Signals(number)]
        if callable(previous):
            previous(number, frame)
        loop.call_soon_threadsafe(tell)

    for number in _ENDS:
        signal.signal(number, heard)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
