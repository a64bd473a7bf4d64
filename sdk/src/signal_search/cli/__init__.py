"""The command `signal-search`: the desk's own commands, and those that installed rooms add.

A room adds commands through the entry-point group `signal_search.commands`: each entry is called as
`register(app: typer.Typer)`. A room may add to an existing group by registering one of the same name.
"""

import sys
from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points
from io import TextIOWrapper

import typer

from signal_search.cli.adaptive import adaptive
from signal_search.cli.jobs import export, jobs_app
from signal_search.cli.research import research_app
from signal_search.cli.retrieve import EXIT_CODES, retrieve
from signal_search.cli.search import search
from signal_search.cli.survey import survey
from signal_search.cli.terminal import Terminal, exit_code
from signal_search.errors import SignalSearchError

GROUP = "signal_search.commands"

# What loading and calling somebody's module can end with, short of a reason to stop the whole program.
_BROKEN_ROOM = (
    ImportError,
    SyntaxError,
    NameError,
    AttributeError,
    TypeError,
    ValueError,
    LookupError,
    AssertionError,
    RuntimeError,
    OSError,
    SignalSearchError,
)


def build_app(rooms: Iterable[EntryPoint] | None = None) -> typer.Typer:
    """Return the whole command line; `rooms` takes the place of the installed entry points."""
    app = typer.Typer(
        name="signal-search",
        help="Retrieval that returns evidence: cited, scored, verified.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
    )
    app.command(epilog=EXIT_CODES)(retrieve)
    app.command(epilog=EXIT_CODES)(search)
    app.command(epilog=EXIT_CODES)(survey)
    app.command(epilog=EXIT_CODES)(adaptive)
    app.command()(export)
    app.add_typer(jobs_app(), name="jobs")
    app.add_typer(research_app(), name="research")
    for room in entry_points(group=GROUP) if rooms is None else rooms:
        _add(room, app)
    _merge_groups(app)
    return app


def _add(room: EntryPoint, app: typer.Typer) -> None:
    try:
        room.load()(app)
    except _BROKEN_ROOM as error:
        terminal = Terminal()
        reason = type(error).__name__
        terminal.note(f"{terminal.texts('room_broken', room=room.name)} ({reason})", "yellow")


def _merge_groups(app: typer.Typer) -> None:
    """Put the commands of groups with one name into the first of them; typer would keep only the last."""
    first: dict[str, typer.Typer] = {}
    kept = []
    for group in app.registered_groups:
        if isinstance(group.name, str) and group.typer_instance is not None:
            known = first.setdefault(group.name, group.typer_instance)
            if known is not group.typer_instance:
                known.registered_commands.extend(group.typer_instance.registered_commands)
                continue
        kept.append(group)
    app.registered_groups[:] = kept


def main() -> None:
    """Run the command line; what a room's command raises of our errors is told without a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # an old locale costs a character, not the answer
    try:
        build_app()()
    except SignalSearchError as error:
        Terminal().complain(error)
        sys.exit(exit_code(error))
