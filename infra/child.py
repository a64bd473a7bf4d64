"""A process of ours: started with its own log, in its own session, and gone when we are gone.

Its own session, so that Ctrl-C reaches only the supervisor, which then ends its children in order.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import TypeVar

from infra.clock import Clock

_TETHER = Path(__file__).with_name("tether.py")
_LOG_LIMIT_BYTES = 10_000_000
_KILL_WAIT_S = 5.0

_STEADY_S = 60.0  # a process that lived this long starts over with the shortest delay
_RESTART_S = (1.0, 2.0, 4.0, 8.0, 16.0, 30.0)

T = TypeVar("T")
Process = subprocess.Popen[bytes]


class Child:
    """One process at a time; `start` again after it ended."""

    def __init__(
        self, name: str, command: Sequence[str], *, log: Path, environment: Mapping[str, str]
    ) -> None:
        """Remember what to start; `log` is appended to and put aside once above 10 MB."""
        self.name = name
        self.command = tuple(command)
        self.log = log
        self._environment = dict(environment)
        self._process: Process | None = None
        self._was_asked = False

    @property
    def pid(self) -> int | None:
        """Return the process id while it runs."""
        return self._process.pid if self._process is not None and self.is_alive() else None

    def is_alive(self) -> bool:
        """Return whether the process runs."""
        return self._process is not None and self._process.poll() is None

    def bury(self) -> None:
        """Kill what a process that died left in its session: parsers, processes of a pool."""
        if self._process is not None and not self.is_alive():
            _kill_session(self._process.pid)

    def start(self) -> None:
        """Start the process.

        Raises:
            OSError: when the log cannot be written.
        """
        self.log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _rotate(self.log)
        with self.log.open("ab") as out:
            self._was_asked = False
            self._process = _spawn(self.command, out.fileno(), self._environment)

    def wait(self, within_s: float) -> bool:
        """Wait up to `within_s` seconds for the end; return whether it came."""
        if self._process is None:
            return True
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(within_s)
        return self._process.poll() is not None

    def ask_to_stop(self) -> None:
        """Ask politely, once (a second signal means "now" to some), and return at once; `stop` waits."""
        if self._process is not None and self.is_alive() and not self._was_asked:
            self._was_asked = True
            self._process.send_signal(signal.SIGTERM)

    def stop(self, within_s: float) -> bool:
        """Ask politely, wait up to `within_s` seconds, then kill what is left of its session.

        Returns whether it ended by itself. Safe to call twice.
        """
        if self._process is None:
            return True
        self.ask_to_stop()
        in_time = self.wait(within_s)
        _kill_session(self._process.pid)
        self.wait(_KILL_WAIT_S)
        self._process = None
        return in_time

    def last_lines(self, count: int = 5) -> str:
        """Return the last lines of the log, for a message when it would not start."""
        with suppress(OSError):
            raw = self.log.read_bytes()[-4000:]
            return "\n".join(raw.decode("utf-8", "replace").splitlines()[-count:])
        return ""


class Kept:
    """A child that is started again when it dies, after 1, 2, 4, ... 30 seconds."""

    def __init__(self, child: Child, clock: Clock, *, stop_s: float) -> None:
        """Keep `child`, which is not started yet."""
        self.child = child
        self.stop_s = stop_s
        self.restarts = 0
        self._clock = clock
        self._started_s = 0.0
        self._next_s: float | None = None
        self._deaths_in_row = 0

    def start(self) -> None:
        """Start it."""
        self._started_s = self._clock.monotonic()
        self._next_s = None
        self.child.start()

    def look(self) -> bool:
        """Start it again if it died and its delay is over; return whether it was started."""
        if self.child.is_alive():
            return False
        now_s = self._clock.monotonic()
        if self._next_s is None:
            self.child.bury()
            self._next_s = now_s + self._delay_s(now_s)
        if now_s < self._next_s:
            return False
        self.restarts += 1
        self.start()
        return True

    def _delay_s(self, now_s: float) -> float:
        if now_s - self._started_s >= _STEADY_S:
            self._deaths_in_row = 0
        delay_s = _RESTART_S[min(self._deaths_in_row, len(_RESTART_S) - 1)]
        self._deaths_in_row += 1
        return delay_s


def _rotate(log: Path) -> None:
    with suppress(FileNotFoundError):
        if log.stat().st_size > _LOG_LIMIT_BYTES:
            log.replace(log.with_suffix(".log.1"))


def _kill_session(pid: int) -> None:
    """Kill whatever the leader left in its own process group; the group's id is the leader's pid."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _spawn(command: Sequence[str], out: int, environment: Mapping[str, str]) -> Process:
    tethered = [sys.executable, "-I", "-S", str(_TETHER), str(os.getpid()), *command]

    def start() -> Process:
        return subprocess.Popen(  # noqa: S603  our own commands, no shell
            tethered,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            env=dict(environment),
            start_new_session=True,
        )

    return _spawner.run(start)


class _Spawner:
    """One thread that lives as long as the process: the kernel ties a child to the *thread* that made it."""

    def __init__(self) -> None:
        self._calls: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def run(self, call: Callable[[], T]) -> T:
        """Run `call` in the thread and return what it returns, or raise what it raises."""
        answer: Future[T] = Future()

        def work() -> None:
            try:
                answer.set_result(call())
            except OSError as error:
                answer.set_exception(error)

        with self._lock:
            self._ensure_thread()
        self._calls.put(work)
        return answer.result()

    def _ensure_thread(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._loop, name="spawner", daemon=True)
            self._thread.start()

    def _loop(self) -> None:
        while True:
            self._calls.get()()


_spawner = _Spawner()
