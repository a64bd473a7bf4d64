"""Loaded by Python itself in every process of a chaos lane: traps at named functions, and a clock that can jump.

The product knows nothing of this. The lane puts this folder on PYTHONPATH and names its own folder in CHAOS_FOLDER;
the functions to watch stand in `points.json` there. Whoever passes the armed place of the armed function takes the
trap away and does what it says: dies, takes its whole worker along, asks its worker to stop, or stands still until
the lane has done the rest.
"""

import functools
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import json
import mmap
import os
import signal
import struct
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from types import ModuleType
from typing import Any

_real_time, _real_time_ns, _sleep = time.time, time.time_ns, time.sleep
_PATIENCE_S = 60.0  # a lane that forgot its trap must not leave a process standing
_reconciling = threading.local()


class Trap:
    """What is armed in a lane's folder, seen from inside one of its processes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def pass_by(self, place: str, *, is_empty: bool = False) -> None:
        """Spring the trap if this place is the armed one and its turn has come."""
        armed = self.folder / "armed"
        try:
            wanted = json.loads(armed.read_bytes())
        except (FileNotFoundError, json.JSONDecodeError):
            return
        if wanted["place"] != place or (wanted["not_empty"] and is_empty):
            return
        if self._turn() < wanted["turn"]:
            return
        try:
            armed.rename(self.folder / "sprung")
        except FileNotFoundError:  # another process was quicker
            return
        self._do(wanted["action"])

    def _turn(self) -> int:
        place = os.open(self.folder / "passed", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(place, b".")
        turn = os.lseek(place, 0, os.SEEK_CUR)
        os.close(place)
        return turn

    def _do(self, action: str) -> None:
        report = {"pid": os.getpid(), "leader": os.getsid(0), "at_ms": _real_time_ns() // 1_000_000}
        draft = self.folder / "report.new"
        draft.write_text(json.dumps(report))
        draft.rename(self.folder / "report")
        if action == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        elif action == "die together":
            os.killpg(os.getsid(0), signal.SIGKILL)
        elif action == "stop":
            os.kill(os.getsid(0), signal.SIGTERM)
            _sleep(0.3)  # the signal is taken while this is still under way
        elif action == "stand":
            self._stand()

    def _stand(self) -> None:
        ends = time.monotonic() + _PATIENCE_S
        while not (self.folder / "go").exists() and time.monotonic() < ends:
            _sleep(0.005)

    def is_set(self, name: str) -> bool:
        return (self.folder / name).exists()


def watch(function: Callable[..., Any], name: str, trap: Trap) -> Callable[..., Any]:
    """Return the function with a place before it and one after it."""
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def soon(*args: Any, **kwargs: Any) -> Any:
            trap.pass_by(f"before {name}")
            answer = await function(*args, **kwargs)
            trap.pass_by(f"after {name}", is_empty=not answer)
            return answer

        return soon

    @functools.wraps(function)
    def now(*args: Any, **kwargs: Any) -> Any:
        trap.pass_by(f"before {name}")
        answer = function(*args, **kwargs)
        trap.pass_by(f"after {name}", is_empty=not answer)
        return answer

    return now


def wrap(module: ModuleType, dotted: str, how: Callable[[Callable[..., Any]], Any]) -> None:
    """Replace a function or method of a module by what `how` makes of it."""
    *path, last = dotted.split(".")
    owner: Any = module
    for part in path:
        owner = getattr(owner, part)
    setattr(owner, last, how(getattr(owner, last)))


# --- bells: doubled or lost -------------------------------------------------------------------------------------------


def unreliable(send: Callable[..., Any], trap: Trap) -> Callable[..., Any]:
    """Return Celery's `send_task`: thrice while `echo` is set; only for the reconciler while `deaf` is set."""

    @functools.wraps(send)
    def sending(*args: Any, **kwargs: Any) -> Any:
        if trap.is_set("deaf") and not getattr(_reconciling, "now", False):
            return None
        if trap.is_set("echo"):
            send(*args, **kwargs)
            send(*args, **kwargs)
        return send(*args, **kwargs)

    return sending


def reconciling(look: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(look)
    def looking(*args: Any, **kwargs: Any) -> Any:
        _reconciling.now = True
        try:
            return look(*args, **kwargs)
        finally:
            _reconciling.now = False

    return looking


# --- a clock that jumps -----------------------------------------------------------------------------------------------


def shift_clocks(offset_s: Callable[[], float]) -> None:
    """Shift what this process takes for the time of day; what only counts seconds goes on."""
    time.time = lambda: _real_time() + offset_s()
    time.time_ns = lambda: _real_time_ns() + int(offset_s() * 1_000_000_000)


def shifted_datetime(offset_s: Callable[[], float]) -> type[datetime]:
    class Shifted(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Any:
            return datetime.now(tz) + timedelta(seconds=offset_s())

    return Shifted


def shared_number(path: Path) -> Callable[[], float]:
    """Return a reader of the seconds that the lane writes into a file of eight bytes."""
    with path.open("r+b") as file:
        seen = mmap.mmap(file.fileno(), 8)
    return lambda: float(struct.unpack_from("d", seen)[0])


# --- how it gets in ---------------------------------------------------------------------------------------------------


class Loader(importlib.abc.Loader):
    """Loads a module as usual, then changes it."""

    def __init__(self, inner: Any, change: Callable[[ModuleType], None]) -> None:
        self._inner, self._change = inner, change

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        made: ModuleType | None = self._inner.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        self._inner.exec_module(module)
        self._change(module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class Finder(importlib.abc.MetaPathFinder):
    """Finds the modules that are to be changed, by asking everybody else."""

    def __init__(self, changes: dict[str, Callable[[ModuleType], None]]) -> None:
        self._changes = changes

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        change = self._changes.get(name)
        if change is None:
            return None
        for finder in sys.meta_path:
            if finder is not self and (spec := finder.find_spec(name, path, target)) is not None:
                spec.loader = Loader(spec.loader, change)
                return spec
        return None


def install(folder: Path, is_gateway: bool) -> None:
    trap = Trap(folder)
    changes: dict[str, list[Callable[[ModuleType], None]]] = {}

    def add(module: str, change: Callable[[ModuleType], None]) -> None:
        changes.setdefault(module, []).append(change)

    for name in json.loads((folder / "points.json").read_bytes()):
        module, dotted = name.split(":")
        how = functools.partial(watch, name=name, trap=trap)
        add(module, functools.partial(wrap, dotted=dotted, how=how))
    bells = functools.partial(unreliable, trap=trap)
    add("celery.app.base", functools.partial(wrap, dotted="Celery.send_task", how=bells))
    add("workers.reconciler", functools.partial(wrap, dotted="Reconciler.look", how=reconciling))
    offset_s = shared_number(folder / ("clock-gateway" if is_gateway else "clock-workers"))
    shift_clocks(offset_s)
    moved = shifted_datetime(offset_s)
    for name in ("celery.app.base", "celery.worker.request", "celery.utils.time"):
        add(name, lambda module: setattr(module, "datetime", moved))
    one = {name: functools.partial(_all, several) for name, several in changes.items()}
    sys.meta_path.insert(0, Finder(one))


def _all(several: list[Callable[[ModuleType], None]], module: ModuleType) -> None:
    for each in several:
        each(module)


def _start() -> None:
    folder = os.environ.get("CHAOS_FOLDER")
    if not folder:
        return
    command = Path("/proc/self/cmdline").read_bytes()
    if b"loopback_web" in command:  # the witness keeps the right time
        return
    with suppress(FileNotFoundError):
        install(Path(folder), b"uvicorn" in command)


_start()
