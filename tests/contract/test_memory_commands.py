"""The commands of research memory by a gateway: one case's whole life, from two people's command lines to an answer."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from signal_search.cli import build_app
from signal_search.errors import Invalid
from typer.testing import CliRunner, Result

from tests.fakes.memory_http import Library, a_library
from tests.fakes.research import a_scope

NAMES = "lab,notes,repo,main,bench"
SCOPE = a_scope(
    team_id="lab",
    project_id="notes",
    repository="repo",
    branch="main",
    experiment_environment="bench",
)


@pytest.fixture(scope="module")
def library(redis_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with a_library(redis_url, tmp_path_factory.mktemp("commands")) as found:
        found.caller("first")
        yield found


@pytest.mark.timeout(120)
def test_a_case_from_the_first_note_to_an_answer(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A folder of its own: what is found comes over the gateway.
    monkeypatch.setenv("SIGNAL_SEARCH_DATA_DIR", str(tmp_path))
    people = {each: library.caller("lab", SCOPE, person=each).token for each in ("ann", "bob")}
    people["eve"] = library.caller("lab", person="eve").token
    app = build_app()

    def research(person: str, command: str, *words: str) -> Result:
        places = ("--scope", NAMES, "--gateway", str(library.http.base_url))
        named = ("research", command, *words, *places, "--token", people[person])
        return CliRunner().invoke(app, named)

    def done(person: str, command: str, *words: str) -> Any:
        ended = research(person, command, *words)
        assert ended.exit_code == 0, ended.output
        return json.loads(ended.stdout)

    note = ("Why it stalled", "the pump cavitates", "--kind", "research_case")
    case = done("ann", "save", *note)["memory_id"]
    done("ann", "verify", case, "--reason", "measured twice")
    payload = tmp_path / "payload.json"
    payload.write_text('{"steps": ["lower the inlet"]}')
    asked = done("ann", "ask-approval", case, "--payload", str(payload))
    package = asked["package"]
    assert research("ann", "approve", package["package_id"]).exit_code == 1
    waiting = done("bob", "approvals", "--status", "pending")["approvals"]
    assert waiting == [package]
    done("bob", "approve", package["package_id"], "--reason", "plausible")
    assert research("ann", "publish", case).exit_code == 1
    receipt = tmp_path / "receipt.json"
    content = {"environment": "bench", "verification_summary": "ran", "evidence_refs": ["r1"]}
    named = ("package_id", "case_memory_id", "payload_hash")
    given = {
        **{name: package[name] for name in named},
        "receipt_token": asked["receipt_token"],
        "receipt_id": "step-1",
        "status": "passed",
        "receipt": content,
    }
    receipt.write_text(json.dumps(given))
    assert done("ann", "receipt", str(receipt))["status"] == "passed"
    assert research("ann", "query", "cavitates").exit_code == 4
    assert done("ann", "publish", case)["status"] == "published"
    found = done("bob", "query", "cavitates", "--json")
    assert [each["chunk_id"] for each in found["evidence"]] == [f"research:{case}"]
    trail = done("bob", "audit", case)["audit"]
    assert [each["details"].get("actor") for each in trail] == [
        *["lab/ann"] * 3,
        "lab/bob",
        None,
        "lab/ann",
    ]
    for command in ("show", "audit", "revoke"):
        refused = research("eve", command, case)
        assert (refused.exit_code, refused.stdout) == (1, "")
    assert research("eve", "query", "cavitates").exit_code == 1
    assert done("bob", "show", case)["status"] == "published"
    assert not list(tmp_path.glob("**/*.memory"))


def test_with_a_gateway_the_token_says_who_acts(library: Library) -> None:
    places = ("--scope", NAMES, "--gateway", str(library.http.base_url))
    for words in (
        ("save", "t", "c", "--actor", "ann", *places),
        ("query", "x", "--root", ".", *places),
        ("show", "m", "--scope", "a,b"),
        ("save", "t", "c", "--scope", NAMES),  # here somebody must answer for it
    ):
        ended = CliRunner().invoke(build_app(), ("research", *words))
        assert isinstance(ended.exception, Invalid)
        assert ended.stdout == ""
