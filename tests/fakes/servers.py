"""Real servers on loopback ports: a cluster of three, and a master with a replica behind a Sentinel."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from redis import Redis
from redis.exceptions import RedisError

from infra.embedded_redis import find_server
from tests.fakes import waiting
from tests.fakes.ports import free_ports

_SLOTS = 16_384


def wait_until(predicate: Callable[[], object], description: str) -> None:
    """Wait as `waiting.wait_until` does; a server that does not answer yet is waited for too."""
    waiting.wait_until(lambda: _holds(predicate), description)


def _holds(predicate: Callable[[], object]) -> bool:
    try:
        return bool(predicate())
    except RedisError:
        return False


@contextmanager
def server(folder: Path, port: int, *options: str, config: str = "") -> Iterator[int]:
    """Run a server without persistence, with a configuration file if it has one; yield its process id."""
    folder.mkdir(parents=True)
    binary = find_server()
    assert binary is not None
    command = [str(binary)]
    if config:
        (folder / "server.conf").write_text(config)
        command.append(str(folder / "server.conf"))
    fixed = ("--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder))
    with subprocess.Popen([*command, *fixed, *options], stdout=subprocess.DEVNULL) as process:
        client = plain(port)
        try:
            wait_until(client.ping, "the server answers")
            yield process.pid
        finally:
            client.close()
            process.kill()


def plain(port: int) -> Redis:
    return Redis(host="127.0.0.1", port=port, socket_timeout=30)


_VOLATILE = ("--save", "", "--appendonly", "no")


@contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """Run three primaries that share the slots; yield their address."""
    ports, buses = free_ports(3), free_ports(3)
    with ExitStack() as stack:
        for port, bus in zip(ports, buses, strict=True):
            options = ("--cluster-enabled", "yes", "--cluster-port", str(bus), *_VOLATILE)
            stack.enter_context(server(folder / str(port), port, *options))
        clients = [plain(port) for port in ports]
        for client in clients:
            stack.callback(client.close)
        _join(clients, ports, buses)
        yield "redis+cluster://" + ",".join(f"127.0.0.1:{port}" for port in ports)


def _join(clients: list[Redis], ports: list[int], buses: list[int]) -> None:
    edges = [round(number * _SLOTS / len(clients)) for number in range(len(clients) + 1)]
    for number, client in enumerate(clients):
        _do(client, "CLUSTER", "ADDSLOTSRANGE", edges[number], edges[number + 1] - 1)
        _do(client, "CLUSTER", "SET-CONFIG-EPOCH", number + 1)
    for port, bus in zip(ports[1:], buses[1:], strict=True):
        _do(clients[0], "CLUSTER", "MEET", "127.0.0.1", port, bus)
    for client in clients:
        wait_until(lambda client=client: _is_whole(client), "the cluster is whole")


def _is_whole(client: Redis) -> bool:
    said = _do(client, "CLUSTER", "INFO")
    text = said.decode() if isinstance(said, bytes) else str(said)
    state, known = "cluster_state:ok", "cluster_known_nodes:3"
    if isinstance(said, dict):
        return said["cluster_state"] == "ok" and said["cluster_known_nodes"] == "3"
    return state in text and known in text


def _do(client: Redis, *words: str | int) -> Any:
    return client.execute_command(*words)  # type: ignore[no-untyped-call]


@dataclass
class Watched:
    """A master with a replica behind one Sentinel."""

    url: str
    sentinel_port: int
    pids: dict[int, int]

    def master(self) -> int:
        client = plain(self.sentinel_port)
        try:
            return int(client.sentinel_masters()["main"]["port"])  # where clients look, too
        finally:
            client.close()

    def fail_over(self) -> None:
        """Kill the master and wait until the replica has its place and takes writes."""
        before = self.master()
        os.kill(self.pids[before], signal.SIGKILL)
        wait_until(lambda: self.master() != before, "the Sentinel promotes the replica")
        client = plain(self.master())
        wait_until(lambda: client.set("probe", "1"), "the new master takes writes")
        client.delete("probe")
        client.close()


@contextmanager
def sentinel(folder: Path) -> Iterator[Watched]:
    """Run a master, a replica and a Sentinel that gives the master up after half a second."""
    first, second, watcher = free_ports(3)
    config = (
        f"sentinel monitor main 127.0.0.1 {first} 1\n"
        "sentinel down-after-milliseconds main 500\n"
        "sentinel failover-timeout main 5000\n"
    )
    follows = ("--replicaof", f"127.0.0.1 {first}", "--repl-diskless-sync-delay", "0")
    with (
        server(folder / "first", first, *_VOLATILE, "--repl-diskless-sync-delay", "0") as one,
        server(folder / "second", second, *_VOLATILE, *follows) as two,
    ):
        replica = plain(second)
        wait_until(
            lambda: replica.info("replication")["master_link_status"] == "up", "the replica follows"
        )
        replica.close()
        with server(folder / "watcher", watcher, "--sentinel", config=config):
            asked = plain(watcher)
            wait_until(
                lambda: len(_do(asked, "SENTINEL", "REPLICAS", "main")) == 1,
                "the Sentinel knows the replica",
            )
            asked.close()
            url = f"redis+sentinel://127.0.0.1:{watcher}/main"
            yield Watched(url, watcher, {first: one, second: two})
