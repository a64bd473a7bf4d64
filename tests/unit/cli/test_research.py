"""`research run` at the terminal: the outline waits for its reader, whose answer decides; citations are exported."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from signal_search.cli import build_app
from typer.testing import CliRunner

from tests.fakes.drafting import OUTLINE, Drafting
from tests.fakes.wire_gateway import WireGateway, wire_gateway

QUESTION = "What is WAL?"
Run = Callable[..., Any]


@pytest.fixture
def gateway() -> Iterator[WireGateway]:
    with wire_gateway() as running:
        yield running


@pytest.fixture
def run(gateway: WireGateway, tmp_path: Path) -> Run:
    environment = {"SIGNAL_SEARCH_GATEWAY_URL": gateway.url, "LANG": "C", "LC_ALL": ""}

    def ran(*options: str, said: str | None = None) -> Any:
        line = ["research", "run", QUESTION, *options]
        return CliRunner().invoke(build_app(rooms=()), line, input=said, env=environment)

    return ran


def ask_about_the_outline(gateway: WireGateway) -> None:
    gateway.script.log = [entry for _id, entry in Drafting().events("", after="", wait_s=0)]
    gateway.script.endless = "alive"


def test_no_ends_it_before_anything_is_searched(run: Run, gateway: WireGateway, tmp_path: Path):
    ask_about_the_outline(gateway)
    ran = run("--vault", str(tmp_path), "--confirm", "--json", said="no\n")
    assert ran.exit_code == 1
    # The runner echoes what was typed to stdout.
    assert json.loads(ran.stdout.splitlines()[-1]) == {"cancelled": True}
    assert "cancelled; nothing was searched" in ran.stderr
    assert (tmp_path / "outline.md").read_text() == OUTLINE
    assert gateway.jobs_made == 1
    assert gateway.cancelled.is_set()
    assert not [each for each in gateway.paths("GET") if each.endswith("/result")]


@pytest.mark.parametrize("said", ["\n", "continue\n"])
def test_enter_or_continue_goes_on_with_what_stands_there(
    run: Run, gateway: WireGateway, tmp_path: Path, said: str
):
    (tmp_path / "outline.md").write_text("1. What is a write-ahead log?\n")
    ran = run("--vault", str(tmp_path), "--confirm", said=said)
    assert ran.exit_code == 0
    assert "WAL appends changes to a log [1].\n" in ran.stdout
    assert gateway.jobs_made == 1
    again = run("--vault", str(tmp_path), "--confirm")
    assert (again.exit_code, gateway.jobs_made) == (0, 1)  # a finished one asks nobody


def test_citations_are_exported_to_the_vault(run: Run, tmp_path: Path):
    run("--vault", str(tmp_path), "--export", "ris")
    assert (tmp_path / "references.ris").read_bytes() == (tmp_path / "citations.ris").read_bytes()
    run("--vault", str(tmp_path), "--export", "bibtex", "--export", "md")  # of a finished one too
    assert {each.name for each in tmp_path.glob("references.*")} == {
        "references.ris", "references.bib", "references.md",
    }  # fmt: skip


def test_an_unknown_format_is_a_usage_error_and_makes_no_job(
    run: Run, gateway: WireGateway, tmp_path: Path
):
    ran = run("--vault", str(tmp_path), "--export", "docx")
    assert (ran.exit_code, gateway.jobs_made) == (2, 0)
    assert "export_citations" in ran.stderr
