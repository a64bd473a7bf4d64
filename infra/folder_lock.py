"""One owner per folder: a lock that the kernel drops by itself when its process ends, however it ends."""

import fcntl
import os
from pathlib import Path


class FolderLock:
    """A lock on a file, for one owner or for several who share; a second holder in the same process is refused too."""

    def __init__(self, path: Path) -> None:
        """Remember the file; nothing is opened yet."""
        self._path = path
        self._descriptor: int | None = None

    @property
    def is_held(self) -> bool:
        """Return whether the lock is ours."""
        return self._descriptor is not None

    def acquire(self) -> bool:
        """Take the lock for one owner if it is free; return whether it is ours now."""
        return self._take(fcntl.LOCK_EX)

    def share(self) -> bool:
        """Take the lock beside others who share it; return whether we do. An owner keeps sharers out."""
        return self._take(fcntl.LOCK_SH)

    def _take(self, how: int) -> bool:
        if self._descriptor is not None:
            return False
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, how | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        return True

    def release(self) -> None:
        """Give the lock back; safe to call twice. The file stays, or two owners could lock two files."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
