"""The loopback web as a server: uvicorn on 127.0.0.1 and nowhere else, in the foreground or in a thread of a test."""

import socket
import struct
import threading
from types import TracebackType
from typing import Self, TextIO

import uvicorn
from signal_search.errors import Broken
from typing_extensions import override
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from infra.clock import Clock, SystemClock
from infra.loopback_web.app import HOSTS, App
from infra.loopback_web.faults import Faults
from infra.loopback_web.request_log import RequestLog

ADDRESS = "127.0.0.1"
# Well above the fetcher's own: a connection closed just as it is used again would look like a reset.
_KEEP_ALIVE_S = 75
_START_S = 10.0
_STOP_S = 10.0


class LoopbackWeb:
    """The virtual hosts on one port.

    `start` returns when the port answers, `stop` when the thread has ended; as a context manager it does both.
    `log` and `faults` may be used from any thread.
    """

    def __init__(
        self,
        *,
        port: int = 0,
        clock: Clock | None = None,
        enforce_pace: bool = False,
        log_file: TextIO | None = None,
    ) -> None:
        """Take `port` of 127.0.0.1 (0: any that is free).

        Raises:
            OSError: the port is taken.
        """
        self.log = RequestLog(log_file)
        self.faults = Faults()
        self._socket = socket.create_server((ADDRESS, port))
        self.port: int = self._socket.getsockname()[1]
        app = App(clock or SystemClock(), self.log, self.faults, enforce_pace=enforce_pace)
        self._server = _Server(
            uvicorn.Config(
                app,
                http=_Protocol,
                ws="none",
                loop="asyncio",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                timeout_keep_alive=_KEEP_ALIVE_S,
                timeout_graceful_shutdown=1,
            )
        )
        self._thread = threading.Thread(target=self.serve, name="loopback-web", daemon=True)

    def serve(self) -> None:
        """Serve in this thread until stopped (in the main thread: until a signal)."""
        self._server.run(sockets=[self._socket])

    def start(self) -> Self:
        """Serve in a thread of its own.

        Raises:
            Broken: it did not come up.
        """
        self._thread.start()
        if not self._server.is_up.wait(_START_S):
            raise Broken
        return self

    def stop(self) -> None:
        """End the thread and free the port. Stopping twice does no harm."""
        self._server.should_exit = True
        if self._thread.is_alive():
            self._thread.join(_STOP_S)
        self._socket.close()

    def __enter__(self) -> Self:
        """Start."""
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop."""
        self.stop()


def hosts(port: int) -> dict[str, str]:
    """Return name -> HOST:PORT of every virtual host, as `settings.loopback.hosts` wants it."""
    return dict.fromkeys(HOSTS, f"{ADDRESS}:{port}")


class _Server(uvicorn.Server):
    """Tells when it listens, so that nobody has to try."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.is_up = threading.Event()

    @override
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self.is_up.set()


class _Protocol(HttpToolsProtocol):
    """Lets the application reset its connection, which ASGI has no word for."""

    @override
    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope["loopback_web.reset"] = self._reset  # type: ignore[typeddict-unknown-key]

    def _reset(self) -> None:
        # Closing with a linger time of zero sends RST instead of FIN (SO_LINGER, socket(7)).
        connection = self.transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()
