"""The smallest HTTP server that can tell how polite its callers are: a process of its own, nothing of ours in it.

Every host name gets the same page and a robots.txt that allows it; `busy.*` asks for a Crawl-delay of a second.
GET /__log answers [[start in seconds, host, path], ...] by this process's monotonic clock and forgets it.

    python bench/raw_server.py PORT
"""

import asyncio
import json
import sys
import time
from typing import ClassVar

PAGE = (
    b"<!DOCTYPE html><html lang=en><head><title>Tides</title></head><body><article><h1>Tides</h1>"
    + b"<p>The tide at the pier turns every six hours and twelve minutes, and the ferry follows it.</p>"
    * 4
    + b"</article></body></html>"
)
ROBOTS = b"User-agent: *\nAllow: /\n"
SLOW_ROBOTS = ROBOTS + b"Crawl-delay: 1\n"


def reply(body: bytes, kind: bytes) -> bytes:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n" % (kind, len(body))
    return head + body


class Exchange(asyncio.Protocol):
    """One connection, kept open; a request is complete with its blank line, as a GET has no body."""

    log: ClassVar[list[tuple[float, str, str]]] = []

    def __init__(self) -> None:
        self.buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        began = time.monotonic()
        self.buffer += data
        while b"\r\n\r\n" in self.buffer:
            head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
            self.transport.write(self.answer(head, began))

    def answer(self, head: bytes, began: float) -> bytes:
        lines = head.split(b"\r\n")
        path = lines[0].split(b" ")[1]
        if path == b"/__log":
            taken = list(self.log)
            self.log.clear()
            return reply(json.dumps(taken).encode(), b"application/json")
        host = next(line[5:].strip() for line in lines if line[:5].lower() == b"host:")
        self.log.append((began, host.decode(), path.decode()))
        if path == b"/robots.txt":
            return reply(SLOW_ROBOTS if host.startswith(b"busy.") else ROBOTS, b"text/plain")
        return reply(PAGE, b"text/html; charset=utf-8")


async def main(port: int) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Exchange, "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
