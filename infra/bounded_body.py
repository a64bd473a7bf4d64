"""Decoding a reply's body within a limit: a 200 KB bomb stops at the limit, not at 67 MB (RFC 9110, 8.4)."""

import zlib

from signal_search.errors import BadReply

_GZIP_MAGIC = b"\x1f\x8b"
_OVERHEAD = 1024  # what an encoding may add to bytes it cannot make fewer, beside an eighth
_AUTO_GZIP = 32 + zlib.MAX_WBITS  # zlib or gzip, whichever the first bytes say


class BoundedBody:
    """Collects a body, decoding as it comes, and never holds more than `limit` bytes and one chunk.

    wire_bytes counts what was fed; full says that more than `limit` bytes came out, or so many went in that they should
    have, so that reading can stop.
    """

    def __init__(self, encoding: str, limit: int, *, plain: bool = False) -> None:
        """Start with the value of Content-Encoding; raises BadReply for one we did not ask for (plain: for any)."""
        self._decoder = _decoder(encoding)
        if plain and self._decoder is not None:
            raise BadReply("The reply is compressed, which was not asked for.")
        self._limit = limit
        self._most_wire = limit + limit // 8 + _OVERHEAD
        self._parts = bytearray()
        self.wire_bytes = 0
        self.full = False

    def feed(self, chunk: bytes) -> None:
        """Take the next raw chunk; raises BadReply when it cannot be decoded."""
        self.wire_bytes += len(chunk)
        room = self._limit - len(self._parts) + 1
        self._parts += self._decoder.decode(chunk, room) if self._decoder else chunk[:room]
        # A body may also unpack to nothing and never end: empty members, one after the other.
        self.full = len(self._parts) > self._limit or self.wire_bytes > self._most_wire

    def finish(self) -> bytes:
        """Return at most `limit` decoded bytes; raises BadReply when the encoding's end is missing."""
        if self._decoder and self.wire_bytes and not self.full and not self._decoder.ended:
            raise BadReply("The reply's body ends early.")
        return bytes(self._parts[: self._limit])


class _Inflater:
    """gzip (several members), zlib and raw deflate, with an upper bound for each step's output."""

    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(_AUTO_GZIP)
        self._fresh = True
        self._held = b""

    @property
    def ended(self) -> bool:
        return self._zlib.eof

    def decode(self, chunk: bytes, room: int) -> bytes:
        """Return at most `room` bytes; output beyond that is dropped, the caller stops then."""
        if (
            self._fresh
        ):  # which of the encodings it is shows in two bytes, and a slow server sends one
            chunk = self._held = self._held + chunk
            if len(chunk) < 2:
                return b""
        out = bytearray()
        while chunk and len(out) < room:
            out += self._step(chunk, room - len(out))
            chunk = self._next_member() if self._zlib.eof else b""
        return bytes(out)

    def _step(self, chunk: bytes, room: int) -> bytes:
        try:
            return self._zlib.decompress(chunk, room)
        except zlib.error as error:
            if not self._fresh:
                raise BadReply("The reply's body is damaged.") from error
            return self._as_raw_deflate(chunk, room)
        finally:
            self._fresh = False

    def _as_raw_deflate(self, chunk: bytes, room: int) -> bytes:
        self._zlib = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            return self._zlib.decompress(chunk, room)
        except zlib.error as error:
            raise BadReply("The reply's body is damaged.") from error

    def _next_member(self) -> bytes:
        """Return what follows the member that ended: another member, or padding, which is ignored."""
        rest = self._zlib.unused_data
        if not rest.startswith(_GZIP_MAGIC):
            return b""
        self._zlib = zlib.decompressobj(_AUTO_GZIP)
        return rest


def _decoder(encoding: str) -> _Inflater | None:
    named = encoding.strip().lower()
    if named in {"", "identity"}:
        return None
    if named in {"gzip", "x-gzip", "deflate"}:
        return _Inflater()
    raise BadReply("The reply's content encoding is not one we asked for.")
