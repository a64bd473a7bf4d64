"""Workers are killed (-9) in the middle of a job: it ends all the same, with the same result, charged once."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from infra import keys
from tests.chaos.stage import (
    Stage,
    assert_as_if_nothing_had_happened,
    stage,
    wait_until,
)
from tests.chaos.traps import Traps

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(240)]


def holder_of(on: Stage, step: str) -> bool:
    """Whether some worker holds the step at this moment."""
    step_id = f"{on.job_id}/{step}"
    key = keys.step(keys.step_shard(step_id), step_id)
    return on.redis.hget(key, "state") == b"claimed"


def children_of(pid: int) -> list[int]:
    """Return the processes that a worker has forked or spawned."""
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def session_of(pid: int) -> list[int]:
    """Return the processes of a worker's session: its parsers and what else it started."""
    found = []
    for each in Path("/proc").iterdir():
        if each.name.isdigit():
            try:
                fields = (each / "stat").read_text().rsplit(")", 1)[1].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(fields[3]) == pid and fields[0] != "Z":
                found.append(int(each.name))
    return found


def test_the_only_crawl_worker_is_killed_and_comes_back(
    tmp_path: Path, undisturbed: dict[str, Any]
):
    with stage(tmp_path, {"crawl": 1, "reduce": 1}) as on:
        on.submit()
        wait_until(lambda: on.pages_seen() >= 3, "the crawl is under way")
        leader = on.pid("worker-crawl1")
        family = session_of(leader)
        assert len(family) > 1  # its parsers are processes of their own
        on.kill("worker-crawl1")
        on.wait_for_restart("worker-crawl1")
        assert not [pid for pid in family if is_running(pid)], "a parser outlived its worker"
        assert_as_if_nothing_had_happened(on, undisturbed)


def test_two_crawl_workers_are_killed_one_after_the_other(
    tmp_path: Path, undisturbed: dict[str, Any]
):
    with stage(tmp_path, {"crawl": 2, "reduce": 1}) as on:
        on.submit()
        wait_until(lambda: on.pages_seen() >= 2, "the crawl is under way")
        on.kill("worker-crawl1")
        wait_until(lambda: on.pages_seen() >= 4, "the other one goes on, or the first is back")
        on.kill("worker-crawl2")
        assert_as_if_nothing_had_happened(on, undisturbed)


@pytest.mark.parametrize("step", ["plan", "reduce"])
def test_the_process_that_holds_a_step_is_killed(
    tmp_path: Path, undisturbed: dict[str, Any], step: str
):
    """It stands still at it: who only looked might see none at work on a step of some milliseconds."""
    function = f"workers.pipeline.{step}:{step}"
    traps = Traps(tmp_path / "traps", function)
    with stage(tmp_path, {"crawl": 1, "reduce": 1}, **traps.environment) as on:
        traps.arm(function)
        on.submit()
        wait_until(traps.has_sprung, f"a process works on {step}")
        assert holder_of(on, step)
        for pid in children_of(on.pid("worker-reduce1")):
            os.kill(pid, signal.SIGKILL)
        assert_as_if_nothing_had_happened(on, undisturbed)


def test_the_whole_reduce_worker_is_killed_while_it_holds_the_reduction(
    tmp_path: Path, undisturbed: dict[str, Any]
):
    function = "workers.pipeline.reduce:reduce"
    traps = Traps(tmp_path / "traps", function)
    with stage(tmp_path, {"crawl": 1, "reduce": 1}, **traps.environment) as on:
        on.submit()
        wait_until(lambda: on.pages_seen() >= 2, "the crawl is under way")
        traps.arm(function)
        wait_until(traps.has_sprung, "the reduction is worked on")
        assert holder_of(on, "reduce")
        os.killpg(on.pid("worker-reduce1"), signal.SIGKILL)
        assert_as_if_nothing_had_happened(on, undisturbed)
        on.wait_for_restart("worker-reduce1")
