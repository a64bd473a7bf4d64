"""`signal-search research run`: research a question, with its outline confirmed and a vault to keep it in."""
# ruff: noqa: PLR0913, PLR0917, FBT002 - typer reads the options off the signature

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from signal_search.cli.options import (
    GatewayOption,
    JsonOption,
    LangOption,
    QuietOption,
    RedisOption,
    TokenOption,
    at_the_desk,
)
from signal_search.cli.progress import showing
from signal_search.cli.render import ending, lines_of
from signal_search.cli.retrieve import EXIT_CODES, DepthName
from signal_search.cli.terminal import INTERRUPTED, Terminal
from signal_search.client import Client
from signal_search.client.delegates import Delegates
from signal_search.client.vault import OUTLINE, Vault
from signal_search.contracts.query import Depth
from signal_search.contracts.result import Result

_DEPTHS: dict[DepthName, Depth] = {
    DepthName.QUICK: "quick",
    DepthName.STANDARD: "standard",
    DepthName.DEEP: "deep",
}

Question = Annotated[str, typer.Argument(metavar="QUESTION", help="What to research.")]
Source = Annotated[
    list[str] | None,
    typer.Option("--source", "-s", metavar="NAME", help="Ask only this source; repeatable."),
]
VaultOption = Annotated[
    Path | None,
    typer.Option("--vault", file_okay=False, help="Folder to keep it in; it can be resumed."),
]
Refresh = Annotated[bool, typer.Option("--refresh", help="Ask again, and say what is new.")]
Confirm = Annotated[bool, typer.Option("--confirm", help="Edit the outline before it is used.")]
Outline = Annotated[
    Path | None,
    typer.Option("--outline", exists=True, dir_okay=False, help="Use the outline in this file."),
]
DepthOption = Annotated[DepthName, typer.Option(help="How deep to look.")]


class _Asked(msgspec.Struct, frozen=True, kw_only=True):
    question: str
    sources: list[str] | None
    depth: Depth
    vault: Path | None
    refresh: bool


def research_app() -> typer.Typer:
    """Return the group; rooms may add commands to it."""
    app = typer.Typer(help="Research a question, and keep what was found.", no_args_is_help=True)
    app.callback()(_group)
    app.command("run", epilog=EXIT_CODES)(run)
    return app


def _group() -> None:
    """Keep `run` a command of its own: typer would fold a group of one into its only command."""


def run(
    question: Question,
    vault: VaultOption = None,
    refresh: Refresh = False,
    confirm: Confirm = False,
    outline: Outline = None,
    depth: DepthOption = DepthName.DEEP,
    source: Source = None,
    as_json: JsonOption = False,
    gateway: GatewayOption = None,
    redis: RedisOption = None,
    token: TokenOption = None,
    no_progress: QuietOption = False,
    lang: LangOption = "en",
) -> None:
    """Research a question; with --vault, what was begun goes on and what is finished is read."""
    terminal = Terminal(lang)
    if confirm and outline is not None:
        raise typer.BadParameter("give --confirm or --outline, not both")
    if confirm and vault is None:
        raise typer.BadParameter("--confirm needs a --vault, where the outline can be edited")
    asked = _Asked(
        question=question, sources=source, depth=_DEPTHS[depth], vault=vault, refresh=refresh
    )
    delegates = _delegates(outline, vault, terminal, confirm=confirm)
    with at_the_desk(terminal, gateway, redis, token) as client:
        # Who is asked something needs the terminal for it.
        result = _researched(client, asked, delegates, terminal, not no_progress and not confirm)
    if as_json:
        typer.echo(msgspec.json.encode(result))
    else:
        for line in lines_of(result, terminal.texts):
            terminal.say(line)
    _tell_changes(vault, terminal)
    raise typer.Exit(ending(result))


def _delegates(
    outline: Path | None, vault: Path | None, terminal: Terminal, *, confirm: bool
) -> Delegates:
    if outline is not None:
        text = outline.read_text("utf-8", "replace")
        return {"outline_fn": lambda _shown: text}
    if not confirm or vault is None:
        return {}
    folder = Vault(vault)

    def edited(shown: str) -> str:
        """Wait until the reader has edited the outline in the vault."""
        terminal.note(terminal.texts("edit_outline", path=str(folder.folder / OUTLINE)))
        typer.prompt("", default="", show_default=False, prompt_suffix="", err=True)
        return folder.outline() or shown

    return {"outline_fn": edited}


def _researched(
    client: Client,
    asked: _Asked,
    delegates: Delegates,
    terminal: Terminal,
    shown: bool,  # noqa: FBT001
) -> Result:
    try:
        with showing(terminal, wanted=shown) as show:
            return client.research(
                asked.question,
                depth=asked.depth,
                vault=asked.vault,
                refresh=asked.refresh,
                on_progress=show,
                sources=asked.sources,
                **delegates,
            )
    except KeyboardInterrupt as error:
        terminal.note(terminal.texts("left" if asked.vault else "interrupted"), "yellow")
        raise typer.Exit(INTERRUPTED) from error


def _tell_changes(folder: Path | None, terminal: Terminal) -> None:
    if folder is None:
        return
    changes = Vault(folder).changes()
    told = terminal.texts(
        "vault_changes",
        new=len(changes.new),
        changed=len(changes.changed),
        gone=len(changes.gone),
        same=len(changes.same),
    )
    terminal.note(f"{terminal.texts('kept', path=str(folder))}; {told}")
