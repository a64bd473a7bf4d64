"""The options that several commands share, and what follows from them: a terminal, a client, errors told once."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from signal_search.citations import FORMATS
from signal_search.cli.terminal import Terminal, exit_code
from signal_search.client import Client
from signal_search.contracts.research import ScopeKey
from signal_search.errors import SignalSearchError


def _unless_given(
    context: typer.Context, parameter: typer.CallbackParam, value: str | None
) -> str | None:
    """Drop an address of the environment when the other one is known.

    What stands on the command line is read before the environment, so it wins over it; of two variables the
    gateway's wins. Two addresses on the command line are a mistake, which the client tells.
    """
    source = context.get_parameter_source(parameter.name or "")
    from_environment = source is not None and source.name == "ENVIRONMENT"
    other = "redis" if parameter.name == "gateway" else "gateway"
    return None if from_environment and context.params.get(other) else value


GatewayOption = Annotated[
    str | None,
    typer.Option(
        "--gateway",
        envvar="SIGNAL_SEARCH_GATEWAY_URL",
        help="Address of a gateway.",
        metavar="URL",
        callback=_unless_given,
    ),
]
RedisOption = Annotated[
    str | None,
    typer.Option(
        "--redis",
        envvar="SIGNAL_SEARCH_REDIS_URL",
        help="Submit straight to this Redis, without a gateway.",
        metavar="URL",
        callback=_unless_given,
    ),
]
TokenOption = Annotated[
    str | None,
    typer.Option("--token", envvar="SIGNAL_SEARCH_TOKEN", help="Bearer token.", show_envvar=True),
]
LangOption = Annotated[
    str,
    typer.Option(
        "--lang",
        envvar=["SIGNAL_SEARCH_LANG", "LC_ALL", "LC_MESSAGES", "LANG"],
        help="Language of this interface: en or zh.",
        show_default=False,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
QuietOption = Annotated[bool, typer.Option("--no-progress", help="No progress on stderr.")]
JobArgument = Annotated[str, typer.Argument(metavar="JOB", help="Id of the job.")]
OutputOption = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write to this file.", dir_okay=False)
]


def known_format(name: str | None) -> str | None:
    """Refuse a format that does not exist, as a usage error."""
    if name is not None and name not in FORMATS:
        raise typer.BadParameter(f"one of {', '.join(FORMATS)}")
    return name


def scope_of(text: str | None) -> dict[str, str] | None:
    """Return the five names of a scope, parted by commas, by their fields; refuse another number as a usage error."""
    if text is None:
        return None
    names = [each.strip() for each in text.split(",")]
    fields = ScopeKey.__struct_fields__
    if len(names) != len(fields):
        raise typer.BadParameter("a scope has five names, parted by commas", param_hint="--scope")
    return dict(zip(fields, names, strict=True))


FormatOption = Annotated[
    str,
    typer.Option("--format", "-f", callback=known_format, help=f"One of {', '.join(FORMATS)}."),
]
MaybeFormatOption = Annotated[
    str | None,
    typer.Option(
        "--format", "-f", callback=known_format, help=f"Print as one of {', '.join(FORMATS)}."
    ),
]


@contextmanager
def at_the_desk(
    terminal: Terminal, gateway: str | None, redis: str | None, token: str | None
) -> Iterator[Client]:
    """Open a client; an error is told in the user's language and becomes the exit code.

    An empty address (an empty environment variable) counts as absent.
    """
    try:
        with Client(gateway or None, redis_url=redis or None, token=token or None) as client:
            yield client
    except SignalSearchError as error:
        terminal.complain(error)
        raise typer.Exit(exit_code(error)) from error


def write_out(text: str, output: Path | None, terminal: Terminal) -> None:
    """Write a document byte for byte to the file, or to stdout."""
    if output is None:
        typer.echo(text, nl=False)
        return
    output.write_bytes(text.encode())
    terminal.note(terminal.texts("written", path=str(output)))
