"""The stack with a real store, a real Celery worker and a real HTTP server whose insides are small stand-ins."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from base64 import b64encode
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path

import pytest
from signal_search.errors import Conflict, Failed

from infra.clock import FixedClock
from infra.settings import Settings, load
from infra.stack import EmbeddedTransport, Parts, Stack, open_stack, running_stack
from tests.fakes.ports import free_port
from tests.fakes.waiting import is_running, wait_until

pytestmark = pytest.mark.timeout(90)  # whole processes start here, on machines that may be busy

WORKER = """
import os, threading, time
from celery import Celery, bootsteps
from infra.broker import broker_url
from infra.heartbeat import beat
from infra.redis import connect
from infra.settings import current

settings = current()
app = Celery("stand_in", broker=broker_url(settings.broker))
app.conf.update(broker_connection_retry_on_startup=True, worker_hijack_root_logger=False)

class Beat(bootsteps.StartStopStep):
    requires = {"celery.worker.components:Pool"}
    def start(self, worker):
        def run():
            client = connect(settings.redis_url)
            while True:
                beat(client, worker.hostname, settings.worker_role, pid=os.getpid(), started_ms=1)
                time.sleep(0.2)
        threading.Thread(target=run, daemon=True).start()

app.steps["worker"].add(Beat)
"""

GATEWAY = """
def create_app():
    async def app(scope, receive, send):
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"ready"})
    return app
