"""The commands against a double of the gateway's wire format: what goes to stdout, what to stderr, how they exit."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import json as msgspec_json
from signal_search.cli import build_app
from signal_search.client import transport
from signal_search.contracts.job import JobState
from signal_search.contracts.result import Result, StopReason
from typer.testing import CliRunner

from tests.fakes.results import a_result, a_stop, nothing_reached
from tests.fakes.wire_gateway import BUNDLE, JOB_ID, Fault, WireGateway, wire_gateway

QUESTION = "What is WAL?"
Run = Callable[..., Any]


@pytest.fixture
def gateway() -> Iterator[WireGateway]:
    with wire_gateway() as running:
        yield running


@pytest.fixture
def run(gateway: WireGateway) -> Run:
    environment = {
        "SIGNAL_SEARCH_GATEWAY_URL": gateway.url,
        "LANG": "C",
        "LC_ALL": "",
        "SIGNAL_SEARCH_LANG": "",
    }
    return lambda *arguments: CliRunner().invoke(build_app(rooms=()), arguments, env=environment)


def test_the_result_goes_to_stdout_and_the_rest_to_stderr(run: Run) -> None:
    ran = run("retrieve", QUESTION)
    assert ran.exit_code == 0
    assert ran.stdout.startswith("WAL appends changes to a log [1].\n")
    assert "planned: tier L1" not in ran.stdout
    assert "planned: tier L1, 1 questions, 1 calls\n" in ran.stderr


def test_no_progress_leaves_stderr_empty(run: Run) -> None:
    assert run("retrieve", QUESTION, "--no-progress").stderr == ""


def test_json_is_one_document_and_the_whole_result(run: Run) -> None:
    ran = run("retrieve", QUESTION, "--json")
    assert msgspec_json.decode(ran.stdout, type=Result) == a_result()
    assert ran.stdout.count("\n") == 1
    assert json.loads(ran.stdout)["sources"][2]["title"] == "2023年国民经济回升向好"


def test_every_option_reaches_the_request(run: Run, gateway: WireGateway) -> None:
    ran = run(
        "retrieve", "什么是 WAL?", "--source", "arxiv", "--source", "site:https://a.org/", "--depth", "deep", "--tier", "L2",
        "--language", "zh", "--domain", "a.org", "--freshness", "py", "--max-sources", "7", "--budget", "900", "--deadline", "60.5",
        "--boost", "b.org", "--block", "c.org", "--delegate", "entail", "--scope", "t, p,r,main,lab",
    )  # fmt: skip
    assert ran.exit_code == 0
    assert json.loads(gateway.seen[0].body) == {
        "query": "什么是 WAL?",
        "constraints": {
            "language": "zh", "domain": "a.org", "freshness": "py", "max_sources": 7, "required_tier": "L2", "deadline_s": 60.5,
            "source_prefs": {"boost": ["b.org"], "block": ["c.org"], "only": ["arxiv", "site:https://a.org/"]},
            "scope": {
                "team_id": "t", "project_id": "p", "repository": "r", "branch": "main", "experiment_environment": "lab",
            },
        },
        "budget": 900,
        "depth": "deep",
        "result_ttl_s": None,
        "delegate": ["entail"],
    }  # fmt: skip


@pytest.mark.parametrize("scope", ["", "t,p,r,main", "t,p,r,main,lab,more"])
def test_a_scope_has_five_names(run: Run, gateway: WireGateway, scope: str) -> None:
    ran = run("retrieve", QUESTION, "--scope", scope)
    assert (ran.exit_code, gateway.seen) == (2, [])
    assert "five names" in ran.stderr


def test_a_format_is_printed_byte_for_byte(run: Run) -> None:
    ran = run("retrieve", QUESTION, "--format", "ris")
    assert ran.stdout_bytes.startswith(b"TY  - JOUR\r\nAU  - van der Berg, Jan\r\n")
    assert ran.stdout_bytes.endswith(b"ER  - \r\n")


@pytest.mark.parametrize(
    ("result", "code"),
    [
        (a_result(), 0),
        (a_result(exhausted=True, stop=a_stop(StopReason.DEADLINE, exhausted=True)), 3),
        (nothing_reached(), 4),
    ],
)
def test_exit_codes_of_results(run: Run, gateway: WireGateway, result: Result, code: int) -> None:
    gateway.script.result = result
    assert run("retrieve", QUESTION).exit_code == code
    assert run("retrieve", QUESTION, "--json").exit_code == code
    assert run("jobs", "result", JOB_ID).exit_code == code


def test_nothing_reached_names_each_source(run: Run, gateway: WireGateway) -> None:
    gateway.script.result = nothing_reached()
    assert (
        "No source could be reached:\n  arxiv: could not connect (connection refused)\n"
        in run("retrieve", QUESTION).stdout
    )


def test_a_failed_job_exits_with_1_and_says_why(run: Run, gateway: WireGateway) -> None:
    gateway.script.state = JobState.FAILED
    gateway.script.error_code = "internal"
    gateway.script.streams = False
    ran = run("retrieve", QUESTION)
    assert (ran.exit_code, ran.stdout) == (1, "")
    assert ran.stderr.endswith("signal-search: it broke\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ("retrieve",),
        ("retrieve", QUESTION, "--depth", "bottomless"),
        ("retrieve", QUESTION, "--format", "endnote"),
        ("retrieve", QUESTION, "--json", "--format", "ris"),
        ("retrieve", QUESTION, "--freshness", "yesterday"),
        ("retrieve", QUESTION, "--max-sources", "51"),
        ("retrieve", QUESTION, "--redis", "redis://127.0.0.1:1", "--gateway", "http://127.0.0.1:1"),
        ("retrieve", QUESTION, "--gateway", "ftp://a"),
        ("nonsense",),
    ],
)
def test_usage_errors_exit_with_2_before_anything_is_sent(
    run: Run, gateway: WireGateway, arguments: tuple[str, ...]
) -> None:
    ran = run(*arguments)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr != ""
    assert gateway.seen == []


def test_a_refused_field_is_named(run: Run) -> None:
    assert (
        "(field: constraints.freshness)"
        in run("retrieve", QUESTION, "--freshness", "yesterday").stderr
    )


def test_errors_are_told_in_the_users_language(run: Run, gateway: WireGateway) -> None:
    gateway.script.token = "t"
    assert run("jobs", "list").stderr == "signal-search: a valid token is required (--token)\n"
    assert (
        run("jobs", "list", "--lang", "zh").stderr == "signal-search: 需要有效的令牌（--token）\n"
    )
    assert run("jobs", "list", "--token", "t").exit_code == 0


def test_a_wait_too_long_is_told(run: Run, gateway: WireGateway) -> None:
    gateway.script.faults = [Fault("POST", "/retrieve", 429, "rate_limited", {"Retry-After": "90"})]
    ran = run("retrieve", QUESTION)
    assert (ran.exit_code, ran.stderr) == (
        1,
        "signal-search: too many requests (try again in 90 s)\n",
    )


def test_a_timeout_cancels_the_job_and_exits_with_1(run: Run, gateway: WireGateway) -> None:
    gateway.script.endless = "alive"
    assert run("retrieve", QUESTION, "--timeout", "0.2").exit_code == 1
    assert gateway.cancelled.is_set()


def test_the_command_line_wins_over_the_environment(
    gateway: WireGateway, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "entry_points", lambda *, group, name: ())
    assert run("jobs", "list", "--redis", "redis://127.0.0.1:1").stderr.startswith(
        "signal-search: no redis transport"
    )
    both = {
        "SIGNAL_SEARCH_GATEWAY_URL": gateway.url,
        "SIGNAL_SEARCH_REDIS_URL": "redis://127.0.0.1:1",
    }
    assert CliRunner().invoke(build_app(rooms=()), ["jobs", "list"], env=both).exit_code == 0
    other = {"SIGNAL_SEARCH_REDIS_URL": "redis://127.0.0.1:1"}
    assert (
        CliRunner()
        .invoke(build_app(rooms=()), ["jobs", "list", "--gateway", gateway.url], env=other)
        .exit_code
        == 0
    )
    neither = {"SIGNAL_SEARCH_GATEWAY_URL": "", "SIGNAL_SEARCH_REDIS_URL": ""}
    assert (
        "no embedded transport"
        in CliRunner().invoke(build_app(rooms=()), ["jobs", "list"], env=neither).stderr
    )


def test_chinese_by_the_environment(gateway: WireGateway) -> None:
    environment = {"LANG": "zh_CN.UTF-8", "LC_ALL": "", "SIGNAL_SEARCH_LANG": "", "LC_MESSAGES": ""}
    ran = CliRunner().invoke(
        build_app(rooms=()), ["retrieve", QUESTION, "--gateway", gateway.url], env=environment
    )
    assert "置信度：0.76" in ran.stdout
    assert "任务已完成" in ran.stderr


def test_jobs_are_listed(run: Run) -> None:
    ran = run("jobs", "list", "--state", "succeeded")
    assert ran.stdout == "job_0001  2026-09-21 14:13:20Z  succeeded  What is WAL?\n"
    assert ran.stderr == "more: --cursor c2\n"
    page = json.loads(run("jobs", "list", "--json").stdout)
    assert (page["jobs"][0]["id"], page["next_cursor"]) == (JOB_ID, "c2")


def test_a_job_is_shown(run: Run) -> None:
    assert run("jobs", "show", JOB_ID).stdout.splitlines()[1:] == [
        "  calls 2/4", "  fetches 3 done, 1 queued, 0 refused", "  documents 2", "  calls: 2 used, 3 left",
    ]  # fmt: skip
    assert json.loads(run("jobs", "show", JOB_ID, "--json").stdout)["state"] == "succeeded"


def test_a_job_is_watched_and_not_cancelled(run: Run, gateway: WireGateway) -> None:
    ran = run("jobs", "watch", JOB_ID)
    assert ran.exit_code == 0
    assert ran.stderr.endswith("stopping: sources repeat themselves\njob succeeded\n")
    assert ran.stdout.startswith(JOB_ID)
    assert gateway.paths("DELETE") == []


def test_a_finished_job_cannot_be_cancelled(run: Run, gateway: WireGateway) -> None:
    assert run("jobs", "cancel", JOB_ID).stderr == "signal-search: the job has already ended\n"
    gateway.script.endless = "alive"
    ran = run("jobs", "cancel", JOB_ID, "--json")
    assert json.loads(ran.stdout)["state"] == "cancelled"


def test_exports_and_bundles_keep_their_bytes(run: Run, tmp_path: Path) -> None:
    assert run("jobs", "bundle", JOB_ID).stdout_bytes == BUNDLE
    ran = run("jobs", "bundle", JOB_ID, "--output", str(tmp_path / "b.zst"))
    assert ((tmp_path / "b.zst").read_bytes(), ran.stdout) == (BUNDLE, "")
    whole = run("export", JOB_ID, "--format", "ris").stdout_bytes
    run("jobs", "export", JOB_ID, "--format", "ris", "-o", str(tmp_path / "c.ris"))
    assert (tmp_path / "c.ris").read_bytes() == whole
    assert whole.count(b"\r\n") == whole.count(b"\n") > 20
    assert run("export", JOB_ID).stdout.startswith("# What is ")


def test_ctrl_c_in_a_real_process_cancels_the_job_and_exits_with_130(gateway: WireGateway) -> None:
    gateway.script.endless = "alive"
    code = "from signal_search.cli import build_app; build_app(())()"
    command = [
        sys.executable,
        "-c",
        code,
        "retrieve",
        QUESTION,
        "--gateway",
        gateway.url,
        "--lang",
        "en",
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "NO_COLOR": "1"}
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == b"submitted: job_0001\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=50)
    assert process.returncode == 130
    assert (out, err.splitlines()[-1]) == (b"", b"interrupted; the job was cancelled")
    assert gateway.cancelled.is_set()
