"""`signal-search retrieve`: one question, its answer and what the answer rests on."""
# ruff: noqa: PLR0913, PLR0917, FBT002 - typer reads the options off the signature

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

import msgspec
import typer

from signal_search.citations import export
from signal_search.cli.options import (
    GatewayOption,
    JsonOption,
    LangOption,
    MaybeFormatOption,
    QuietOption,
    RedisOption,
    TokenOption,
    at_the_desk,
    scope_of,
)
from signal_search.cli.progress import showing
from signal_search.cli.render import ending, lines_of
from signal_search.cli.terminal import INTERRUPTED, Terminal
from signal_search.client import Client
from signal_search.contracts.query import DelegationKind, Depth, Tier
from signal_search.contracts.result import Result

EXIT_CODES = (
    "Exit codes: 0 answered, 1 failed, 2 usage, 3 answered but the budget ended first, "
    "4 no source could be reached, 130 interrupted (the job is cancelled)."
)


class DepthName(StrEnum):
    """The public names of L1 to L3."""

    QUICK = "quick"
    STANDARD = "standard"
    DEEP = "deep"


_DEPTHS: dict[DepthName | None, Depth] = {
    DepthName.QUICK: "quick",
    DepthName.STANDARD: "standard",
    DepthName.DEEP: "deep",
}


def _option(help_text: str, *names: str, metavar: str | None = None) -> Any:
    return typer.Option(*names, help=help_text, metavar=metavar)


Question = Annotated[str, typer.Argument(metavar="QUESTION", help="What to find out.")]
Source = Annotated[
    list[str] | None,
    _option("Ask only this source; repeatable.", "--source", "-s", metavar="NAME"),
]
DepthOption = Annotated[DepthName | None, _option("How deep to look.")]
TierOption = Annotated[Tier | None, _option("How deep to look, by tier.")]
Language = Annotated[str | None, _option("Language of sources, as in en or zh.")]
Domain = Annotated[str | None, _option("Only this domain.")]
Freshness = Annotated[str | None, _option("pd, pw, pm, py, or YYYY-MM-DD..YYYY-MM-DD.")]
MaxSources = Annotated[int | None, _option("At most so many sources (1-50).")]
TokenBudget = Annotated[int | None, _option("Soft limit of tokens.")]
Deadline = Annotated[float | None, _option("Seconds the job may take.")]
Timeout = Annotated[float | None, _option("Seconds to wait here; then the job is cancelled.")]
Boost = Annotated[list[str] | None, _option("Lift a source or domain; repeatable.", metavar="NAME")]
Delegate = Annotated[
    list[DelegationKind] | None,
    _option("Answer such questions of the job (see `jobs delegations`); repeatable."),
]
Block = Annotated[list[str] | None, _option("Drop a source or domain; repeatable.", metavar="NAME")]
Scope = Annotated[
    str | None,
    _option(
        "Ask the research memory of this scope too; alone with `--source memory`.",
        metavar="TEAM,PROJECT,REPOSITORY,BRANCH,ENVIRONMENT",
    ),
]


def retrieve(
    question: Question,
    source: Source = None,
    depth: DepthOption = None,
    tier: TierOption = None,
    language: Language = None,
    domain: Domain = None,
    freshness: Freshness = None,
    max_sources: MaxSources = None,
    budget: TokenBudget = None,
    deadline: Deadline = None,
    timeout: Timeout = None,
    boost: Boost = None,
    block: Block = None,
    scope: Scope = None,
    delegate: Delegate = None,
    as_json: JsonOption = False,
    format_name: MaybeFormatOption = None,
    gateway: GatewayOption = None,
    redis: RedisOption = None,
    token: TokenOption = None,
    no_progress: QuietOption = False,
    lang: LangOption = "en",
) -> None:
    """Answer a question from sources that are fetched, cited and checked."""
    _refuse_both(format_name, as_json=as_json)
    constraints = {
        "language": language,
        "domain": domain,
        "freshness": freshness,
        "max_sources": max_sources,
        "required_tier": tier,
        "source_prefs": {"boost": boost or [], "block": block or [], "only": source or []},
        "scope": scope_of(scope),
        "deadline_s": deadline,
    }
    asked = _Asked(question, constraints, budget, _DEPTHS.get(depth), timeout, delegate or [])
    with at_the_desk(terminal := Terminal(lang), gateway, redis, token) as client:
        result = _ask(client, asked, terminal, wanted=not no_progress)
    raise typer.Exit(_print(result, terminal, as_json=as_json, format_name=format_name))


def _refuse_both(format_name: str | None, *, as_json: bool) -> None:
    if as_json and format_name:
        raise typer.BadParameter("give --json or --format, not both")


class _Asked(msgspec.Struct, frozen=True):
    question: str
    constraints: Mapping[str, object]
    budget: int | None
    depth: Depth | None
    timeout: float | None
    delegate: list[DelegationKind]


def _ask(client: Client, asked: _Asked, terminal: Terminal, *, wanted: bool) -> Result:
    try:
        with showing(terminal, wanted=wanted) as show:
            return client.retrieve(
                asked.question,
                asked.constraints,
                asked.budget,
                depth=asked.depth,
                timeout=asked.timeout,
                on_progress=show,
                delegate=asked.delegate,
            )
    except KeyboardInterrupt as error:
        terminal.note(terminal.texts("interrupted"), "yellow")
        raise typer.Exit(INTERRUPTED) from error


def _print(result: Result, terminal: Terminal, *, as_json: bool, format_name: str | None) -> int:
    """Print the result and return the exit code that it stands for."""
    if as_json:
        typer.echo(msgspec.json.encode(result))
    elif format_name:
        typer.echo(export(result, format_name), nl=False)
    else:
        for line in lines_of(result, terminal.texts):
            terminal.say(line)
    return ending(result)
