"""Short questions to our own processes: are you there?

As health checks: `python -m infra.probe PORT PATH` asks a server of this machine, `python -m infra.probe worker`
whether a worker of this machine gave a sign of life.
"""

import platform
import sys
from http.client import HTTPConnection, HTTPException

from infra.heartbeat import live_workers
from infra.redis import connect, store_errors
from infra.settings import current

_HTTP_TIMEOUT_S = 2.0


def answers(host: str, port: int, path: str) -> bool:
    """Return whether an HTTP GET of our own gateway is answered with 200 within two seconds."""
    connection = HTTPConnection(reachable(host), port, timeout=_HTTP_TIMEOUT_S)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def reachable(host: str) -> str:
    """Return an address to call a server that listens on `host`: "everywhere" is not one."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  compared, not bound


def require_store(redis_url: str) -> None:
    """Return when the store answers.

    Raises:
        StoreFailed: when it does not.
    """
    client = connect(redis_url)
    try:
        with store_errors():
            client.ping()
    finally:
        client.close()


def beating_pids(redis_url: str) -> set[int]:
    """Return the process ids of the workers that gave a sign of life.

    Raises:
        StoreFailed: when the store does not answer.
    """
    client = connect(redis_url)
    try:
        return {worker.pid for worker in live_workers(client)}
    finally:
        client.close()


def is_worker_here(redis_url: str) -> bool:
    """Return whether a worker of this machine (in a container: of this container) gave a sign of life.

    Raises:
        StoreFailed: when the store does not answer.
    """
    client = connect(redis_url)
    try:
        return any(each.name.endswith(f"@{platform.node()}") for each in live_workers(client))
    finally:
        client.close()


def main(arguments: list[str]) -> int:
    """Return 0 when the local port answers a GET of the path with 200, or a worker of this machine lives; else 1."""
    if arguments == ["worker"]:
        return 0 if is_worker_here(current().redis_url) else 1
    port, path = arguments
    return 0 if answers("127.0.0.1", int(port), path) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
