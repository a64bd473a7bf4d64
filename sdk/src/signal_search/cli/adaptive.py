"""`signal-search adaptive`: what is worth reading about a question, judged result by result."""
# ruff: noqa: PLR0913, PLR0917, FBT002 - typer reads the options off the signature

from pathlib import Path
from typing import Annotated, Any, NoReturn

import msgspec
import typer

from signal_search.cli.adaptive_render import adaptive_ending, adaptive_lines
from signal_search.cli.options import (
    GatewayOption,
    JsonOption,
    LangOption,
    RedisOption,
    TokenOption,
    at_the_desk,
)
from signal_search.cli.search import listed, unless_interrupted
from signal_search.cli.search_options import DeadlineOption, SourcesOption, option
from signal_search.cli.terminal import USAGE, Terminal
from signal_search.client import Client
from signal_search.contracts.adaptive_result import AdaptiveResult

_FILE_BYTES = 65_536  # what a gateway takes

Questions = Annotated[
    list[str] | None, typer.Argument(metavar="[QUESTION]...", help="One to six questions.")
]
KeywordOption = Annotated[
    list[str] | None, option("Search words, for one question; repeatable.", "--keyword")
]
IntentText = Annotated[
    str | None, option("What is wanted, for the judge alone; no part of a query.")
]
InputFile = Annotated[
    Path | None,
    option("The whole input as JSON: questions and keywords, or tasks.", "--input", dir_okay=False),
]
CursorOption = Annotated[
    str | None, option("The next page of an earlier search, which ends there.")
]
PageSize = Annotated[int | None, option("Results on a page (1-50).")]


def adaptive(
    questions: Questions = None,
    keyword: KeywordOption = None,
    intent: IntentText = None,
    input_file: InputFile = None,
    cursor: CursorOption = None,
    page_size: PageSize = None,
    sources: SourcesOption = None,
    deadline: DeadlineOption = None,
    as_json: JsonOption = False,
    gateway: GatewayOption = None,
    redis: RedisOption = None,
    token: TokenOption = None,
    lang: LangOption = "en",
) -> None:
    """Search until a judge has seen enough, and list what is worth reading; it answers nothing itself."""
    terminal = Terminal(lang)
    asked: dict[str, Any] = {
        "questions": questions or None,
        "keywords": keyword or None,
        "intent": intent,
    }
    asked |= {"sources": listed(sources), "page_size": page_size}
    if deadline is not None:
        asked["constraints"] = {"deadline_s": deadline}
    given = {name: value for name, value in asked.items() if value is not None}
    if input_file is not None:
        given = {**_read(terminal, input_file), **given}
    if cursor is not None and set(given) - {"page_size"}:
        _refuse(terminal, "cursor_alone")
    if cursor is None and not {"questions", "tasks"} & set(given):
        _refuse(terminal, "no_question")
    with at_the_desk(terminal, gateway, redis, token) as client, unless_interrupted(terminal):
        page = _page(client, cursor, page_size, given)
    _print(page, terminal, as_json=as_json)
    raise typer.Exit(adaptive_ending(page))


def _page(
    client: Client, cursor: str | None, page_size: int | None, given: dict[str, Any]
) -> AdaptiveResult:
    if cursor is not None:
        return client.adaptive_page(cursor, page_size)
    return client.adaptive_search(**given)


def _read(terminal: Terminal, path: Path) -> dict[str, Any]:
    """Return the input in a file."""
    try:
        with path.open("rb") as file:
            raw = file.read(_FILE_BYTES + 1)
        if len(raw) > _FILE_BYTES:
            _refuse(terminal, "input_too_large")
        return msgspec.json.decode(raw, type=dict[str, Any])
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return _refuse(terminal, "input_unreadable")


def _refuse(terminal: Terminal, text: str) -> NoReturn:
    terminal.note(f"signal-search: {terminal.texts(text)}", "red")
    raise typer.Exit(USAGE)


def _print(page: AdaptiveResult, terminal: Terminal, *, as_json: bool) -> None:
    if as_json:
        typer.echo(msgspec.json.encode(page))
        return
    for line in adaptive_lines(page, terminal.texts):
        terminal.say(line)
