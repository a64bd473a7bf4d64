"""`sources check` without `--live`: what it prints and how it ends."""

import json

import pytest
from typer import Typer
from typer.testing import CliRunner

from infra.settings import current
from workers.commands import register


@pytest.fixture(autouse=True)
def _fresh_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGNAL_SEARCH_SOURCES__ENABLED", '["wikipedia", "nbs"]')
    current.cache_clear()


def _run(*arguments: str) -> tuple[int, str]:
    app = Typer()
    register(app)
    ran = CliRunner().invoke(app, ["sources", "check", *arguments])
    current.cache_clear()
    return ran.exit_code, ran.stdout


def test_sources_that_are_set_up_are_ready() -> None:
    code, text = _run()
    assert code == 0
    assert [line.split() for line in text.splitlines()] == [
        ["wikipedia", "ready"],
        ["nbs", "ready"],
    ]


def test_one_source_as_json() -> None:
    code, text = _run("arxiv", "--json")
    assert code == 0
    assert [(each["source_id"], each["state"]) for each in json.loads(text)] == [("arxiv", "ready")]


def test_what_may_not_be_asked_here_ends_with_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGNAL_SEARCH_LOOPBACK__ONLY", "true")
    current.cache_clear()
    code, text = _run("arxiv")
    assert code == 1
    assert text.split()[:3] == ["arxiv", "refused", "address,"]
