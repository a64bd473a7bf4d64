"""The smallest HTTP server that can tell how polite its callers are: a process of its own, nothing of ours in it.

Every host name gets the same page and a robots.txt that allows it; `busy.*` asks for a Crawl-delay of a second, and
the pages of `site*` lead to forty more. GET /__log answers [[start, end, host, path], ...] of the requests answered
since it was last asked, in seconds by this machine's monotonic clock. GET /__delay/MS answers later by that much.

    python bench/raw_server.py PORT
"""

import asyncio
import json
import sys
import time
from typing import ClassVar, cast

import uvloop
from typing_extensions import override

_TEXT = (
    b"<p>The tide at the pier turns every six hours and twelve minutes, and the ferry follows it.</p>"
    * 4
)
_LINKS = b"".join(
    b'<p><a href="/tide/%d">The tide at pier %d</a></p>' % (at, at) for at in range(1, 41)
)
_HEAD = (
    b"<!DOCTYPE html><html lang=en><head><title>Tides</title></head><body><article><h1>Tides</h1>"
)
_FOOT = b"</article></body></html>"
PAGE = _HEAD + _TEXT + _FOOT
SITE_PAGE = _HEAD + _TEXT + _LINKS + _FOOT
ROBOTS = b"User-agent: *\nAllow: /\n"
SLOW_ROBOTS = ROBOTS + b"Crawl-delay: 1\n"
HTML, PLAIN, JSON = b"text/html; charset=utf-8", b"text/plain", b"application/json"


def reply(body: bytes, kind: bytes) -> bytes:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n" % (kind, len(body))
    return head + body


def answer(host: bytes, path: bytes) -> bytes:
    if path == b"/robots.txt":
        return reply(SLOW_ROBOTS if host.startswith(b"busy.") else ROBOTS, PLAIN)
    return reply(SITE_PAGE if host.startswith(b"site") else PAGE, HTML)


class Exchange(asyncio.Protocol):
    """One connection, kept open; a request is complete with its blank line, as a GET has no body."""

    log: ClassVar[list[tuple[float, float, str, str]]] = []
    delay_s: ClassVar[float] = 0.0

    def __init__(self) -> None:
        self.buffer = b""

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    @override
    def data_received(self, data: bytes) -> None:
        began = time.monotonic()
        self.buffer += data
        while b"\r\n\r\n" in self.buffer:
            head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
            self.serve(head, began)

    def serve(self, head: bytes, began: float) -> None:
        lines = head.split(b"\r\n")
        path = lines[0].split(b" ")[1]
        if path.startswith(b"/__"):
            self.transport.write(reply(self.control(path), JSON))
            return
        host = next(line[5:].strip() for line in lines if line[:5].lower() == b"host:")
        if self.delay_s:
            asyncio.get_running_loop().call_later(self.delay_s, self.finish, host, path, began)
        else:
            self.finish(host, path, began)

    def finish(self, host: bytes, path: bytes, began: float) -> None:
        """Answer; a caller that is gone meanwhile was served all the same."""
        self.log.append((began, time.monotonic(), host.decode(), path.decode()))
        if not self.transport.is_closing():
            self.transport.write(answer(host, path))

    def control(self, path: bytes) -> bytes:
        if path.startswith(b"/__delay/"):
            Exchange.delay_s = float(path.rsplit(b"/", 1)[1]) / 1000
            return b"[]"
        taken = list(self.log)
        self.log.clear()
        return json.dumps(taken).encode()


async def main(port: int) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Exchange, "127.0.0.1", port, backlog=2048)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1])))
