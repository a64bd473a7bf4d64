"""The commands of this room: the acceptance of generated programs."""

from typing import TYPE_CHECKING, Annotated

import msgspec
import typer
from pydantic import ValidationError

if TYPE_CHECKING:
    from api_gateway.acceptance import Acceptance


LiveFlag = Annotated[
    bool, typer.Option("--live", help="Ask the configured model, at its price, not our own answer.")
]


def register(app: typer.Typer) -> None:
    """Add this room's commands to the command line."""
    scoring = typer.Typer(help="The scoring language.", no_args_is_help=True)
    scoring.command("accept")(accept)
    app.add_typer(scoring, name="scoring")


def accept(*, live: LiveFlag = False) -> None:
    """Check one fixed wish against 168 papers; prints one JSON document, exit code 1 when it is not passed."""
    from api_gateway.acceptance import (  # noqa: PLC0415  every command line loads this file
        Acceptance,
        accept_offline,
    )

    try:
        found = _live() if live else accept_offline()
    except ValidationError:  # its text has values of the configuration in it
        found = Acceptance(passed=False, live=live, code="invalid_settings")
    typer.echo(msgspec.json.encode(found).decode())
    raise typer.Exit(0 if found.passed else 1)


def _live() -> "Acceptance":
    from api_gateway.acceptance import accept_live  # noqa: PLC0415
    from infra.clock import SystemClock  # noqa: PLC0415
    from infra.settings import current  # noqa: PLC0415

    return accept_live(current(), SystemClock())
