"""The commands as a user runs them."""

import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from infra import commands, settings
from infra.folder_lock import FolderLock
from infra.tokens import TokenStore
from tests.fakes.ports import free_port

pytestmark = pytest.mark.timeout(90)  # whole processes start here, on machines that may be busy

RUN = "import typer; from infra.commands import register; app = typer.Typer(); register(app); app()"


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="ss-") as name:
        monkeypatch.setenv("SIGNAL_SEARCH_DATA_DIR", name)
        monkeypatch.setenv("SIGNAL_SEARCH_GATEWAY__PORT", "1")
        monkeypatch.delenv("SIGNAL_SEARCH_REDIS_URL", raising=False)
        settings.current.cache_clear()
        yield Path(name)
        settings.current.cache_clear()


def run(*arguments: str) -> Result:
    app = typer.Typer()
    commands.register(app)
    return CliRunner().invoke(app, list(arguments))


def test_a_token_is_printed_once_and_works(folder: Path) -> None:
    made = run("token", "create", "--tenant", "acme", "--limit", "fetches=9")
    assert made.exit_code == 0
    token = made.stdout.strip()
    found = TokenStore.load(folder / "tokens.json").find(token)
    assert found is not None
    assert (found.tenant, dict(found.limits)) == ("acme", {"fetches": 9})
    listed = run("token", "list")
    assert token not in listed.output
    token_id = listed.stdout.split()[0]
    assert "acme" in listed.stdout
    assert run("token", "revoke", token_id).exit_code == 0
    assert run("token", "list").stdout == ""
    assert run("token", "revoke", token_id).exit_code == 1


def test_a_token_may_be_a_persons(folder: Path) -> None:
    token = run("token", "create", "--tenant", "acme", "--person", "ann").stdout.strip()
    found = TokenStore.load(folder / "tokens.json").find(token)
    assert found is not None
    assert found.actor == "acme/ann"


@pytest.mark.parametrize(
    "limit", ["fetches", "fetches=", "fetches=-1", "none=1", "=1", "fetches=²"]
)
def test_a_limit_that_is_none_is_a_usage_error(folder: Path, limit: str) -> None:
    assert run("token", "create", "--tenant", "acme", "--limit", limit).exit_code == 2
    assert not (folder / "tokens.json").exists()


def test_the_doctor_speaks_json(folder: Path) -> None:
    told = run("doctor", "--json")
    document = json.loads(told.stdout)
    assert told.exit_code == 0
    assert document["well"] is True
    assert {check["name"] for check in document["checks"]} >= {
        "settings",
        "store",
        "tokens",
        "ports",
    }


def test_the_doctor_names_a_wrong_setting_and_not_its_value(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIGNAL_SEARCH_POLITENESS__INTERVAL_S", "3.25")
    told = run("doctor")
    assert told.exit_code == 1
    assert "politeness.interval_s" in told.stdout
    assert "3.25" not in told.output
    assert run("up").exit_code == 2


@pytest.mark.parametrize("command", ["worker", "gateway", "flower"])
def test_without_a_store_a_part_says_what_to_do(folder: Path, command: str) -> None:
    told = run(command)
    assert told.exit_code == 1
    assert "signal-search up" in told.output


def rooms(folder: Path) -> Path:
    """Write a working folder whose gateway is a stand-in."""
    place = folder / "rooms" / "api_gateway"
    place.mkdir(parents=True)
    (place / "__init__.py").touch()
    (place / "app.py").write_text(
        "def create_app():\n"
        "    async def app(scope, receive, send):\n"
        "        if scope['type'] == 'http':\n"
        "            await send({'type': 'http.response.start', 'status': 200, 'headers': []})\n"
        "            await send({'type': 'http.response.body', 'body': b''})\n"
        "    return app\n"
    )
    return place.parent


def children_of(pid: int) -> list[int]:
    """Return the children of every thread: ours are started by one that is not the first."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # a thread that has just ended
            found += map(int, (task / "children").read_text().split())
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="reads the process table of Linux")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_ends_the_whole_stack(folder: Path, number: signal.Signals) -> None:
    command = [
        sys.executable,
        "-c",
        RUN,
        "up",
        "--workers-crawl",
        "0",
        "--workers-reduce",
        "0",
        "--no-flower",
    ]
    port = free_port()
    up = subprocess.Popen(
        [*command, "--port", str(port)],
        cwd=rooms(folder),
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with up:
        assert up.stderr is not None
        lines = []
        for line in up.stderr:
            lines.append(line.strip())
            if line.startswith("ready"):
                break
        children = children_of(up.pid)
        assert len(children) == 2  # the store and the gateway
        up.send_signal(number)
        up.send_signal(number)  # an impatient user
        rest = up.stderr.read()
        assert up.wait(60) == 0
    assert f"gateway   http://127.0.0.1:{port}" in lines
    assert rest.splitlines() == ["stopping ...", "stopped"]
    assert not any(Path(f"/proc/{pid}").exists() for pid in children)
    assert list(folder.rglob("*.sock")) == []


def test_a_second_stack_on_the_folder_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = FolderLock(folder / "stack.lock")
    assert lock.acquire()
    told = run("up", "--no-flower")
    lock.release()
    assert told.exit_code == 1
    assert "Another stack runs" in told.output
    assert [path.name for path in folder.iterdir()] == ["stack.lock"]
