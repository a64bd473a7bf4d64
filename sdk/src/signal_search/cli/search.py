"""`signal-search search` and `survey`: hits of many sources, by intent, by a formula or by a program of one's own."""
# ruff: noqa: PLR0913, PLR0917, FBT002 - typer reads the options off the signature

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any, NoReturn, cast

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
from signal_search.cli.search_render import search_ending, search_lines, survey_lines
from signal_search.cli.terminal import INTERRUPTED, USAGE, Terminal, exit_code
from signal_search.client import Client
from signal_search.contracts.search_plan import SearchIntent
from signal_search.contracts.search_result import SearchResult, SurveyResult
from signal_search.errors import SignalSearchError, Unsupported

_SCORER_BYTES = 4096  # scorer guide: of the whole file, white space included
_TOP = 15  # scorer guide: hits shown
_DIRECT = "signal_search.direct"
_LANGUAGE = "signal_search.language"


class Mode(StrEnum):
    """The modes of a search."""

    FAST = "fast"
    DEEP = "deep"
    ANSWER = "answer"
    FUSED = "fused"
    MULTI = "multi"


class RankingName(StrEnum):
    """What may order hits besides the fixed formula."""

    AUTO = "auto"
    SCORER = "scorer"


def _option(help_text: str, *names: str, metavar: str | None = None, **more: Any) -> Any:
    return typer.Option(*names, help=help_text, metavar=metavar, **more)


Words = Annotated[list[str] | None, typer.Argument(metavar="[QUERY]", help="What to search for.")]
Queries = Annotated[
    list[str] | None,
    _option("Several queries, searched as they are: --queries A B C.", "--queries", metavar="A"),
]
ModeOption = Annotated[Mode | None, _option("Who is asked; without it the intent decides.")]
IntentOption = Annotated[SearchIntent | None, _option("What the search is for; it then scores.")]
FreshnessOption = Annotated[str | None, _option("pd, pw, pm, py, or A..B.")]
Boost = Annotated[str | None, _option("Sites to lift, joined by commas.", metavar="SITES")]
Num = Annotated[int | None, _option("Hits from each source and query (1-100).")]
MaxResults = Annotated[
    int | None, _option("Hits in the answer; with --direct, from each source (1-100).")
]
Top = Annotated[int | None, _option(f"Hits shown; {_TOP} without it.", show_default=False)]
RankingOption = Annotated[RankingName | None, _option("auto or scorer.")]
ScorerFile = Annotated[
    Path | None, _option("A scoring program as JSON, 4 KiB at most.", dir_okay=False)
]
Explain = Annotated[bool, _option("Say how the program came to each score.", "--explain")]
Agent = Annotated[bool, _option("Add a summary by the operator's model.", "--agent")]
SourcesOption = Annotated[
    str | None, _option("Ask only these, joined by commas.", "--sources", metavar="NAMES")
]
Identifier = Annotated[str | None, _option("Look a work up.")]
DeadlineOption = Annotated[float | None, _option("Seconds after which it answers as it stands.")]
Direct = Annotated[bool, _option("Search in this process, without a gateway.", "--direct")]
Abilities = Annotated[
    bool,
    _option("Print what scoring programs can do here, and leave.", "--list-scoring-capabilities"),
]


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
    capabilities: Abilities = False,
    as_json: JsonOption = False,
    gateway: GatewayOption = None,
    redis: RedisOption = None,
    token: TokenOption = None,
    lang: LangOption = "en",
) -> None:
    """Search many sources at once; hits are merged, and scored where an intent or a ranking is named."""
    terminal = Terminal(lang)
    if capabilities:
        typer.echo(msgspec.json.format(msgspec.json.encode(_abilities()), indent=2))
        return
    asked: dict[str, Any] = {
        **_words(terminal, words or [], queries or []),
        "mode": mode.value if mode else None,
        "intent": intent,
        "freshness": freshness,
        "domain_boost": _listed(domain_boost),
        "sources": _listed(sources),
        "ranking": ranking.value if ranking else None,
        "scorer": _program(terminal, scorer_file),
        "explain": explain,
        "agent": agent and not direct,  # scorer guide: a direct search has no summary
        "doi": doi,
        "arxiv_id": arxiv_id,
        "title": title,
        "constraints": {"deadline_s": deadline},
        **_amounts(terminal, num, max_results, top, direct=direct, by_program=ranking is not None),
    }
    given = {name: value for name, value in asked.items() if value not in (None, ())}
    result = _searched(terminal, given, (gateway, redis, token), direct=direct)
    _print(result, terminal, top=top or _TOP, as_json=as_json, compact=scorer_file is not None)
    raise typer.Exit(search_ending(result))


def survey(
    goal: Annotated[str, typer.Argument(metavar="GOAL", help="What the survey is about.")],
    queries: Queries = None,
    author: Annotated[list[str] | None, _option("Only of these authors; repeatable.")] = None,
    venue: Annotated[list[str] | None, _option("Only from these places; repeatable.")] = None,
    year_from: Annotated[int | None, _option("Not older.")] = None,
    year_to: Annotated[int | None, _option("Not newer.")] = None,
    min_citations: Annotated[int | None, _option("Cited so often at least.")] = None,
    sort: Annotated[str, _option("relevance, newest or citations.")] = "relevance",
    sources: SourcesOption = None,
    max_results: Annotated[int | None, _option("Papers in the answer (1-100).")] = None,
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
        "sources": _listed(sources),
        "max_results": max_results,
        "constraints": {"deadline_s": deadline},
    }
    given = {name: value for name, value in asked.items() if value is not None}
    with at_the_desk(terminal, gateway, redis, token) as client, _unless_interrupted(terminal):
        result = client.survey_search(goal, **given)
    _print_survey(result, terminal, as_json=as_json)
    raise typer.Exit(search_ending(result))


# --- arguments --------------------------------------------------------------------------------------------------------


def _words(terminal: Terminal, words: Sequence[str], queries: Sequence[str]) -> dict[str, Any]:
    """Return query or queries; after `--queries A` further words are further queries."""
    if queries:
        return {"queries": [*queries, *words]}
    if len(words) > 1:
        _refuse(terminal, terminal.texts("one_query"))
    return {"query": words[0]} if words else {}


def _listed(text: str | None) -> list[str] | None:
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
        return {"num": num or max_results, "max_results": top or _TOP}
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
    with opened as client, _unless_interrupted(terminal):
        return client.search(**given)


@contextmanager
def _here(terminal: Terminal) -> Iterator[Client]:
    """Open a client of workers in this process, which an installed room brings."""
    try:
        with _loaded(_DIRECT)() as redis_url, Client(redis_url=redis_url) as client:
            yield client
    except SignalSearchError as error:
        terminal.complain(error)
        raise typer.Exit(exit_code(error)) from error


@contextmanager
def _unless_interrupted(terminal: Terminal) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt as error:
        terminal.note(terminal.texts("left"), "yellow")
        raise typer.Exit(INTERRUPTED) from error


def _loaded(group: str) -> Callable[..., Any]:
    for entry in entry_points(group=group):
        return cast("Callable[..., Any]", entry.load())
    raise Unsupported("this installation has no such part; the service package brings it")


def _abilities() -> object:
    # Nothing is generated here: that is a deployment's to say.
    return _loaded(_LANGUAGE)(generation_available=None)


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


def _print_survey(result: SurveyResult, terminal: Terminal, *, as_json: bool) -> None:
    if as_json:
        typer.echo(msgspec.json.encode(result))
        return
    for line in survey_lines(result, terminal.texts, top=len(result.hits)):
        terminal.say(line)
