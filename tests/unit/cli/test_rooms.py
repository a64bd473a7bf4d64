"""Rooms add commands through entry points, and a broken room breaks only itself."""

import sys
from importlib.metadata import EntryPoint

import pytest
import typer
from signal_search import cli
from signal_search.cli import GROUP, build_app
from signal_search.errors import Unsupported
from typer.testing import CliRunner


def register(app: typer.Typer) -> None:
    """Play a room: a command of its own, and one in the group of jobs."""
    app.command("greet")(lambda: typer.echo("hello"))
    jobs = typer.Typer()
    jobs.command("replay")(lambda: typer.echo("again"))
    app.add_typer(jobs, name="jobs")

    def refuse() -> None:
        raise Unsupported("not here")

    app.command("refuse")(refuse)


def break_down(app: typer.Typer) -> None:
    raise LookupError("secret")


@pytest.fixture
def rooms(monkeypatch: pytest.MonkeyPatch) -> list[EntryPoint]:
    monkeypatch.setitem(sys.modules, "a_room", sys.modules[__name__])
    values = {
        "gone": "no_such_room:register",
        "mute": "a_room:nothing",
        "broken": "a_room:break_down",
        "good": "a_room:register",
    }
    return [EntryPoint(name, value, GROUP) for name, value in values.items()]


def test_rooms_add_commands_and_a_broken_one_breaks_only_itself(
    rooms: list[EntryPoint], capsys: pytest.CaptureFixture[str]
) -> None:
    app = build_app(rooms)
    told = capsys.readouterr().err
    for name in ("gone", "mute", "broken"):
        assert f"the commands of '{name}' could not be loaded" in told
    assert "secret" not in told
    assert CliRunner().invoke(app, ["greet"]).stdout == "hello\n"
    assert CliRunner().invoke(app, ["jobs", "replay"]).stdout == "again\n"
    assert "watch" in CliRunner().invoke(app, ["jobs", "--help"]).stdout


def test_errors_of_a_rooms_command_are_told_without_a_traceback(
    rooms: list[EntryPoint], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli, "entry_points", lambda *, group: rooms[-1:])
    monkeypatch.setattr(sys, "argv", ["signal-search", "refuse"])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert caught.value.code == 1
    assert capsys.readouterr().err == "signal-search: not here\n"
