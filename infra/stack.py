"""`up`: start, watch and stop Redis, gateway, workers, Flower as processes; imports none of them.

Started in the order of need and stopped in the other: gateway, workers (what they are at is finished), Flower and web,
Redis. A process that dies is started again, each time a little later.
"""

import atexit
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from importlib.metadata import entry_points
from pathlib import Path
from threading import Event
from typing import Any, Protocol

import msgspec
from msgspec import Struct
from signal_search.errors import Broken, Conflict, Failed, SignalSearchError, StoreFailed

from infra import crew, probe
from infra.child import Kept
from infra.clock import Clock, SystemClock
from infra.crew import Crew, Parts
from infra.embedded_redis import EmbeddedRedis
from infra.folder_lock import FolderLock
from infra.settings import Settings, current
from infra.store_checks import listens

__all__ = ["Parts", "Running", "Stack", "open_embedded", "running_stack"]

_POLL_S = 0.05
_READY_S = 60.0
_WATCH_S = 1.0
_GUESTS_S = 900.0  # the deadline of an ordinary job


class Running(Struct, frozen=True, kw_only=True):
    """What a running stack tells others about itself, in `stack.json` of its data folder."""

    pid: int
    redis_url: str
    gateway_url: str = ""


class Stack:
    """All parts of one machine, for one data folder. `start` leaves nothing running when it fails."""

    def __init__(
        self,
        settings: Settings,
        parts: Parts,
        *,
        clock: Clock | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Plan the parts; `environment` is set for the children on top of this process's own."""
        self._settings = settings
        self._parts = parts
        self._clock = clock or SystemClock()
        self._extra = environment or {}
        self._folder = crew.folder(settings)
        self._lock = FolderLock(self._folder / "stack.lock")
        self._redis = None if settings.redis_url else EmbeddedRedis(self._folder)
        self._crew: Crew | None = None
        self.redis_url = settings.redis_url
        self.gateway_url = crew.gateway_url(settings, parts)

    @property
    def processes(self) -> list[Kept]:
        """Return the children, first needed first; the store is not among them."""
        return self._crew.everyone if self._crew else []

    def start(self) -> None:
        """Start all parts and wait until they are ready.

        Raises:
            Conflict: another stack runs on this data folder, or another program has a port that a part needs.
            StoreFailed: no store could be started or reached.
            Failed: a part ended, or was not ready within a minute; the message has its last lines.
        """
        if not self._lock.acquire():
            raise Conflict("Another stack runs on this data folder.")
        try:
            _refuse_taken(crew.ports(self._settings, self._parts))
            self._start_parts()
        except BaseException:  # Ctrl-C too must leave nothing behind
            self.stop()
            raise

    def watch(self) -> list[str]:
        """Start again what died; return the names of what was started. Call it about once a second."""
        started = []
        if self._redis is not None and not self._redis.is_alive():
            with suppress(StoreFailed):  # the next look tries again
                self._redis.start()
                started.append("redis")
        return started + [each.child.name for each in self.processes if each.look()]

    def run(self, ended: Event, tell: Callable[[str], None]) -> None:
        """Watch until `ended` is set; `tell` hears of every restart."""
        while not ended.wait(_WATCH_S):
            for name in self.watch():
                tell(name)

    def stop(self) -> None:
        """Stop all parts in order. Safe to call twice; no process is left."""
        if not self._lock.is_held:
            return
        (self._folder / "stack.json").unlink(missing_ok=True)
        for group in self._crew.in_stop_order if self._crew else []:
            _stop_together(group)
        if self._redis is not None:
            self._redis.stop()
        self._crew = None
        self._lock.release()
        atexit.unregister(self.stop)

    def _start_parts(self) -> None:
        if self._redis is not None:
            self.redis_url = self._redis.start()
        probe.require_store(self.redis_url)
        self._crew = Crew(self._settings, self._parts, self.redis_url, self._clock, self._extra)
        for each in self._crew.everyone:
            each.start()
        self._wait_until_ready(self._crew)
        self._tell()
        atexit.register(self.stop)  # after the store's own, so that it runs before that

    def _wait_until_ready(self, started: Crew) -> None:
        pause = Event()
        for _ in range(int(_READY_S / _POLL_S)):
            _refuse_dead(started.everyone)
            if self._is_ready(started):
                return
            pause.wait(_POLL_S)
        raise Failed("The stack was not ready within a minute; see the logs in its data folder.")

    def _is_ready(self, started: Crew) -> bool:
        beating = probe.beating_pids(self.redis_url)
        if any(each.child.pid not in beating for each in started.workers):
            return False
        gateway = self._settings.gateway
        port = self._parts.port or gateway.port
        return not started.gateway or probe.answers(gateway.host, port, "/readyz")

    def _tell(self) -> None:
        running = Running(pid=os.getpid(), redis_url=self.redis_url, gateway_url=self.gateway_url)
        path = self._folder / "stack.json"
        path.touch(mode=0o600)
        path.write_bytes(msgspec.json.encode(running))


def _refuse_taken(needed: Iterable[tuple[str, str, int]]) -> None:
    for name, host, port in needed:
        if listens(host, port):
            raise Conflict(f"Another program has port {port}, which {name} needs.")


def _refuse_dead(several: list[Kept]) -> None:
    for each in several:
        if not each.child.is_alive():
            raise Failed(f"{each.child.name} ended at once:\n{each.child.last_lines()}")


def _stop_together(several: list[Kept]) -> None:
    """Ask all first, then wait for each: a stop takes as long as the slowest, not as the sum."""
    for each in several:
        each.child.ask_to_stop()
    for each in several:
        each.child.stop(each.stop_s)


def running_stack(data_dir: Path) -> Running | None:
    """Return the stack that runs on this data folder; None when there is none, or it is not ready yet."""
    if not _is_owned(data_dir):
        return None
    with suppress(FileNotFoundError, msgspec.DecodeError):
        return msgspec.json.decode((data_dir / "stack.json").read_bytes(), type=Running)
    return None


class _Transport(Protocol):
    def close(self) -> None: ...


class EmbeddedTransport:
    """The transport over Redis, and what must end with it; all but `close` is that transport's."""

    def __init__(self, transport: _Transport, end: Callable[[], None]) -> None:
        """Wrap `transport`; `end` is called once it is closed, and must bear being called again."""
        self._transport = transport
        self._end = end

    def __getattr__(self, name: str) -> Any:
        """Hand everything else to the transport."""
        return getattr(self._transport, name)

    def close(self) -> None:
        """Close the transport, then end what it stood on. Safe to call twice."""
        try:
            self._transport.close()
        finally:
            self._end()


class _Host:
    """A running stack of our own, healed by a thread; other processes may be its guests."""

    def __init__(self, stack: Stack, data_dir: Path) -> None:
        self._stack = stack
        self._guests = _guests(data_dir)
        self._ended = Event()
        self._watcher = threading.Thread(
            target=stack.run, args=(self._ended, _say_nothing), name="stack-watch", daemon=True
        )
        self._watcher.start()

    def end(self) -> None:
        """Stop the stack; guests are waited for, as their jobs run on it. Ctrl-C ends the waiting."""
        try:
            for _ in range(int(_GUESTS_S / _POLL_S)):
                if self._ended.is_set() or self._guests.acquire():
                    break
                self._ended.wait(_POLL_S)
        finally:
            self._ended.set()
            self._watcher.join()
            self._stack.stop()
            self._guests.release()


def _guests(data_dir: Path) -> FolderLock:
    return FolderLock(data_dir.absolute() / "guests.lock")


def open_embedded(redis_url: str | None = None, token: str | None = None) -> EmbeddedTransport:
    """Return a transport to a stack of the data folder: the running one, else a small one of our own.

    The small one is the embedded store (or the one at `redis_url`) and one worker that takes every role. It ends with
    `close` (which waits for others who use it), with this process, and on Linux also when this process is killed.

    Raises:
        StoreFailed: no store could be started. Failed: the worker did not start. Conflict: another process holds the
        folder and its stack does not become ready.
    """
    return open_stack(current(), redis_url, token)


def open_stack(settings: Settings, redis_url: str | None, token: str | None) -> EmbeddedTransport:
    """Do what `open_embedded` says, for these settings."""
    factory = _redis_transport()
    guest = _guests(settings.data_path)
    running = _neighbour(settings.data_path)
    if running is not None and redis_url in {None, running.redis_url} and guest.share():
        return _opened(lambda: factory(running.redis_url, token), guest.release)
    chosen = settings.model_copy(update={"redis_url": redis_url or settings.redis_url})
    stack = Stack(chosen, Parts(workers={"all": 1}))
    stack.start()
    host = _Host(stack, settings.data_path)
    return _opened(lambda: factory(stack.redis_url, token), host.end)


def _opened(open_it: Callable[[], _Transport], end: Callable[[], None]) -> EmbeddedTransport:
    try:
        return EmbeddedTransport(open_it(), end)
    except SignalSearchError:
        end()
        raise


def _neighbour(data_dir: Path) -> Running | None:
    """Return the stack of this folder; one that is just starting is waited for."""
    pause = Event()
    for _ in range(int(_READY_S / _POLL_S)):
        running = running_stack(data_dir)
        if running is not None or not _is_owned(data_dir):
            return running
        pause.wait(_POLL_S)
    raise Conflict("Another stack of this data folder starts or stops and does not come to an end.")


def _is_owned(data_dir: Path) -> bool:
    lock = FolderLock(data_dir.absolute() / "stack.lock")
    is_free = lock.acquire()
    lock.release()
    return not is_free


def _redis_transport() -> Callable[[str | None, str | None], _Transport]:
    """Return the installed transport over Redis; it lives in a room above, hence the entry point."""
    for each in entry_points(group="signal_search.transports", name="redis"):
        factory: Callable[[str | None, str | None], _Transport] = each.load()
        return factory
    raise Broken("The transport over Redis is not installed.")


def _say_nothing(_name: str) -> None:
    """Hear of a restart; in a library nobody is told."""
