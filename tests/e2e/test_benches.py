"""Every bench still runs: each as the program it is, as little of it as it can do. What it measures then says nothing."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.__main__ import ALONE, BENCHES, OTHERS, SHARING
from bench.stacks import own_stack

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]

ROOT = Path(__file__).parents[2]
OWN_STACK = "starts a stack of its own, which takes a quarter of a minute each time"
ELSEWHERE = {
    "memory": OWN_STACK,
    "politeness": OWN_STACK,
    "search_latency": OWN_STACK,
    "retrieval": "needs its peers and the test collections",
    "simulation": "takes minutes; tests/unit/bench/test_simulation.py runs its parts",
    "sites": "needs documentation that is not part of this repository",
}


def ran(name: str, **more: str) -> None:
    """Run a bench as `python -m bench` would; what it prints must be rows with figures."""
    path = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, "-m", BENCHES[name], "--least"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path, **more},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    printed = json.loads(done.stdout)
    assert printed["rows"]
    assert printed["figures"]
    assert all({"measure", "n", "ours", "bar", "met"} <= each.keys() for each in printed["rows"])


@pytest.fixture(scope="module")
def stack() -> Iterator[dict[str, str]]:
    with own_stack() as at:
        yield at.passed_on()


@pytest.mark.parametrize("name", SHARING)
def test_a_bench_that_shares_a_stack_runs(name: str, stack: dict[str, str]) -> None:
    ran(name, **stack)


@pytest.mark.parametrize("name", [*ALONE, *OTHERS])
def test_a_bench_of_its_own_runs(name: str) -> None:
    if name in ELSEWHERE:
        pytest.skip(ELSEWHERE[name])
    ran(name)
