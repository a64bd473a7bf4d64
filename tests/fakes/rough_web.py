"""A server on 127.0.0.1 that sends exactly what a script says, byte by byte: for hosts that no framework would serve.

One asyncio loop in a thread, name-based virtual hosts, one request per connection. The log says of each request when
it arrived and when the exchange was over for the server, so that two in flight at one host are seen.
"""

import asyncio
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Literal, NamedTuple

End = Literal["close", "reset", "stall"]


class Play(NamedTuple):
    """What a host does with one request: pieces of bytes, a pause after each, and an end.

    reset: RST instead of FIN. stall: nothing more until the client hangs up.
    """

    pieces: tuple[bytes, ...] = ()
    pause_s: float = 0.0
    end: End = "close"


class Seen(NamedTuple):
    """One request. `start_s` and `end_s` are monotonic; `ahead` were in flight at the same host when it came."""

    start_s: float
    end_s: float
    host: str
    target: str
    agent: str
    ahead: int

    @property
    def path(self) -> str:
        return self.target.split("?", 1)[0]


Script = Play | Callable[[], Play]
Routes = Mapping[str, Script]

Head = tuple[tuple[str, str], ...]


def head(status: int, headers: Head, length: int | None) -> bytes:
    """Return a status line and headers as they go over the wire."""
    sized = () if length is None else (("Content-Length", str(length)),)
    lines = [f"HTTP/1.1 {status} Scripted"]
    lines += [f"{name}: {value}" for name, value in (*headers, *sized, ("Connection", "close"))]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"


def reply(
    body: bytes, kind: str = "text/html; charset=utf-8", status: int = 200, **more: str
) -> Play:
    """Return a whole answer; `more` are further headers with `_` for `-`."""
    named = tuple((name.replace("_", "-"), value) for name, value in more.items())
    sized = head(status, ((("Content-Type", kind),) if kind else ()) + named, len(body))
    return Play((sized + body,))


class RoughWeb:
    """Hosts and their routes; what is not routed is 404. Started and stopped by `running`."""

    def __init__(self, hosts: Mapping[str, Routes]) -> None:
        self.log: list[Seen] = []
        self.port = 0
        self._hosts = hosts
        self._active: Counter[str] = Counter()
        self._up = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="rough-web", daemon=True)

    def start(self) -> None:
        self._thread.start()
        assert self._up.wait(30)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(30)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.port = int(server.sockets[0].getsockname()[1])
        self._up.set()
        self._loop.run_forever()
        server.close()
        waiting = asyncio.all_tasks(self._loop)
        for task in waiting:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*waiting, return_exceptions=True))
        self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            raw = await reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()
            return
        start_s = time.monotonic()
        target, fields = _read(raw)
        host = fields.get("host", "").split(":")[0]
        ahead = self._active[host]
        self._active[host] += 1
        try:
            with suppress(ConnectionError):
                await _perform(self._play(host, target), reader, writer)
        finally:
            self._active[host] -= 1
            agent = fields.get("user-agent", "")
            self.log.append(Seen(start_s, time.monotonic(), host, target, agent, ahead))
            writer.close()

    def _play(self, host: str, target: str) -> Play:
        routes = self._hosts.get(host, {})
        script = routes.get(target) or routes.get(target.split("?", 1)[0])
        if script is None:
            return reply(b"nothing here", "text/plain", 404)
        return script if isinstance(script, Play) else script()


def _read(raw: bytes) -> tuple[str, dict[str, str]]:
    first, *rest = raw.decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in rest if line)
    return first.split(" ")[1], {name.lower(): value.strip() for name, _colon, value in pairs}


async def _perform(play: Play, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    for piece in play.pieces:
        writer.write(piece)
        await writer.drain()
        if play.pause_s:
            await asyncio.sleep(play.pause_s)
        if reader.at_eof():  # who hung up is not served any more
            return
    if play.end == "stall":
        await reader.read()
    elif play.end == "reset":
        connection: socket.socket = writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()


@contextmanager
def running(hosts: Mapping[str, Routes]) -> Iterator[RoughWeb]:
    web = RoughWeb(hosts)
    web.start()
    try:
        yield web
    finally:
        web.stop()
