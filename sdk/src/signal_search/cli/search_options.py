"""The options of `search` and `survey`."""

from collections.abc import Callable
from enum import StrEnum
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any, cast

import msgspec
import typer

from signal_search.contracts.search_plan import SearchIntent
from signal_search.errors import Unsupported

TOP = 15
"""Hits shown (scorer guide)."""

_LANGUAGE = "signal_search.language"


def part_of(group: str) -> Callable[..., Any]:
    """Return what an installed room brings under an entry-point group.

    Raises:
        Unsupported: none does.
    """
    for entry in entry_points(group=group):
        return cast("Callable[..., Any]", entry.load())
    raise Unsupported("this installation has no such part; the service package brings it")


def _tell_abilities(wanted: bool) -> None:  # noqa: FBT001 - typer calls it so
    """Print what programs can do, without a query, a configuration or the network."""
    if wanted:
        # Nothing is generated here: that is a deployment's to say.
        found = part_of(_LANGUAGE)(generation_available=None)
        typer.echo(msgspec.json.format(msgspec.json.encode(found), indent=2))
        raise typer.Exit


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


def option(help_text: str, *names: str, metavar: str | None = None, **more: Any) -> Any:
    """Return an option with its help; `more` goes to typer as it is."""
    return typer.Option(*names, help=help_text, metavar=metavar, **more)


Words = Annotated[list[str] | None, typer.Argument(metavar="[QUERY]", help="What to search for.")]
Queries = Annotated[
    list[str] | None,
    option("Several queries, searched as they are: --queries A B C.", "--queries", metavar="A"),
]
ModeOption = Annotated[Mode | None, option("Who is asked; without it the intent decides.")]
IntentOption = Annotated[SearchIntent | None, option("What the search is for; it then scores.")]
FreshnessOption = Annotated[str | None, option("pd, pw, pm, py, or A..B.")]
Boost = Annotated[str | None, option("Sites to lift, joined by commas.", metavar="SITES")]
Num = Annotated[int | None, option("Hits from each source and query (1-100).")]
MaxResults = Annotated[
    int | None, option("Hits in the answer; with --direct, from each source (1-100).")
]
Top = Annotated[int | None, option(f"Hits shown; {TOP} without it.", show_default=False)]
RankingOption = Annotated[RankingName | None, option("auto or scorer.")]
ScorerFile = Annotated[
    Path | None, option("A scoring program as JSON, 4 KiB at most.", dir_okay=False)
]
Explain = Annotated[bool, option("Say how the program came to each score.", "--explain")]
Agent = Annotated[bool, option("Add a summary by the operator's model.", "--agent")]
SourcesOption = Annotated[
    str | None, option("Ask only these, joined by commas.", "--sources", metavar="NAMES")
]
Identifier = Annotated[str | None, option("Look a work up.")]
DeadlineOption = Annotated[float | None, option("Seconds after which it answers as it stands.")]
Direct = Annotated[bool, option("Search in this process, without a gateway.", "--direct")]
Abilities = Annotated[
    bool,
    option(
        "Print what scoring programs can do here, and leave.",
        "--list-scoring-capabilities",
        is_eager=True,
        callback=_tell_abilities,
    ),
]
