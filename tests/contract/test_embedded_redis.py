"""The embedded server against its promises: private, one per folder, adopted after a crash, never left behind."""

import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from kombu import Connection
from redis import Redis
from signal_search.errors import Conflict, StoreFailed

from infra.broker import broker_url
from infra.embedded_redis import EmbeddedRedis, find_server
from infra.redis import connect
from tests.fakes.waiting import is_running, wait_until


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="ss-") as name:
        yield Path(name)


@pytest.fixture
def server(folder: Path) -> Iterator[EmbeddedRedis]:
    embedded = EmbeddedRedis(folder)
    embedded.start()
    yield embedded
    embedded.stop()


def client_of(server: EmbeddedRedis) -> Redis:
    return connect(server.url)


def test_it_answers_and_keeps_every_write(server: EmbeddedRedis) -> None:
    client = client_of(server)
    assert client.ping()
    wanted = {
        "appendonly": "yes",
        "appendfsync": "everysec",
        "maxmemory-policy": "noeviction",
        "port": "0",
        "save": "",
    }
    found = {name: client.config_get(name)[name] for name in wanted}
    client.close()
    assert found == wanted


def test_only_its_owner_can_reach_it(server: EmbeddedRedis, folder: Path) -> None:
    assert stat.S_IMODE((folder / "redis").stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "redis" / "redis.sock").stat().st_mode) == 0o700


def test_data_outlive_a_restart(folder: Path) -> None:
    first = EmbeddedRedis(folder)
    first.start()
    client = client_of(first)
    client.set("kept", "yes")
    client.close()
    first.stop()
    second = EmbeddedRedis(folder)
    second.start()
    client = client_of(second)
    kept = client.get("kept")
    client.close()
    second.stop()
    assert kept == b"yes"


def test_stop_leaves_no_process_and_no_socket(folder: Path) -> None:
    embedded = EmbeddedRedis(folder)
    embedded.start()
    pid = embedded.pid
    assert pid is not None
    embedded.stop()
    assert not is_running(pid)
    assert list(folder.rglob("*.sock")) == []
    assert not embedded.is_alive()
    embedded.stop()


def test_start_is_idempotent(server: EmbeddedRedis) -> None:
    pid = server.pid
    assert server.start() == server.url
    assert server.pid == pid


def test_a_folder_has_one_owner(server: EmbeddedRedis, folder: Path) -> None:
    with pytest.raises(Conflict):
        EmbeddedRedis(folder).start()
    assert server.is_alive()


def test_a_folder_is_free_again_after_stop(folder: Path) -> None:
    first = EmbeddedRedis(folder)
    first.start()
    first.stop()
    second = EmbeddedRedis(folder)
    second.start()
    assert second.is_alive()
    second.stop()


def test_a_server_that_dies_is_started_again_by_its_owner(server: EmbeddedRedis) -> None:
    pid = server.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not server.is_alive(), "the server is dead")
    server.start()
    assert server.pid not in {None, pid}
    client = client_of(server)
    assert client.ping()
    client.close()


