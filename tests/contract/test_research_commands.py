"""The command line of research memory, from a folder to an answer and from a candidate to a published memory."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from signal_search.cli import build_app
from typer.testing import CliRunner, Result

from infra.settings import current

SCOPE = ["--scope", "team,project,repo,main,lab"]
OTHER = ["--scope", "team,project,repo,other,lab"]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Result]]:
    monkeypatch.setenv("SIGNAL_SEARCH_RESEARCH__FOLDER", str(tmp_path / "research"))
    current.cache_clear()
    app = build_app()
    yield lambda *words: CliRunner().invoke(app, ["research", *words])
    current.cache_clear()


def printed(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_from_a_folder_to_an_answer(run: Callable[..., Result], tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.md").write_text("全文检索 of alpha\n")
    assert printed(run("index", str(root), *SCOPE))["files"] == 1
    found = printed(run("query", "检索", *SCOPE, "--root", str(root), "--json"))
    retrievers = {each["metadata"]["retriever"] for each in found["evidence"]}
    assert retrievers == {"bm25", "python-grep"}
    assert [each["reason"] for each in found["traces"]] == ["accepted"] * 3
    shown = run("query", "alpha", *SCOPE)
    assert "a.md:line:1-1" in shown.stdout
    nothing = run("query", "alpha", *OTHER)
    assert (nothing.exit_code, nothing.stdout) == (4, "")
    assert "index_unavailable:bm25" in nothing.stderr
    assert "signal-search research index FOLDER" in nothing.stderr
    assert "research index" not in shown.stderr


@pytest.mark.parametrize(
    ("tools", "code"),
    [("grep,nosuch", "manual_unknown_tool"), ("bm25;bm25", "manual_duplicate_tool")],
)
def test_a_plan_that_is_none_is_a_wrong_use(
    run: Callable[..., Result], tools: str, code: str
) -> None:
    found = run("query", "alpha", *SCOPE, "--tools", tools)
    assert (found.exit_code, found.stdout) == (2, "")
    assert f"plan:{code}" in found.stderr.splitlines()


def test_from_a_candidate_to_a_published_memory(run: Callable[..., Result]) -> None:
    ann = [*SCOPE, "--actor", "ann"]
    name = printed(run("save", "A title", "alpha beta", *ann))["memory_id"]
    assert run("query", "alpha", *SCOPE).exit_code == 4
    assert run("publish", name, *ann).exit_code != 0
    printed(run("verify", name, *ann))
    assert printed(run("publish", name, *ann))["status"] == "published"
    found = printed(run("query", "alpha", *SCOPE, "--tools", "research-memory", "--json"))
    assert [each["chunk_id"] for each in found["evidence"]] == [f"research:{name}"]
    printed(run("revoke", name, *ann))
    assert run("query", "alpha", *SCOPE).exit_code == 4


def test_a_case_needs_two_people_and_a_receipt(run: Callable[..., Result], tmp_path: Path) -> None:
    ann, bob = [*SCOPE, "--actor", "ann"], [*SCOPE, "--actor", "bob"]
    name = printed(run("save", "A case", "alpha", *ann, "--kind", "research_case"))["memory_id"]
    printed(run("verify", name, *ann))
    payload = tmp_path / "payload.json"
    payload.write_text('{"steps": ["look"]}')
    asked = printed(run("ask-approval", name, *ann, "--payload", str(payload)))
    package = asked["package"]
    assert run("approve", package["package_id"], *ann).exit_code != 0
    assert printed(run("approve", package["package_id"], *bob))["status"] == "approved"
    receipt = tmp_path / "receipt.json"
    content = {"environment": "lab", "verification_summary": "ran", "evidence_refs": ["r1"]}
    given = {
        "package_id": package["package_id"],
        "case_memory_id": name,
        "payload_hash": package["payload_hash"],
        "receipt_token": asked["receipt_token"],
        "receipt_id": "step-1",
        "status": "passed",
        "receipt": content,
    }
    receipt.write_text(json.dumps(given))
    assert run("publish", name, *ann).exit_code != 0
    assert printed(run("receipt", str(receipt), *SCOPE))["status"] == "passed"
    assert printed(run("publish", name, *ann))["status"] == "published"


@pytest.mark.parametrize("scope", ["team", "a,b,c,d, ", "a,b,c,d,e,f"])
def test_a_scope_that_is_none_is_refused(run: Callable[..., Result], scope: str) -> None:
    assert run("query", "alpha", "--scope", scope).exit_code != 0
