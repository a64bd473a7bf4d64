"""A small web on 127.0.0.1: strict emulators of the source APIs and plain sites, with faults on order and a log.

For trying the service without the outside world, and for tests: `LoopbackWeb` runs it in a thread, `hosts` gives the
settings that lead there, `python -m infra.loopback_web` serves it by itself.
"""

from infra.loopback_web.server import LoopbackWeb, hosts

__all__ = ["LoopbackWeb", "hosts"]