def test_an_orphan_is_adopted_and_stopped(folder: Path) -> None:
    """A server as a killed owner leaves it where the kernel does not end it: running, its socket remembered."""
    home = folder / "redis"
    home.mkdir(mode=0o700)
    socket = home / "redis.sock"
    (home / "socket-path").write_text(str(socket))
    command = [str(find_server()), "--port", "0", "--unixsocket", str(socket), "--dir", str(home)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as orphan:
        wait_until(socket.exists, "the orphan listens")
        embedded = EmbeddedRedis(folder)
        embedded.start()
        assert embedded.pid == orphan.pid
        client = client_of(embedded)
        client.set("from", "the new owner")
        client.close()
        _stop_while_reaping(embedded, orphan)
        assert orphan.returncode == 0


def _stop_while_reaping(embedded: EmbeddedRedis, orphan: "subprocess.Popen[bytes]") -> None:
    """Reaping is the parent's duty, and here that is this test; elsewhere it is init's."""
    reaper = threading.Thread(target=orphan.wait)
    reaper.start()
    embedded.stop()
    reaper.join()


def test_a_stranger_on_the_socket_is_not_adopted(folder: Path) -> None:
    """A server that keeps its data elsewhere is not ours, whatever the pointer says."""
    home, elsewhere = folder / "redis", folder / "elsewhere"
    home.mkdir(mode=0o700)
    elsewhere.mkdir()
    socket = elsewhere / "redis.sock"
    (home / "socket-path").write_text(str(socket))
    command = [
        str(find_server()),
        "--port",
        "0",
        "--unixsocket",
        str(socket),
        "--dir",
        str(elsewhere),
    ]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as stranger:
        wait_until(socket.exists, "the stranger listens")
        embedded = EmbeddedRedis(folder)
        embedded.start()
        pid = embedded.pid
        embedded.stop()
        assert pid not in {None, stranger.pid}
        assert stranger.poll() is None
        stranger.terminate()


OWNER = """
import sys, threading
from pathlib import Path
from infra.embedded_redis import EmbeddedRedis
server = EmbeddedRedis(Path(sys.argv[1]))
# Started from a thread that ends at once: the server must outlive it.
starter = threading.Thread(target=server.start)
starter.start()
starter.join()
print(server.pid, flush=True)
sys.stdin.readline()
"""


def start_owner(folder: Path) -> "tuple[subprocess.Popen[str], int]":
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert owner.stdout is not None
    return owner, int(owner.stdout.readline())


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's death signal is Linux only")
def test_a_killed_owner_leaves_no_server(folder: Path) -> None:
    owner, pid = start_owner(folder)
    with owner:
        time.sleep(0.1)
        assert is_running(pid)
        owner.kill()
    wait_until(lambda: not is_running(pid), "the server has ended")
    embedded = EmbeddedRedis(folder)
    embedded.start()
    assert embedded.is_alive()
    embedded.stop()


def test_an_owner_that_just_ends_leaves_no_server(folder: Path) -> None:
    owner, pid = start_owner(folder)
    with owner:
        assert owner.stdin is not None
        owner.stdin.write("end\n")
        owner.stdin.flush()
        owner.wait(40)
    assert owner.returncode == 0
    assert not is_running(pid)


def test_a_long_path_still_works(folder: Path) -> None:
    deep = folder / ("d" * 60) / ("e" * 60) / "with space"
    embedded = EmbeddedRedis(deep)
    url = embedded.start()
    socket = Path(url.removeprefix("unix://"))
    assert len(str(socket)) <= 100
    assert stat.S_IMODE(socket.parent.stat().st_mode) == 0o700
    client = connect(url)
    assert client.ping()
    client.close()
    pid = embedded.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not embedded.is_alive(), "the server is dead")
    assert embedded.start() == url  # its clients know no other address
    assert stat.S_IMODE(socket.parent.stat().st_mode) == 0o700
    embedded.stop()
    assert not socket.parent.exists()


def test_a_path_with_a_space_and_a_percent_sign_works(folder: Path) -> None:
    embedded = EmbeddedRedis(folder / "a b%20c")
    client = connect(embedded.start())
    assert client.ping()
    client.close()
    embedded.stop()


def test_no_server_is_said_with_what_to_install(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("infra.embedded_redis.find_server", lambda: None)
    embedded = EmbeddedRedis(folder)
    with pytest.raises(StoreFailed, match="apt install redis-server"):
        embedded.start()
    with pytest.raises(StoreFailed):  # the lock was given back: the same answer, not Conflict
        EmbeddedRedis(folder).start()


def test_a_server_that_ends_at_once_is_an_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("infra.embedded_redis.find_server", lambda: Path("/bin/false"))
    with pytest.raises(StoreFailed, match="did not come up"):
        EmbeddedRedis(folder).start()


def test_a_server_on_the_path_comes_before_the_bundled_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = folder / "redis-server"
    named.write_text("#!/bin/sh\n")
    named.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    assert find_server() == named
    named.unlink()
    found = find_server()
    assert found is not None
    assert found.name == "valkey-server"
    preferred = folder / "valkey-server"
    preferred.write_text("#!/bin/sh\n")
    preferred.chmod(0o755)
    assert find_server() == preferred


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("unix:///run/ss/redis.sock", "redis+socket:///run/ss/redis.sock?virtual_host=0"),
        ("unix:///run/ss/redis.sock?db=3", "redis+socket:///run/ss/redis.sock?virtual_host=3"),
        ("unix:///a%20b/redis.sock", "redis+socket:///a%20b/redis.sock?virtual_host=0"),
        ("redis://127.0.0.1:6379/0", "redis://127.0.0.1:6379/0"),
        ("amqp://broker:5672//", "amqp://broker:5672//"),
    ],
)
def test_the_broker_spells_a_socket_in_its_own_way(url: str, expected: str) -> None:
    assert broker_url(url) == expected


def test_a_celery_producer_reaches_the_socket(server: EmbeddedRedis) -> None:
    """The spelling is right only if the messaging library itself accepts it."""
    with Connection(broker_url(server.url)) as connection:
        queue = connection.SimpleQueue("probe")
        queue.put({"hello": 1})
        message = queue.get(block=True, timeout=40)
        message.ack()
        queue.close()
    assert message.payload == {"hello": 1}
