"""A small real web on 127.0.0.1 that does what it is told: status, headers, slow drip, drop, redirect, gzip bomb, charsets.

One thread per connection, name-based virtual hosts, every request logged with its arrival time. Nothing is mocked: the
bytes go through a socket.
"""

import gzip
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

from typing_extensions import override


class Seen(NamedTuple):
    """One request as it arrived; `at_s` is monotonic."""

    at_s: float
    host: str
    target: str
    headers: dict[str, str]

    @property
    def path(self) -> str:
        return self.target.split("?", 1)[0]


class Answer(NamedTuple):
    """What to send: drip_s waits between single bytes of the body, drop_after closes after so many body bytes."""

    body: bytes = b""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "text/html; charset=utf-8"),)
    drip_s: float = 0.0
    drop_after: int | None = None
    silent: bool = False  # close without a byte


Script = Answer | Callable[[Seen], Answer]

NOT_FOUND = Answer(b"nothing here", 404, (("Content-Type", "text/plain"),))


def html(body: str, *, charset: str = "utf-8", declared: str | None = None) -> Answer:
    """Answer a page encoded in one charset and declared as another."""
    kind = f"text/html; charset={declared or charset}"
    return Answer(body.encode(charset), headers=(("Content-Type", kind),))


def text(body: str, status: int = 200) -> Answer:
    return Answer(body.encode(), status, (("Content-Type", "text/plain; charset=utf-8"),))


def redirect(to: str, status: int = 302) -> Answer:
    return Answer(b"", status, (("Location", to),))


def refusal(status: int, **headers: str) -> Answer:
    named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return Answer(b"no", status, (("Content-Type", "text/plain"), *named))


def gzip_bomb(decoded_bytes: int) -> Answer:
    """Answer zeros that unpack to `decoded_bytes`, at about a thousandth of that on the wire."""
    headers = (("Content-Type", "text/html"), ("Content-Encoding", "gzip"))
    return Answer(gzip.compress(bytes(decoded_bytes), 9), headers=headers)


def deflated(body: bytes, *, raw: bool) -> Answer:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS if raw else zlib.MAX_WBITS)
    headers = (("Content-Type", "text/html"), ("Content-Encoding", "deflate"))
    return Answer(packer.compress(body) + packer.flush(), headers=headers)


class Web:
    """Routes by host and path; an empty host serves every name."""

    def __init__(self) -> None:
        self.log: list[Seen] = []
        self.stopping = threading.Event()
        self._routes: dict[tuple[str, str], Script] = {}
        self._server = _Server(self)
        self.port = int(self._server.server_address[1])

    @property
    def authority(self) -> str:
        return f"127.0.0.1:{self.port}"

    def url(self, path: str) -> str:
        return f"http://{self.authority}{path}"

    def route(self, path: str, script: Script, host: str = "") -> None:
        self._routes[host, path] = script

    def answer(self, seen: Seen) -> Answer:
        self.log.append(seen)
        name = seen.host.split(":", 1)[0]
        script = self._routes.get((name, seen.path)) or self._routes.get(("", seen.path), NOT_FOUND)
        return script if isinstance(script, Answer) else script(seen)

    def paths(self) -> list[str]:
        return [each.path for each in self.log]

    def serve(self) -> None:
        self._server.serve_forever(poll_interval=0.01)

    def stop(self) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, web: Web) -> None:
        self.web = web
        super().__init__(("127.0.0.1", 0), _Handler)

    @override
    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is part of the play."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        self.rfile.read(
            int(self.headers.get("Content-Length", 0))
        )  # else it would pass for the next request
        self.do_GET()

    def do_GET(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        seen = Seen(time.monotonic(), headers.get("host", ""), self.path, headers)
        answer = self.server.web.answer(seen)
        if answer.silent:
            self.close_connection = True
            return
        self._start(answer)
        self._body(answer)

    def _start(self, answer: Answer) -> None:
        self.send_response(answer.status)
        for name, value in answer.headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()

    def _body(self, answer: Answer) -> None:
        body = answer.body if answer.drop_after is None else answer.body[: answer.drop_after]
        if not answer.drip_s:
            self.wfile.write(body)
        for at in range(len(body) if answer.drip_s else 0):
            self.wfile.write(body[at : at + 1])
            self.wfile.flush()
            if self.server.web.stopping.wait(answer.drip_s):
                break
        self.close_connection = self.close_connection or answer.drop_after is not None

    @override
    def log_message(self, format: str, *args: object) -> None:
        """The log is in `Web.log`."""


@contextmanager
def running_web() -> Iterator[Web]:
    web = Web()
    thread = threading.Thread(target=web.serve, daemon=True)
    thread.start()
    try:
        yield web
    finally:
        web.stop()
        thread.join(30)
