"""`signal-search jobs delegations` and `jobs answer`: see what a job asks, and answer it from a file."""
# ruff: noqa: PLR0913, PLR0917, FBT002 - typer reads the options off the signature

from typing import Annotated

import msgspec
import typer

from signal_search.citations.works import one_line
from signal_search.cli.options import (
    GatewayOption,
    JobArgument,
    JsonOption,
    LangOption,
    RedisOption,
    TokenOption,
    at_the_desk,
)
from signal_search.cli.terminal import Terminal
from signal_search.contracts.delegation import DelegationState
from signal_search.errors import Invalid

_MOST_BYTES = 65_536  # what a gateway takes by default

Name = Annotated[str, typer.Argument(metavar="DELEGATION", help="Name of the question.")]
AnswerFile = Annotated[
    typer.FileBinaryRead | None,
    typer.Option("--file", "-f", help="The answer as JSON; - for stdin.", metavar="FILE"),
]
Decline = Annotated[bool, typer.Option("--decline", help="Say that there is no answer.")]
Tokens = Annotated[int, typer.Option(min=0, help="Tokens that your model used for it.")]


def delegations(
    job_id: JobArgument,
    as_json: JsonOption = False,
    gateway: GatewayOption = None,
    redis: RedisOption = None,
    token: TokenOption = None,
    lang: LangOption = "en",
) -> None:
    """Show what a job asks of its caller; --json has the questions and the schemas of their answers."""
    terminal = Terminal(lang)
    with at_the_desk(terminal, gateway, redis, token) as client:
        found = client.delegations(job_id)
    if as_json:
        typer.echo(msgspec.json.encode({"delegations": found}))
        return
    for each in found:
        terminal.say(_row(each, terminal))
    if not found:
        terminal.note(terminal.texts("no_delegations"))


def answer(
    job_id: JobArgument,
    name: Name,
    file: AnswerFile = None,
    decline: Decline = False,
    tokens: Tokens = 0,
    as_json: JsonOption = False,
    gateway: GatewayOption = None,
    redis: RedisOption = None,
    token: TokenOption = None,
    lang: LangOption = "en",
) -> None:
    """Answer one question of a job from a file, or decline it."""
    terminal = Terminal(lang)
    if (file is None) is not decline:
        raise typer.BadParameter("give --file or --decline")
    with at_the_desk(terminal, gateway, redis, token) as client:
        said = None if file is None else _read(file)
        state = client.answer(job_id, name, said, tokens=tokens)
    if as_json:
        typer.echo(msgspec.json.encode(state))
    else:
        terminal.say(_row(state, terminal))


def _read(file: typer.FileBinaryRead) -> dict[str, object]:
    raw = file.read(_MOST_BYTES + 1)
    try:
        if len(raw) > _MOST_BYTES:
            raise Invalid("the answer is larger than a gateway takes", field="answer")
        return msgspec.json.decode(raw, type=dict[str, object])
    except msgspec.DecodeError as error:
        raise Invalid("the answer is not a JSON object", field="answer") from error


def _row(state: DelegationState, terminal: Terminal) -> str:
    seconds = (state.delegation.deadline_ms - state.asked_at_ms) // 1000
    told = terminal.texts(f"delegation.{state.state}", seconds=seconds)
    return "  ".join((one_line(state.delegation.id), state.delegation.kind.value, told))
