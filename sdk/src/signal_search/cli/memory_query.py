"""`signal-search research query`: ask the research memory of a scope, here or by a gateway."""
# ruff: noqa: PLR0913, PLR0917 - typer reads the options off the signature

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
from signal_search.cli.options import JsonOption
from signal_search.cli.terminal import USAGE
from signal_search.client.request import checked
from signal_search.contracts.research import EvidenceChunk, ResearchQuery, RouterResult
from signal_search.errors import Invalid

_SHOWN = 200  # characters of a piece of evidence in plain output
_NOTHING = 4  # the exit code
_NO_INDEX = "index_unavailable:bm25"


def query(
    text: Annotated[str, typer.Argument(help="What to look for.")],
    scope: ScopeOption,
    root: Annotated[Path | None, typer.Option(help="A folder that grep reads too.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=100, help="Pieces of evidence.")] = 20,
    tools: Annotated[
        str, typer.Option(help="A plan of your own: rounds by `;`, tools by `,`.")
    ] = "",
    gateway: GatewayUrlOption = None,
    token: MemoryTokenOption = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Answer a question from the memory of one scope. Exit code 4 when nothing was found, 2 for a plan that is none."""
    if gateway and root is not None:
        raise Invalid("A gateway reads the folders of its own settings.", field="root")
    rounds = tuple(tuple(part.split(",")) for part in tools.split(";")) if tools else None
    if gateway:
        with memory_at(scope, "", gateway, token) as memory:
            found = memory.query(text, tool_rounds=rounds, limit=limit).answer
    else:
        given = {"query": text, "scope": named(scope), "tool_rounds": rounds, "limit": limit}
        found = files_for("").query(checked(given, ResearchQuery, ""), root)
    print_json(found) if as_json else _show(found)
    raise typer.Exit(_exit_code(found))


def _exit_code(found: RouterResult) -> int:
    if any(each.startswith("plan:") for each in found.rejections):
        return USAGE
    return 0 if found.evidence else _NOTHING


def _show(found: RouterResult) -> None:
    for each in found.evidence:
        place = f"{each.source_ref}:{each.locator or ''}".rstrip(":")
        typer.echo(f"{_score(each)}  {place}\n    {_line(each.content)}")
    for trace in found.traces:
        skipped = f", {trace.skipped} files left out" if trace.skipped else ""
        typer.echo(f"{trace.tool_name}: {trace.reason}, {trace.candidate_count}{skipped}", err=True)
    for said in (*found.rejections, *found.degradations):
        typer.echo(said, err=True)
    if _NO_INDEX in found.degradations:
        typer.echo("This scope has no index: `signal-search research index FOLDER`.", err=True)


def _score(chunk: EvidenceChunk) -> str:
    """Return what the order goes by: the last score that was given; a line that grep found has none."""
    if chunk.rerank_score is not None:
        return f"{chunk.rerank_score:.3f}"
    for name in ("rrf_score", "bm25_score", "vector_score"):
        found = chunk.metadata.get(name)
        if isinstance(found, float):
            return f"{found:.3f}"
    return "-"


def _line(text: str) -> str:
    return " ".join(text.split())[:_SHOWN]
