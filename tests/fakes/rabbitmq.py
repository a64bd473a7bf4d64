"""A real RabbitMQ on ports and folders of its own, with a port mapper of its own; skipped where none is installed."""

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.fakes.ports import free_ports

_WAIT_S = 120.0
_SCRIPT = "/usr/lib/rabbitmq/bin/rabbitmq-server"


@contextmanager
def rabbitmq(folder: Path) -> Iterator[str]:
    """Run a broker without plugins; yield its address."""
    # Debian's own script first: the one on its PATH changes the user and drops the environment.
    binary = shutil.which(_SCRIPT) or shutil.which("rabbitmq-server")
    mapper = shutil.which("epmd")
    if binary is None or mapper is None:
        pytest.skip("rabbitmq-server is not installed")
    port, dist, names = free_ports(3)
    environment = _environment(folder, port, dist, names)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment}
    with subprocess.Popen([mapper], **quiet) as mapping:  # type: ignore[call-overload]
        try:
            with subprocess.Popen([binary], start_new_session=True, **quiet) as broker:  # type: ignore[call-overload]
                try:
                    _wait_for(port, broker)
                    yield f"amqp://guest:guest@127.0.0.1:{port}//"
                finally:
                    with suppress(ProcessLookupError):
                        os.killpg(broker.pid, signal.SIGKILL)
        finally:
            mapping.kill()


def _environment(folder: Path, port: int, dist: int, names: int) -> dict[str, str]:
    home = folder / "home"
    home.mkdir(parents=True)
    plugins = folder / "enabled_plugins"
    plugins.write_text("[].")
    return {
        **os.environ,
        "HOME": str(home),  # the Erlang cookie is written here
        "ERL_EPMD_PORT": str(names),
        "ERL_EPMD_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODENAME": f"signal{port}@localhost",
        "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODE_PORT": str(port),
        "RABBITMQ_DIST_PORT": str(dist),
        "RABBITMQ_MNESIA_BASE": str(folder / "mnesia"),
        "RABBITMQ_LOG_BASE": str(folder / "log"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(plugins),
        "RABBITMQ_CONF_ENV_FILE": str(folder / "none.conf"),
        "RABBITMQ_CONFIG_FILE": str(folder / "none"),
    }


def _wait_for(port: int, broker: "subprocess.Popen[bytes]") -> None:
    """Wait until the broker greets: it accepts connections a while before."""
    ends = time.monotonic() + _WAIT_S
    while time.monotonic() < ends:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=2) as door:
            door.sendall(b"AMQP\x00\x00\x09\x01")
            if door.recv(1):
                return
        if broker.poll() is not None:
            pytest.fail("the broker ended at once")
        time.sleep(0.2)
    pytest.fail("the broker did not come up")
