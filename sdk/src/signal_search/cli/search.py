"""`signal-search search`: hits of many sources, by intent, by a formula or by a program of one's own."""
# ruff: noqa: PLR0913, PLR0917, FBT002 - typer reads the options off the signature

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

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
from signal_search.cli.search_options import (
    TOP,
    Abilities,
    Agent,
    Boost,
    DeadlineOption,
    Direct,
    Explain,
    FreshnessOption,
    Identifier,
    IntentOption,
    MaxResults,
    ModeOption,
    Num,
    Queries,
    RankingOption,
    ScorerFile,
    SourcesOption,
    Top,
    Words,
    part_of,
)
from signal_search.cli.search_render import search_ending, search_lines
from signal_search.cli.terminal import INTERRUPTED, USAGE, Terminal, exit_code
from signal_search.client import Client
from signal_search.contracts.search_result import SearchResult
from signal_search.errors import SignalSearchError

_SCORER_BYTES = 4096  # scorer guide: of the whole file, white space included
_DIRECT = "signal_search.direct"


def search(
    words: Words = None,
    queries: Queries = None,
    mode: ModeOption = None,
    intent: IntentOption = None,
    freshness: FreshnessOption = None,
    domain_boost: Boost = None,
    num: Num = None,
    max_results: MaxResults = None,
    top: Top = None,
    ranking: RankingOption = None,
    scorer_file: ScorerFile = None,
    explain: Explain = False,
    agent: Agent = False,
    sources: SourcesOption = None,
    doi: Identifier = None,
    arxiv_id: Identifier = None,
    title: Identifier = None,
    deadline: DeadlineOption = None,
    direct: Direct = False,
    _capabilities: Abilities = False,
    as_json: JsonOption = False,
    gateway: GatewayOption = None,
    redis: RedisOption = None,
    token: TokenOption = None,
    lang: LangOption = "en",
) -> None:
    """Search many sources at once; hits are merged, and scored where an intent or a ranking is named."""
    terminal = Terminal(lang)
    plain = dict(mode=mode, intent=intent, freshness=freshness, ranking=ranking, explain=explain)  # noqa: C408
    work = dict(doi=doi, arxiv_id=arxiv_id, title=title)  # noqa: C408
    lists = {"domain_boost": listed(domain_boost), "sources": listed(sources)}
    amounts = _amounts(terminal, num, max_results, top, direct=direct, by_program=bool(ranking))
    more = {"scorer": _program(terminal, scorer_file), "constraints": {"deadline_s": deadline}}
    asked = {**_words(terminal, words or [], queries or []), **plain, **work, **lists, **amounts}
    # Scorer guide: a direct search has no summary.
    given = _given({**asked, **more, "agent": agent and not direct})
    result = _searched(terminal, given, (gateway, redis, token), direct=direct)
    _print(result, terminal, top=top or TOP, as_json=as_json, compact=scorer_file is not None)
    raise typer.Exit(search_ending(result))


# --- arguments --------------------------------------------------------------------------------------------------------


def _words(terminal: Terminal, words: Sequence[str], queries: Sequence[str]) -> dict[str, Any]:
    """Return query or queries; after `--queries A` further words are further queries."""
    if queries:
        return {"queries": [*queries, *words]}
    if len(words) > 1:
        _refuse(terminal, terminal.texts("one_query"))
    return {"query": words[0]} if words else {}


def _given(asked: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in asked.items() if value is not None}


def listed(text: str | None) -> list[str] | None:
    """Return names that commas join, None for none."""
    names = [each.strip() for each in (text or "").split(",") if each.strip()]
    return names or None


def _program(terminal: Terminal, path: Path | None) -> object:
    """Return the program in a file; its size is looked at before it is read as JSON."""
    if path is None:
        return None
    try:
        with path.open("rb") as file:
            raw = file.read(_SCORER_BYTES + 1)
        if len(raw) > _SCORER_BYTES:
            _refuse(terminal, terminal.texts("scorer_too_large", most=_SCORER_BYTES))
        return msgspec.json.decode(raw)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return _refuse(terminal, terminal.texts("scorer_unreadable"))


def _amounts(
    terminal: Terminal,
    num: int | None,
    max_results: int | None,
    top: int | None,
    *,
    direct: bool,
    by_program: bool,
) -> dict[str, int | None]:
    """Return how many hits are asked for and answered; a direct search reads --max-results as each source's."""
    if by_program and any(each is not None and each < 1 for each in (max_results, top)):
        _refuse(terminal, terminal.texts("positive"))
    if direct:
        return {"num": num or max_results, "max_results": top or TOP}
    return {"num": num, "max_results": max_results}


def _refuse(terminal: Terminal, text: str) -> NoReturn:
    terminal.note(f"signal-search: {text}", "red")
    raise typer.Exit(USAGE)


# --- the search -------------------------------------------------------------------------------------------------------


def _searched(
    terminal: Terminal,
    given: Mapping[str, Any],
    places: tuple[str | None, str | None, str | None],
    *,
    direct: bool,
) -> SearchResult:
    if not {"query", "queries", "doi", "arxiv_id", "title"} & given.keys():
        _refuse(terminal, terminal.texts("no_query"))
    opened = _here(terminal) if direct else at_the_desk(terminal, *places)
    with opened as client, unless_interrupted(terminal):
        return client.search(**given)


@contextmanager
def _here(terminal: Terminal) -> Iterator[Client]:
    """Open a client of workers in this process, which an installed room brings."""
    try:
        with part_of(_DIRECT)() as redis_url, Client(redis_url=redis_url) as client:
            yield client
    except SignalSearchError as error:
        terminal.complain(error)
        raise typer.Exit(exit_code(error)) from error


@contextmanager
def unless_interrupted(terminal: Terminal) -> Iterator[None]:
    """Leave with the exit code of an interruption."""
    try:
        yield
    except KeyboardInterrupt as error:
        terminal.note(terminal.texts("left"), "yellow")
        raise typer.Exit(INTERRUPTED) from error


# --- what is printed --------------------------------------------------------------------------------------------------


def _print(
    result: SearchResult, terminal: Terminal, *, top: int, as_json: bool, compact: bool
) -> None:
    if as_json:
        raw = msgspec.json.encode(result)
        # Programs explain themselves within a budget of bytes, which indenting would break (scorer guide).
        typer.echo(raw if compact else msgspec.json.format(raw, indent=2))
        return
    for line in search_lines(result, terminal.texts, top=top):
        terminal.say(line)
