"""The command lines of our processes. No secret is ever on one: anybody on the machine can read them."""

import sys

from infra.roles import CONCURRENCY, POOLS, QUEUES, Role
from infra.settings import FlowerSettings, Gateway

_APP = "workers.worker"
_CELERY = (sys.executable, "-m", "celery", "-A", _APP)


def gateway(settings: Gateway, *, port: int = 0) -> list[str]:
    """Return how to run the gateway; `port` 0 means the configured one."""
    return [
        *(sys.executable, "-m", "uvicorn", "api_gateway.app:create_app", "--factory"),
        *("--host", settings.host, "--port", str(port or settings.port)),
        # Its log lines are ours (infra/logging.py); behind a proxy, addresses are the proxy's business.
        *("--no-access-log", "--no-proxy-headers", "--no-server-header"),
        *("--timeout-graceful-shutdown", "10"),
    ]


def worker(role: Role, *, name: str = "", concurrency: int = 0, events: bool = False) -> list[str]:
    """Return how to run a worker of a role.

    name: its name before the @ (the role, when empty; two workers of one machine need two). concurrency: 0 means the
    role's usual one. events: tell Flower what happens, which costs about a third of the throughput of tiny tasks.
    """
    return [
        # Quiet: its banner is not a line of the log.
        *(sys.executable, "-m", "celery", "-q", "-A", _APP, "worker", "--pool", POOLS[role]),
        *("--concurrency", str(concurrency or CONCURRENCY[role])),
        *("-Q", ",".join(QUEUES[role]), "-n", f"{name or role}@%h"),
        *("--without-gossip", "--without-mingle", "--loglevel", "INFO"),
        *(("-E",) if events else ()),
    ]


def flower(settings: FlowerSettings, *, address: str = "", port: int = 0) -> list[str]:
    """Return how to run Flower, read-only; user and password come in FLOWER_BASIC_AUTH.

    Its configuration file is Python code from the working folder, so it is told to read an empty one.
    """
    return [
        *(*_CELERY, "flower", f"--address={address or settings.host}"),
        *(f"--port={port or settings.port}", "--read-only", "--conf=/dev/null"),
        *("--max-tasks=10000", "--purge-offline-workers=60"),
    ]


def loopback_web(port: int) -> list[str]:
    """Return how to run the loopback web on `port`."""
    return [sys.executable, "-m", "infra.loopback_web", "--port", str(port)]
