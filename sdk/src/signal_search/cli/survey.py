"""`signal-search survey`: papers from several sides of a goal."""
# ruff: noqa: PLR0913, PLR0917, FBT002 - typer reads the options off the signature

from typing import Annotated, Any

import msgspec
import typer

from signal_search.cli.options import (
    GatewayOption,
    JsonOption,
    LangOption,
    RedisOption,
    TokenOption,
    at_the_desk,
)
from signal_search.cli.search import listed, unless_interrupted
from signal_search.cli.search_options import DeadlineOption, Queries, SourcesOption, option
from signal_search.cli.search_render import search_ending, survey_lines
from signal_search.cli.terminal import Terminal
from signal_search.contracts.search_result import SurveyResult


def survey(
    goal: Annotated[str, typer.Argument(metavar="GOAL", help="What the survey is about.")],
    queries: Queries = None,
    author: Annotated[list[str] | None, option("Only of these authors; repeatable.")] = None,
    venue: Annotated[list[str] | None, option("Only from these places; repeatable.")] = None,
    year_from: Annotated[int | None, option("Not older.")] = None,
    year_to: Annotated[int | None, option("Not newer.")] = None,
    min_citations: Annotated[int | None, option("Cited so often at least.")] = None,
    sort: Annotated[str, option("relevance, newest or citations.")] = "relevance",
    sources: SourcesOption = None,
    max_results: Annotated[int | None, option("Papers in the answer (1-100).")] = None,
    deadline: DeadlineOption = None,
    as_json: JsonOption = False,
    gateway: GatewayOption = None,
    redis: RedisOption = None,
    token: TokenOption = None,
    lang: LangOption = "en",
) -> None:
    """Look for papers from several sides of a goal."""
    terminal = Terminal(lang)
    rules = {
        "authors": author or [],
        "venues": venue or [],
        "year_from": year_from,
        "year_to": year_to,
        "min_citations": min_citations,
        "sort": sort,
    }
    asked: dict[str, Any] = {
        "queries": queries or None,
        "rules": rules,
        "sources": listed(sources),
        "max_results": max_results,
        "constraints": {"deadline_s": deadline},
    }
    given = {name: value for name, value in asked.items() if value is not None}
    with at_the_desk(terminal, gateway, redis, token) as client, unless_interrupted(terminal):
        result = client.survey_search(goal, **given)
    _print_survey(result, terminal, as_json=as_json)
    raise typer.Exit(search_ending(result))


def _print_survey(result: SurveyResult, terminal: Terminal, *, as_json: bool) -> None:
    if as_json:
        typer.echo(msgspec.json.encode(result))
        return
    for line in survey_lines(result, terminal.texts, top=len(result.hits)):
        terminal.say(line)
