"""`signal-search research index`: a folder into the index of a scope, here or by a gateway from the folder it knows."""

from pathlib import Path
from typing import Annotated

import typer

from signal_search.cli.memory_place import (
    GatewayUrlOption,
    MemoryTokenOption,
    ScopeOption,
    files_for,
    memory_at,
    named,
    print_json,
)
from signal_search.errors import Invalid


def index(
    scope: ScopeOption,
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="FOLDER", help="Whose files become the index; else the settings name it."
        ),
    ] = None,
    gateway: GatewayUrlOption = None,
    token: MemoryTokenOption = None,
    *,
    anew: Annotated[
        bool,
        typer.Option("--anew", help="Every file again, as after a change of the vector model."),
    ] = False,
) -> None:
    """Make the index of a scope the state of a folder; what did not change is not read into it again."""
    if gateway and folder is not None:
        raise Invalid("A gateway reads the folders of its own settings.", field="folder")
    if gateway:
        with memory_at(scope, "", gateway, token) as memory:
            print_json(memory.index(anew=anew))
        return
    print_json(files_for("").index(named(scope), folder, anew=anew))
