"""Server-Sent Events (WHATWG HTML 9.2.6): bytes in, log lines out, without I/O.

Lines end at CR, LF or CRLF only. Splitting text by `str.splitlines` would also cut at U+2028, which JSON may hold.
"""

import re
from collections.abc import Iterator

import msgspec

from signal_search.contracts.trace import LogEntry
from signal_search.errors import Failed

_LINE_END = re.compile(rb"\r\n|\n|\r")
_MOST_BYTES = (
    32 * 1024 * 1024
)  # far above the largest entry; a stream without line ends must not fill the memory
_DECODER = msgspec.json.Decoder(LogEntry)


class EventStream:
    """The state between two chunks of a stream: an unfinished line and an unfinished event."""

    def __init__(self) -> None:
        """Start before the first byte."""
        self._rest = bytearray()
        self._searched = 0
        self._id = ""
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> Iterator[tuple[str, LogEntry | None]]:
        """Yield (id, entry) of each event the chunk completes; entry is None for a kind this version does not know.

        A chunk that completes no event yields ("", None): a keep-alive or a part, in any case a sign of life.

        Raises:
            Failed: gateway_bad_reply, when a line is larger than 32 MiB.
        """
        silent = True
        for line in self._lines(chunk):
            if line:
                self._take(line)
            elif self._data:
                silent = False
                yield self._id, self._entry()
        if silent:
            yield "", None

    def _lines(self, chunk: bytes) -> Iterator[bytes]:
        self._rest += chunk
        if len(self._rest) > _MOST_BYTES:
            raise Failed("the gateway sent an endless line", code="gateway_bad_reply")
        start = 0
        for end in _LINE_END.finditer(self._rest, self._searched):
            if end[0] == b"\r" and end.end() == len(self._rest):
                break  # its LF may come with the next chunk
            yield bytes(self._rest[start : end.start()])
            start = end.end()
        self._keep(start)

    def _keep(self, start: int) -> None:
        del self._rest[:start]
        self._searched = max(0, len(self._rest) - 1)

    def _take(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
        elif name == b"id" and b"\0" not in value:
            self._id = value.decode("utf-8", "replace")

    def _entry(self) -> LogEntry | None:
        data, self._data = b"\n".join(self._data), []
        try:
            return _DECODER.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
