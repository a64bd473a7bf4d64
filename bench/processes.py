"""What the kernel says of the processes of a part: who they are, their processor time, their memory."""

import os
from collections.abc import Iterator
from pathlib import Path

# Places of fields in /proc/PID/stat after the name: state, session, user and system time, resident pages.
_STATE, _SESSION, _USER, _SYSTEM, _RESIDENT = 0, 3, 11, 12, 21


def _stats() -> Iterator[list[str]]:
    for each in Path("/proc").iterdir():
        if each.name.isdigit():
            try:
                fields = (each / "stat").read_text().rsplit(")", 1)[1].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if fields[_STATE] != "Z":
                yield fields


def _session(leader: int) -> list[list[str]]:
    """Return what is known of a part's processes: its own, its pool's, its parsers'; each part has its session."""
    return [fields for fields in _stats() if int(fields[_SESSION]) == leader]


def cpu_s(leader: int) -> float:
    """Return the processor seconds that a part has used, all its processes together."""
    ticks = sum(int(fields[_USER]) + int(fields[_SYSTEM]) for fields in _session(leader))
    return ticks / os.sysconf("SC_CLK_TCK")


def rss_mib(leader: int) -> float:
    """Return the resident memory of a part in MiB, all its processes together."""
    pages = sum(int(fields[_RESIDENT]) for fields in _session(leader))
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
