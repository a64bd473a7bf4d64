"""`signal-search scoring accept`, run: what it prints, its exit codes, and what it never says."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from infra.loopback_web import LoopbackWeb, hosts
from infra.loopback_web.faults import Fault
from infra.settings import child_environment
from tests.fakes.judge import KEY, model_calls

COMMAND = str(Path(sys.executable).with_name("signal-search"))


def accept(folder: Path, *options: str, **environment: str) -> tuple[int, dict[str, Any], str]:
    run = subprocess.run(
        [COMMAND, "scoring", "accept", *options],
        cwd=folder,
        env=child_environment(**environment),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    shown = run.stdout + run.stderr
    assert KEY not in shown
    assert "model.test" not in shown
    assert "Traceback" not in shown
    return run.returncode, json.loads(run.stdout), run.stderr


def live(web: LoopbackWeb, **more: str) -> dict[str, str]:
    return {
        "SIGNAL_SEARCH_SEARCH__SCORER_GENERATION_ENABLED": "true",
        "SIGNAL_SEARCH_SEARCH__AGENT_BASE_URL": "http://model.test/v1",
        "SIGNAL_SEARCH_SEARCH__AGENT_MODEL": "loopback-1",
        "SIGNAL_SEARCH_SEARCH__AGENT_API_KEY": KEY,
        "SIGNAL_SEARCH_LOOPBACK__ONLY": "true",
        "SIGNAL_SEARCH_LOOPBACK__HOSTS": json.dumps(hosts(web.port)),
        **more,
    }


SCORER = {
    "language": "qatlas-expr-v1",
    "filter": "coalesce(year, 0) > 2020",
    "score": "lexical",
}


def test_offline_nothing_is_read_or_sent(web: LoopbackWeb, tmp_path: Path) -> None:
    """A configuration that is not even valid changes nothing."""
    broken = live(web, SIGNAL_SEARCH_SEARCH__SCORER_GENERATION_TIMEOUT="never")
    code, said, complaints = accept(tmp_path, **broken)
    assert (code, complaints) == (0, "")
    assert said == {
        "passed": True,
        "live": False,
        "code": "passed",
        "version": "scorer-acceptance-1",
        "samples": 168,
        "usage": {"llm_tokens": 0},
        "scorer": SCORER,
    }
    assert model_calls(web) == 0


def test_live_asks_the_model_once(web: LoopbackWeb, tmp_path: Path) -> None:
    code, said, _ = accept(tmp_path, "--live", **live(web))
    assert code == 0
    assert (said["passed"], said["live"], said["usage"]) == (True, True, {"llm_tokens": 41})
    assert said["scorer"] == SCORER
    assert model_calls(web) == 1


def test_live_without_a_model_is_no_pass(web: LoopbackWeb, tmp_path: Path) -> None:
    code, said, _ = accept(tmp_path, "--live")
    assert (code, said["passed"], said["code"]) == (1, False, "generation_unavailable")
    assert "scorer" not in said


@pytest.mark.parametrize(
    ("fault", "expected"),
    [({"status": 500}, "model_error"), ({"reset": True}, "model_unavailable")],
)
def test_live_is_not_tried_again(
    web: LoopbackWeb, tmp_path: Path, fault: dict[str, Any], expected: str
) -> None:
    web.faults.add(Fault(host="model.test", **fault))
    code, said, _ = accept(tmp_path, "--live", **live(web))
    assert (code, said["passed"], said["code"]) == (1, False, expected)
    assert said["usage"] == {"llm_tokens": 0}
    assert model_calls(web) == 1


def test_live_with_settings_that_are_not_valid(web: LoopbackWeb, tmp_path: Path) -> None:
    broken = live(web, SIGNAL_SEARCH_SEARCH__AGENT_BASE_URL="http://user:secret@model.test/")
    code, said, complaints = accept(tmp_path, "--live", **broken)
    assert (code, said["code"], complaints) == (1, "invalid_settings", "")
