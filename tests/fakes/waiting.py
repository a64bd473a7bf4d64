"""For real processes alone: until something is so, and whether a process still runs."""

import time
from collections.abc import Callable
from pathlib import Path

_WAIT_S = 40.0
_LOOK_S = 0.01


def wait_until(predicate: Callable[[], object], description: str) -> None:
    """Return as soon as the predicate holds.

    Raises:
        AssertionError: it does not hold within 40 s.
    """
    ends = time.monotonic() + _WAIT_S
    while not predicate():
        if time.monotonic() > ends:
            raise AssertionError(f"never happened: {description}")
        time.sleep(_LOOK_S)


def is_running(pid: int) -> bool:
    """Return whether the process runs; a zombie that nobody has reaped yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
