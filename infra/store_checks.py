"""What `doctor` asks the store and the broker: version, persistence, eviction, who is alive."""

import socket
from collections.abc import Iterator, Sequence
from typing import Literal
from urllib.parse import urlsplit

from msgspec import Struct
from redis import Redis
from signal_search.errors import StoreFailed

from infra import probe
from infra.embedded_redis import INSTALL_ADVICE, find_server
from infra.heartbeat import live_workers, missing_queues
from infra.redis import connect, is_cluster, node_infos
from infra.store_address import masked, parse

State = Literal["ok", "warn", "fail"]

_LEAST_REDIS = (6, 2)  # ZRANGE BYSCORE REV, which the message transport uses
_CONNECT_S = 2.0


class Check(Struct, frozen=True, kw_only=True):
    """One finding: what was looked at, how it stands, and what to do when it is not well."""

    name: str
    state: State
    says: str
    advice: str = ""


def check_store(url: str) -> Iterator[Check]:
    """Yield what there is to say about the store at `url`; empty means the embedded one, which does not run."""
    if not url:
        yield _embedded_store()
        return
    try:
        client = connect(url)
    except StoreFailed:
        yield _silent(url)
        return
    try:
        yield from _examine_store(client, masked(url))
    except StoreFailed:
        yield _silent(url)
    finally:
        client.close()


def _silent(url: str) -> Check:
    return Check(
        name="store",
        state="fail",
        says=f"{masked(url)} does not answer.",
        advice="Start it, or correct SIGNAL_SEARCH_REDIS_URL; empty means the embedded one.",
    )


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
    infos = [node_infos(client, section) for section in ("server", "persistence", "memory")]
    oldest = min((str(each["redis_version"]) for each in infos[0]), key=_version)
    policies = {str(each.get("maxmemory_policy", "unknown")) for each in infos[2]}
    yield _store_version(oldest, where, len(infos[0]) if is_cluster(client) else 0)
    yield _store_persistence(all(each.get("aof_enabled") for each in infos[1]))
    yield _store_eviction(max(policies - {"noeviction"}, default="noeviction"))
    yield _workers(client)


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:2])


def _store_version(version: str, where: str, nodes: int) -> Check:
    if _version(version) < _LEAST_REDIS:
        return Check(
            name="store",
            state="fail",
            says=f"{where} runs version {version}.",
            advice="Use Redis 6.2 or later, or Valkey.",
        )
    many = f", a cluster of {nodes} primaries" if nodes else ""
    return Check(name="store", state="ok", says=f"{where} answers, version {version}{many}.")


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
    if not url:
        yield Check(name="broker", state="ok", says="The same server as the store.")
    elif url.startswith(("unix:", "redis+socket:")):
        yield Check(name="broker", state="ok", says=f"{masked(url)}.")
    elif any(listens(host, port) for host, port in _doors(url)):
        yield Check(name="broker", state="ok", says=f"{masked(url)} accepts connections.")
    else:
        yield Check(
            name="broker",
            state="fail",
            says=f"{masked(url)} does not accept connections.",
            advice="Start it, or correct SIGNAL_SEARCH_BROKER_URL.",
        )


def _doors(url: str) -> Sequence[tuple[str, int]]:
    """Return where a broker may listen: its server, or its Sentinels."""
    parts = urlsplit(url)
    if parts.scheme.endswith("+sentinel"):
        return parse(url).hosts
    usual = {"amqp": 5672, "amqps": 5671}.get(parts.scheme, 6379)
    return [(parts.hostname or "127.0.0.1", parts.port or usual)]


def listens(host: str, port: int) -> bool:
    """Return whether something accepts TCP connections there, within two seconds."""
    try:
        with socket.create_connection((probe.reachable(host), port), timeout=_CONNECT_S):
            return True
    except OSError:
        return False