"""


@pytest.fixture(scope="module")
def rooms() -> Iterator[Path]:
    """A working folder whose rooms come before the installed ones."""
    with tempfile.TemporaryDirectory(prefix="ss-rooms-") as name:
        for room, module, text in (("workers", "worker", WORKER), ("api_gateway", "app", GATEWAY)):
            folder = Path(name, room)
            folder.mkdir()
            (folder / "__init__.py").touch()
            (folder / f"{module}.py").write_text(text)
        yield Path(name)


@pytest.fixture
def settings(rooms: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    with tempfile.TemporaryDirectory(prefix="ss-") as name:
        monkeypatch.chdir(rooms)
        flower = {"host": "127.0.0.1", "port": free_port(), "user": "signal"}
        yield load(data_dir=name, flower=flower)


def test_everything_starts_is_ready_heals_and_ends_in_order(settings: Settings) -> None:
    port = free_port()
    parts = Parts(
        workers={"crawl": 1, "reduce": 1}, gateway=True, port=port, flower_password="open-sesame"
    )
    stack = Stack(settings, parts)
    stack.start()
    try:
        names = [each.child.name for each in stack.processes]
        assert names == ["flower", "worker-crawl1", "worker-reduce1", "gateway"]
        assert stack.gateway_url == f"http://127.0.0.1:{port}"
        running = running_stack(settings.data_path)
        assert running is not None
        assert running.pid == os.getpid()
        assert running.redis_url == stack.redis_url
        with pytest.raises(Conflict):
            Stack(settings, parts).start()

        flower_port = settings.flower.port
        wait_until(lambda: flower_status(flower_port, "") == 401, "Flower asks for a password")
        assert flower_status(flower_port, "signal:open-sesame") == 200
        assert flower_status(flower_port, "signal:wrong") == 401
        assert_no_secret_on_command_lines(stack, "open-sesame")

        worker = stack.processes[1]
        first = worker.child.pid
        assert first is not None
        os.kill(first, signal.SIGKILL)
        wait_until(lambda: not worker.child.is_alive(), "the worker is dead")
        assert stack.watch() == []  # not at once: the delay is a second
        restarted: list[str] = []
        wait_until(lambda: bool(restarted.extend(stack.watch()) or restarted), "it is back")
        assert restarted == ["worker-crawl1"]
        assert worker.child.pid not in {None, first}
        pids = [each.child.pid for each in stack.processes]
    finally:
        stack.stop()
    assert not any(is_running(pid) for pid in pids if pid)
    assert running_stack(settings.data_path) is None
    assert list(settings.data_path.rglob("*.sock")) == []
    for name in names:
        assert (settings.data_path / "logs" / f"{name}.log").exists()
    stack.stop()


def flower_status(port: int, login: str) -> int:
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    headers = {"Authorization": f"Basic {b64encode(login.encode()).decode()}"} if login else {}
    try:
        connection.request("GET", "/workers", headers=headers)
        return connection.getresponse().status
    except OSError:
        return 0
    finally:
        connection.close()


def assert_no_secret_on_command_lines(stack: Stack, secret: str) -> None:
    for each in stack.processes:
        line = Path(f"/proc/{each.child.pid}/cmdline").read_bytes()
        assert line
        assert secret.encode() not in line


def test_a_part_that_ends_at_once_is_named_with_its_last_words(
    settings: Settings, rooms: Path
) -> None:
    broken = rooms / "api_gateway" / "app.py"
    broken.write_text("raise SystemExit('the reason')")
    try:
        stack = Stack(settings, Parts(workers={}, gateway=True, port=free_port()))
        with pytest.raises(Failed, match=r"(?s)gateway ended at once.*the reason"):
            stack.start()
    finally:
        broken.write_text(GATEWAY)
    assert stack.processes == []
    assert running_stack(settings.data_path) is None
    assert list(settings.data_path.rglob("*.sock")) == []


@pytest.mark.parametrize("who", ["the gateway", "Flower", "the loopback web"])
def test_a_port_that_another_program_has_is_named_before_anything_starts(
    settings: Settings, who: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = other.getsockname()[1]
        ports = {name: free_port() for name in ("the gateway", "Flower", "the loopback web")}
        ports[who] = taken
        flower = settings.flower.model_copy(update={"port": ports["Flower"]})
        parts = Parts(
            workers={},
            gateway=True,
            port=ports["the gateway"],
            flower_password="open-sesame",
            web_port=ports["the loopback web"],
        )
        stack = Stack(settings.model_copy(update={"flower": flower}), parts)
        with pytest.raises(Conflict) as refused:
            stack.start()
    assert refused.value.message == f"Another program has port {taken}, which {who} needs."
    assert stack.processes == []
    assert list(settings.data_path.rglob("*.sock")) == []
    assert running_stack(settings.data_path) is None


def test_a_store_that_dies_is_started_again(settings: Settings) -> None:
    stack = Stack(settings, Parts(workers={}), clock=FixedClock(0))
    stack.start()
    try:
        assert stack.watch() == []
        store = stack._redis
        assert store is not None
        assert store.pid is not None
        os.kill(store.pid, signal.SIGKILL)
        wait_until(lambda: not store.is_alive(), "the store is dead")
        assert stack.watch() == ["redis"]
        assert store.is_alive()
    finally:
        stack.stop()


SUPERVISOR = """
import sys
from infra.settings import load
from infra.stack import Parts, Stack
stack = Stack(load(data_dir=sys.argv[1]), Parts(workers={"all": 1}))
stack.start()
print(stack._redis.pid, *[each.child.pid for each in stack.processes], flush=True)
sys.stdin.readline()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's death signal is Linux only")
@pytest.mark.parametrize("how", ["killed", "ended"])
def test_nothing_outlives_the_supervisor(settings: Settings, how: str) -> None:
    supervisor = subprocess.Popen(
        [sys.executable, "-c", SUPERVISOR, settings.data_dir],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with supervisor:
        assert supervisor.stdout is not None
        pids = [int(pid) for pid in supervisor.stdout.readline().split()]
        assert len(pids) == 2
        assert all(is_running(pid) for pid in pids)
        if how == "killed":
            supervisor.kill()
        else:
            supervisor.communicate("end\n", timeout=30)
    wait_until(lambda: not any(is_running(pid) for pid in pids), "all have ended")


class _Desk:
    """What the entry point `redis` would give."""

    def __init__(self, url: str | None, token: str | None) -> None:
        self.url = url
        self.token = token
        self.closed = 0

    def job(self, job_id: str) -> str:
        return f"{job_id} by {self.token}"

    def close(self) -> None:
        self.closed += 1


def test_the_embedded_transport_brings_its_stack_and_waits_for_its_guests(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("infra.stack._redis_transport", lambda: _Desk)
    opened: list[EmbeddedTransport] = []
    # Opened in a thread that ends: the stack must not end with it.
    opener = threading.Thread(target=lambda: opened.append(open_stack(settings, None, "t1")))
    opener.start()
    opener.join()
    host = opened[0]
    guest = open_stack(settings, None, "t2")
    assert host.job("job_1") == "job_1 by t1"
    assert guest.job("job_1") == "job_1 by t2"
    assert guest.url == host.url
    closer = threading.Thread(target=host.close)
    closer.start()
    wait_until(lambda: host.closed == 1, "the host's own transport is closed")
    closer.join(0.3)
    assert closer.is_alive()  # the guest is still at work
    assert running_stack(settings.data_path) is not None
    guest.close()
    closer.join(30)
    assert not closer.is_alive()
    assert running_stack(settings.data_path) is None
    assert list(settings.data_path.rglob("*.sock")) == []
    host.close()
    guest.close()


def test_a_transport_that_fails_leaves_no_stack(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(url: str | None, token: str | None) -> _Desk:
        raise Failed("no")

    monkeypatch.setattr("infra.stack._redis_transport", lambda: refuse)
    with pytest.raises(Failed, match="no"):
        open_stack(settings, None, None)
    assert running_stack(settings.data_path) is None
    assert list(settings.data_path.rglob("*.sock")) == []
