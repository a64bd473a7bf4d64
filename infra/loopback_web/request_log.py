"""Every request with its times: what tests count and measure distances in."""

from collections import deque
from typing import TextIO

import msgspec
from msgspec import Struct

_KEPT = 100_000


class Entry(Struct, frozen=True, kw_only=True):
    """One request. t_start and t_end: epoch milliseconds; status 0: the connection was reset on order."""

    t_start: int
    t_end: int
    host: str
    method: str
    path: str
    status: int
    user_agent: str
    complaint: str = ""


class RequestLog:
    """The last hundred thousand requests, and a file of JSON lines if one is given."""

    def __init__(self, file: TextIO | None = None) -> None:
        """Write to `file` as well, line by line."""
        self._entries: deque[Entry] = deque(maxlen=_KEPT)
        self._file = file

    def add(self, entry: Entry) -> None:
        """Append an entry. Appending to a deque is atomic, so readers in other threads need no lock."""
        self._entries.append(entry)
        if self._file is not None:
            self._file.write(msgspec.json.encode(entry).decode() + "\n")
            self._file.flush()

    def entries(self, host: str = "") -> list[Entry]:
        """Return the requests in the order they ended, of one host or of all."""
        return [entry for entry in tuple(self._entries) if host in {"", entry.host}]

    def clear(self) -> None:
        """Forget what was logged; the file stays."""
        self._entries.clear()
