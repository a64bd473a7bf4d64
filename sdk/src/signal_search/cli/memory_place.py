"""Where research memory is for a command: the files of this machine, or a deployment behind a gateway.

The files are a room's: it is found by the entry-point group `signal_search.memory`, each entry called as
`open(actor: str)`, and needs no import of this module.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any, Protocol, cast

import msgspec
import typer

from signal_search.client import Client, Transport
from signal_search.client.memory_calls import MemoryCommand, scope_of
from signal_search.client.scoped_memory import ScopedMemory
from signal_search.contracts.memory_index import Indexed
from signal_search.contracts.research import ResearchQuery, RouterResult, ScopeKey
from signal_search.errors import Invalid, Unsupported

GROUP = "signal_search.memory"

ScopeOption = Annotated[
    str,
    typer.Option(
        "--scope",
        metavar="TEAM,PROJECT,REPOSITORY,BRANCH,ENVIRONMENT",
        help="The five names that the memory belongs to.",
    ),
]
ActorOption = Annotated[
    str,
    typer.Option("--actor", help="Who does this, for the audit; with --gateway the token says it."),
]
GatewayUrlOption = Annotated[
    str | None,
    typer.Option("--gateway", metavar="URL", help="A gateway, in place of this machine's files."),
]
MemoryTokenOption = Annotated[
    str | None,
    typer.Option("--token", envvar="SIGNAL_SEARCH_TOKEN", help="Bearer token.", show_envvar=True),
]


class Files(Protocol):
    """The memory of this machine, for one who acts."""

    def remember(self, command: MemoryCommand, *, idempotency_key: str) -> bytes:
        """Carry out a command and return what came of it as JSON."""
        ...

    def query(self, asked: ResearchQuery, root: Path | None) -> RouterResult:
        """Answer a question; `root` is a folder that is read too."""
        ...

    def index(self, scope: ScopeKey, folder: Path | None, *, anew: bool) -> Indexed:
        """Make the index of a scope the state of a folder, without one of that of the settings."""
        ...

    def close(self) -> None:
        """Let go of what is open."""
        ...


def files_for(actor: str) -> Files:
    """Return the memory of this machine.

    Raises:
        Unsupported: this installation has none.
    """
    for entry in entry_points(group=GROUP):
        try:
            return cast("Files", entry.load()(actor))
        except (ImportError, AttributeError) as error:
            raise Unsupported("the memory of this installation is broken") from error
    raise Unsupported("no memory is installed here; give a gateway")


@contextmanager
def memory_at(
    scope: str, actor: str, gateway: str | None, token: str | None
) -> Iterator[ScopedMemory]:
    """Open the memory of a scope here, or with a gateway there.

    Raises:
        Invalid: the scope is none, or it is not said who acts, or said where the token says it.
        Unsupported: as `files_for`.
    """
    where = named(scope)
    if gateway and actor:
        raise Invalid("With a gateway the token says who acts.", field="actor")
    if gateway:
        with Client(gateway, token=token or None) as client:
            yield client.memory(where)
        return
    if not actor.strip():
        raise Invalid("Somebody must answer for this.", field="actor")
    # Of a transport nothing else is called.
    with Client(transport=cast("Transport", files_for(actor))) as client:
        yield client.memory(where)


def named(text: str) -> ScopeKey:
    """Return the scope that a command line names.

    Raises:
        Invalid: it has not five names, or one is not valid.
    """
    names = [each.strip() for each in text.split(",")]
    if len(names) != len(ScopeKey.__struct_fields__):
        raise Invalid("A scope has five names, parted by commas.", field="scope")
    return scope_of(names)


def print_json(value: Any) -> None:
    """Print one JSON document."""
    sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n")
    sys.stdout.buffer.flush()
