"""Small real processes; time between restarts is set, not slept."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.child import Child, Kept
from infra.clock import FixedClock
from tests.fakes.waiting import is_running, wait_until

ENVIRONMENT = {"PATH": os.defpath, "GREETING": "hello"}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "logs" / "child.log"


def python(code: str, log: Path) -> Child:
    return Child("child", [sys.executable, "-c", code], log=log, environment=ENVIRONMENT)


@pytest.fixture
def sleeper(log: Path) -> Iterator[Child]:
    child = Child("sleeper", ["sleep", "60"], log=log, environment=ENVIRONMENT)
    child.start()
    yield child
    child.stop(1)


def test_its_words_go_to_its_log_and_its_environment_is_the_given_one(log: Path) -> None:
    code = (
        "import os, sys; print(sorted(os.environ)); print(os.environ['GREETING'], file=sys.stderr)"
    )
    child = python(code, log)
    child.start()
    assert child.wait(40)
    names = set(os.environ) & set(eval_list(log.read_text().splitlines()))
    assert names <= {"PATH", "LC_CTYPE"}
    assert "hello" in log.read_text().splitlines()
    assert child.last_lines(1) in log.read_text()


def eval_list(lines: list[str]) -> list[str]:
    listed = next(line for line in lines if line.startswith("["))
    return [name.strip("' ") for name in listed.strip("[]").split(",")]


def test_it_is_the_command_itself_not_a_wrapper(sleeper: Child) -> None:
    wait_until(lambda: Path(f"/proc/{sleeper.pid}/comm").read_text() == "sleep\n", "exec happened")
    assert sleeper.is_alive()


def test_it_has_its_own_session(sleeper: Child) -> None:
    """Ctrl-C in a terminal goes to the foreground group: the supervisor's, never the child's."""
    assert sleeper.pid is not None
    assert os.getsid(sleeper.pid) == sleeper.pid
    assert os.getpgid(sleeper.pid) != os.getpgid(0)


def test_a_polite_one_is_asked_and_ends(sleeper: Child) -> None:
    wait_until(lambda: Path(f"/proc/{sleeper.pid}/comm").read_text() == "sleep\n", "exec happened")
    pid = sleeper.pid
    assert pid is not None
    assert sleeper.stop(40)
    assert not is_running(pid)
    assert sleeper.pid is None
    assert sleeper.stop(10)


def test_a_deaf_one_is_killed_with_its_own_children(log: Path) -> None:
    code = (
        "import signal, subprocess, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = subprocess.Popen(['sleep', '60'])\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    child = python(code, log)
    child.start()
    wait_until(lambda: log.read_text().strip().isdigit(), "the grandchild runs")
    grandchild = int(log.read_text())
    pid = child.pid
    assert pid is not None
    assert not child.stop(0.2)
    assert not is_running(pid)
    wait_until(lambda: not is_running(grandchild), "the grandchild has ended")


def test_it_is_asked_only_once(log: Path) -> None:
    """To Celery a second signal means "now": a warm shutdown must not become a cold one."""
    code = (
        "import signal, threading, time\n"
        "asked = threading.Event()\n"
        "def heard(*_):\n"
        "    print('asked', flush=True)\n"
        "    asked.set()\n"
        "signal.signal(signal.SIGTERM, heard)\n"
        "print('ready', flush=True)\n"
        "asked.wait(60)\n"
        "time.sleep(0.5)\n"  # a second signal would be heard in this time
    )
    child = python(code, log)
    child.start()
    wait_until(lambda: "ready" in log.read_text(), "the handler is set")
    child.ask_to_stop()
    child.ask_to_stop()
    assert child.stop(40)
    assert log.read_text().split() == ["ready", "asked"]


def test_a_large_log_is_put_aside(log: Path) -> None:
    log.parent.mkdir()
    log.write_bytes(b"x" * 10_000_001)
    child = python("print('new')", log)
    child.start()
    assert child.wait(40)
    assert log.read_text() == "new\n"
    assert log.with_suffix(".log.1").stat().st_size == 10_000_001


def test_a_command_that_does_not_exist_is_seen_in_the_log(log: Path) -> None:
    child = Child("none", ["/no/such/command"], log=log, environment=ENVIRONMENT)
    child.start()
    assert child.wait(40)
    assert "FileNotFoundError" in child.last_lines(3)


def kept(log: Path, clock: FixedClock) -> Kept:
    return Kept(python("", log), clock, stop_s=1)


def die(each: Kept) -> None:
    assert each.child.wait(40)


def test_restarts_come_later_and_later(log: Path) -> None:
    """1, 2, 4, 8, 16, 30, 30 seconds: measured with a clock that is set."""
    clock = FixedClock(0)
    each = kept(log, clock)
    each.start()
    delays = []
    for _ in range(7):
        die(each)
        assert not each.look()
        waited = 0
        while not each.look():
            clock.advance(500)
            waited += 500
        delays.append(waited / 1000)
    each.child.wait(40)
    assert delays == [1, 2, 4, 8, 16, 30, 30]
    assert each.restarts == 7


def test_a_minute_of_life_forgives(log: Path) -> None:
    clock = FixedClock(0)
    each = kept(log, clock)
    each.start()
    for advance_ms in (1000, 2000):
        die(each)
        assert not each.look()
        clock.advance(advance_ms)
        assert each.look()
    die(each)
    clock.advance(60_000)
    assert not each.look()  # seen dead a minute after its start
    clock.advance(1000)
    assert each.look()
    each.child.wait(40)


LEAVES_A_CHILD = """
import subprocess, sys
print(subprocess.Popen(["sleep", "60"]).pid, flush=True)
sys.stdin.read()
import time
time.sleep(60)
"""


def test_what_a_dead_process_left_in_its_session_is_killed_before_it_starts_again(
    log: Path,
) -> None:
    child = python(LEAVES_A_CHILD, log)
    clock = FixedClock(0)
    kept = Kept(child, clock, stop_s=1)
    kept.start()
    wait_until(lambda: bool(log.exists() and log.read_text().strip()), "it has a child of its own")
    orphan = int(log.read_text())
    assert child.pid is not None
    os.kill(child.pid, signal.SIGKILL)
    wait_until(lambda: not child.is_alive(), "it is dead")
    assert is_running(orphan)
    assert not kept.look()
    wait_until(lambda: not is_running(orphan), "nothing of it is left")
    child.stop(1)


def test_a_living_process_is_not_buried(sleeper: Child) -> None:
    sleeper.bury()
    assert sleeper.is_alive()
