"""What `doctor` asks the store and the broker: version, persistence, eviction, who is alive."""

import socket
from collections.abc import Iterator
from typing import Literal
from urllib.parse import urlsplit

from msgspec import Struct
from redis import Redis
from signal_search.errors import StoreFailed

from infra import probe
from infra.embedded_redis import INSTALL_ADVICE, find_server
from infra.heartbeat import live_workers, missing_queues
from infra.redis import connect, store_errors

State = Literal["ok", "warn", "fail"]

_LEAST_REDIS = (6, 2)  # ZRANGE BYSCORE REV, which the message transport uses
_CONNECT_S = 2.0
_BROKERS = {"redis", "rediss", "unix", "redis+socket", "sentinel", "amqp", "amqps"}


class Check(Struct, frozen=True, kw_only=True):
    """One finding: what was looked at, how it stands, and what to do when it is not well."""

    name: str
    state: State
    says: str
    advice: str = ""


def masked(url: str) -> str:
    """Return an address without its user, password and parameters."""
    parts = urlsplit(url)
    if parts.scheme in {"unix", "redis+socket"}:
        return f"{parts.scheme}://{parts.path}"
    host = parts.hostname or ""
    return f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port else "")


def check_store(url: str) -> Iterator[Check]:
    """Yield what there is to say about the store at `url`; empty means the embedded one, which does not run."""
    if not url:
        yield _embedded_store()
        return
    client = connect(url)
    try:
        yield from _examine_store(client, masked(url))
    except StoreFailed:
        yield Check(
            name="store",
            state="fail",
            says=f"{masked(url)} does not answer.",
            advice="Start it, or correct SIGNAL_SEARCH_REDIS_URL; empty means the embedded one.",
        )
    finally:
        client.close()


def _embedded_store() -> Check:
    server = find_server()
    if server is None:
        return Check(name="store", state="fail", says="No server to start.", advice=INSTALL_ADVICE)
    return Check(
        name="store",
        state="ok",
        says=f"Not running; `signal-search up` and the client start {server.name} when they need it.",
    )


def _examine_store(client: Redis, where: str) -> Iterator[Check]:
    with store_errors():
        server, persistence = client.info("server"), client.info("persistence")
        policy = client.info("memory").get("maxmemory_policy", "unknown")
    yield _store_version(str(server["redis_version"]), where)
    yield _store_persistence(bool(persistence.get("aof_enabled")))
    yield _store_eviction(str(policy))
    yield _workers(client)


def _store_version(version: str, where: str) -> Check:
    found = tuple(int(part) for part in version.split(".")[:2])
    if found < _LEAST_REDIS:
        return Check(
            name="store",
            state="fail",
            says=f"{where} runs version {version}.",
            advice="Use Redis 6.2 or later, or Valkey.",
        )
    return Check(name="store", state="ok", says=f"{where} answers, version {version}.")


def _store_persistence(appends: bool) -> Check:  # noqa: FBT001  one fact, one argument
    if appends:
        return Check(name="persistence", state="ok", says="Writes go to an append-only file.")
    return Check(
        name="persistence",
        state="warn",
        says="Jobs are lost when the store restarts.",
        advice="Set `appendonly yes` and `appendfsync everysec`.",
    )


def _store_eviction(policy: str) -> Check:
    if policy == "noeviction":
        return Check(name="eviction", state="ok", says="A full store refuses writes.")
    return Check(
        name="eviction",
        state="fail",
        says=f"A full store forgets keys ({policy}): jobs, budgets, politeness.",
        advice="Set `maxmemory-policy noeviction`.",
    )


def _workers(client: Redis) -> Check:
    alive = live_workers(client)
    missing = missing_queues(alive)
    names = ", ".join(f"{worker.name} ({worker.role})" for worker in alive)
    if not alive:
        return Check(
            name="workers",
            state="fail",
            says="No worker is alive.",
            advice="Run `signal-search up`, or `signal-search worker --role all`.",
        )
    if missing:
        return Check(
            name="workers",
            state="fail",
            says=f"Alive: {names}. Nobody takes: {', '.join(missing)}.",
            advice="Start a worker of the missing role: crawl takes crawl, reduce takes plan.",
        )
    return Check(name="workers", state="ok", says=f"Alive: {names}.")


def check_broker(url: str) -> Iterator[Check]:
    """Yield what there is to say about the broker at `url`; empty means the embedded store."""
    scheme = urlsplit(url).scheme
    if not url:
        yield Check(name="broker", state="ok", says="The same server as the store.")
    elif "cluster" in scheme or scheme not in _BROKERS:
        yield Check(
            name="broker",
            state="fail",
            says="The broker's address is of a kind that cannot work.",
            advice="Use one Redis, Sentinel or RabbitMQ; a Redis Cluster may hold our keys, not the messages.",
        )
    else:
        yield _reachable_broker(url)


def _reachable_broker(url: str) -> Check:
    parts = urlsplit(url)
    if parts.scheme in {"unix", "redis+socket"} or not parts.hostname:
        return Check(name="broker", state="ok", says=f"{masked(url)}.")
    port = parts.port or (5672 if parts.scheme.startswith("amqp") else 6379)
    if listens(parts.hostname, port):
        return Check(name="broker", state="ok", says=f"{masked(url)} accepts connections.")
    return Check(
        name="broker",
        state="fail",
        says=f"{masked(url)} does not accept connections.",
        advice="Start it, or correct SIGNAL_SEARCH_BROKER_URL.",
    )


def listens(host: str, port: int) -> bool:
    """Return whether something accepts TCP connections there, within two seconds."""
    try:
        with socket.create_connection((probe.reachable(host), port), timeout=_CONNECT_S):
            return True
    except OSError:
        return False
