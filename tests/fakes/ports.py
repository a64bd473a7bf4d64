"""Free ports of this machine, told apart from those that the system gives to whoever asks for none.

A port from the system's own range may be given to an outgoing connection, or to the tests of another process, between
the look and the start of the server that was to have it.
"""

import random
import socket
from contextlib import suppress

_FIRST, _END = 15_000, 32_768  # above the usual servers; from 32768 on Linux gives ports away
_TRIES = 1000
_choose = random.SystemRandom()  # no two processes of tests share a seed here
_given: set[int] = set()


def free_port() -> int:
    """Return a port on which nothing listens and that was not returned before."""
    for _ in range(_TRIES):
        port = _choose.randrange(_FIRST, _END)
        if port not in _given and _is_free(port):
            _given.add(port)
            return port
    raise AssertionError("no port is free")


def free_ports(count: int) -> list[int]:
    return [free_port() for _ in range(count)]


def _is_free(port: int) -> bool:
    with suppress(OSError), socket.socket() as probe:
        probe.bind(("127.0.0.1", port))
        return True
    return False
