"""Run a command that ends when its parent ends: `python -I -S tether.py PARENT_PID COMMAND...`.

A separate step between fork and exec, because code in a forked child of a threaded parent may dead-lock. It imports
nothing of this project, so that it starts in milliseconds. On Linux the kernel sends SIGTERM when the parent is gone;
elsewhere the parent's exit handler and the adoption of orphans have to do.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


def main(arguments: list[str]) -> None:
    """Tie this process to its parent, then become the command."""
    parent, command = int(arguments[0]), arguments[1:]
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:  # it died before the line above
            sys.exit(1)
    os.execvp(command[0], command)  # noqa: S606  the caller's own command, no shell


if __name__ == "__main__":
    main(sys.argv[1:])
