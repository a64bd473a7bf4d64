"""`signal-search research run`: research a question, with its outline confirmed and a vault to keep it in."""
# ruff: noqa: PLR0913, PLR0917, FBT002 - typer reads the options off the signature

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from signal_search.cli.memory import add_memory_commands
from signal_search.cli.memory_index import index
from signal_search.cli.memory_query import query
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
from signal_search.cli.terminal import FAILED, INTERRUPTED, Terminal
from signal_search.client import Client
from signal_search.client.confirming import answered
from signal_search.client.delegates import Delegates
from signal_search.client.vault import Vault
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
Export = Annotated[
    list[str] | None,
    typer.Option(
        "--export",
        metavar="FORMAT",
        help="Write references.* in the vault: bibtex, csl, md, noteexpress, ris; repeatable.",
    ),
]
DepthOption = Annotated[DepthName, typer.Option(help="How deep to look.")]


class _Asked(msgspec.Struct, frozen=True, kw_only=True):
    question: str
    sources: list[str] | None
    depth: Depth
    vault: Path | None
    refresh: bool
    references: list[str]


def research_app() -> typer.Typer:
    """Return the group; rooms may add commands to it."""
    app = typer.Typer(help="Research a question, and keep what was found.", no_args_is_help=True)
    app.callback()(_group)
    app.command("run", epilog=EXIT_CODES)(run)
    app.command("index")(index)
    app.command("query")(query)
    add_memory_commands(app)
    return app


def _group() -> None:
    """Keep `run` a command of its own: typer would fold a group of one into its only command."""


def run(
    question: Question,
    vault: VaultOption = None,
    refresh: Refresh = False,
    confirm: Confirm = False,
    outline: Outline = None,
    export: Export = None,
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
        question=question,
        sources=source,
        depth=_DEPTHS[depth],
        vault=vault,
        refresh=refresh,
        references=export or [],
    )
    with at_the_desk(terminal, gateway, redis, token) as client:
        if confirm:
            _confirmed(client, asked, terminal, as_json=as_json)
        result = _researched(client, asked, _delegates(outline), terminal, not no_progress)
    _show(result, terminal, as_json=as_json)
    _tell_changes(vault, terminal)
    raise typer.Exit(ending(result))


def _delegates(outline: Path | None) -> Delegates:
    if outline is None:
        return {}
    text = outline.read_text("utf-8", "replace")
    return {"outline_fn": lambda _shown: text}


def _confirmed(client: Client, asked: _Asked, terminal: Terminal, *, as_json: bool) -> None:
    """Show where the outline is and wait for the reader's answer, unless no job is to be made.

    Raises:
        Exit: the reader did not go on.
    """
    if asked.vault is None or not Vault(asked.vault).is_to_be_asked(refresh=asked.refresh):
        return
    draft = client.research_outline(
        asked.question, vault=asked.vault, depth=asked.depth, sources=asked.sources
    )
    terminal.note(terminal.texts("edit_outline", path=str(asked.vault / draft.outline_file)))
    said = answered(typer.prompt("", default="", show_default=False, prompt_suffix="", err=True))
    if said is None:
        return
    if as_json:
        typer.echo(msgspec.json.encode(said))
    terminal.note(terminal.texts("not_confirmed"), "yellow")
    raise typer.Exit(FAILED)


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
                export_citations=asked.references,
                on_progress=show,
                sources=asked.sources,
                **delegates,
            )
    except KeyboardInterrupt as error:
        terminal.note(terminal.texts("left" if asked.vault else "interrupted"), "yellow")
        raise typer.Exit(INTERRUPTED) from error


def _show(result: Result, terminal: Terminal, *, as_json: bool) -> None:
    if as_json:
        typer.echo(msgspec.json.encode(result))
        return
    for line in lines_of(result, terminal.texts):
        terminal.say(line)


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
