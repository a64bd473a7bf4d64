"""The commands of this room: sources, replay, evaluation, scoring programs and the demo.

Every command line starts by loading this file, so each command imports what it needs when it runs.
"""

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer
from signal_search.contracts.source import SourceView
from signal_search.errors import Invalid, ProgramError

from workers import research_commands

if TYPE_CHECKING:
    from workers.pipeline.replay import Replay
    from workers.source_check import Health

_DATA = Path("../shared/data/claims")
_COLLECTIONS = Path("../shared/data/ir")
_COLLECTION = Path("../shared/data/ir/scifact")

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def register(app: typer.Typer) -> None:
    """Add this room's commands to the command line."""
    app.command()(demo)
    sources = typer.Typer(help="The places that can be asked.", no_args_is_help=True)
    sources.command("list")(list_sources)
    sources.command("check")(check_sources)
    app.add_typer(sources, name="sources")
    jobs = typer.Typer()
    jobs.command("replay")(replay_bundle)
    app.add_typer(jobs, name="jobs")
    evaluation = typer.Typer(help="Measure the parts on labelled data.", no_args_is_help=True)
    evaluation.command("claims")(eval_claims)
    evaluation.command("planning")(eval_planning)
    evaluation.command("stop")(eval_stop)
    evaluation.command("retrieval")(eval_retrieval)
    app.add_typer(evaluation, name="eval")
    scoring = typer.Typer(help="Programs that score an academic search.", no_args_is_help=True)
    scoring.command("check")(check_program)
    scoring.command("capabilities")(show_capabilities)
    app.add_typer(scoring, name="scoring")
    research_commands.register(app)


def demo(
    question: Annotated[str, typer.Argument(help="What to ask the demo's small web.")] = "",
) -> None:
    """Start everything on this machine, ask a small web of our own, print the answer, leave nothing running."""
    from workers.demo import run_demo  # noqa: PLC0415

    raise typer.Exit(run_demo(question))


def list_sources(*, as_json: JsonFlag = False) -> None:
    """List the sources of this deployment."""
    from infra.settings import current  # noqa: PLC0415
    from workers.registry import Registry  # noqa: PLC0415

    views = Registry(current()).views()
    if as_json:
        _print_json(views)
        return
    for view in views:
        typer.echo(_line(view))


def _line(view: SourceView) -> str:
    state = "on" if view.enabled else "off"
    languages = ",".join(view.languages) or "any"
    return f"{view.id:14} {state:3} {view.kind:5} {view.category:14} {languages:6} {view.name}"


def check_sources(
    names: Annotated[
        list[str] | None, typer.Argument(help="Sources by id; without one all that are enabled.")
    ] = None,
    *,
    live: Annotated[
        bool, typer.Option("--live", help="Ask each once, at the pace its host allows.")
    ] = False,
    within_s: Annotated[
        float, typer.Option("--within", min=1.0, max=3600.0, help="Seconds to wait for answers.")
    ] = 120.0,
    as_json: JsonFlag = False,
) -> None:
    """Tell how each source does: from the configuration alone, or live. Exit code 1 when one is not well."""
    from infra.settings import current  # noqa: PLC0415
    from workers.source_check import check_live, check_setup, with_store  # noqa: PLC0415

    if live:
        with with_store(current()) as settings:
            found = check_live(settings, within_s=within_s, only=names or ())
    else:
        found = check_setup(current(), only=names or ())
    if as_json:
        _print_json(found)
    else:
        for each in found:
            typer.echo(_health_line(each))
    raise typer.Exit(0 if all(each.is_well for each in found) else 1)


def _health_line(health: "Health") -> str:
    said = ", ".join(filter(None, (health.reason, health.detail)))
    until = f" (until {health.until})" if health.until else ""
    count = f"{health.results} results" if health.results else ""
    return f"{health.source_id:16} {health.state:10} {said or count}{until}".rstrip()


def replay_bundle(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True)],
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="Replace a figure, such as stop.agreement=1."
        ),
    ] = None,
    *,
    as_json: JsonFlag = False,
) -> None:
    """Fold a bundle again without network or Redis; exit code 1 when an unchanged replay differs."""
    from infra.bundle import unpack  # noqa: PLC0415
    from workers.pipeline.replay import replay  # noqa: PLC0415

    made = replay(unpack(file.read_bytes()), dict(_change(each) for each in changes or []))
    if as_json:
        _print_json(made)
    else:
        _tell(made)
    raise typer.Exit(0 if made.same or changes else 1)


def _change(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise Invalid("A change is written NAME=VALUE.", field="set")
    try:
        return name, msgspec.json.decode(value)
    except msgspec.DecodeError:
        return name, value


def _tell(made: "Replay") -> None:
    typer.echo(
        f"{made.job_id}: {'the same result' if made.same else 'a different result'}, {made.digest}"
    )
    for each in made.differences:
        typer.echo(f"  {each.path}: {each.before} -> {each.after}")


def eval_claims(
    folder: Annotated[
        Path,
        typer.Option("--dir", help="Every *.jsonl below it: id, lang, claim, evidence, label."),
    ] = _DATA,
    most: Annotated[int, typer.Option("--most", min=0, help="Rows per file; 0: all.")] = 0,
    *,
    table: Annotated[
        bool,
        typer.Option("--table", help="Print the bars instead; exit code 1 when one is missed."),
    ] = False,
) -> None:
    """Verify labelled claims with the embedded judge; prints JSON with n, both directions and a control."""
    from infra.settings import current  # noqa: PLC0415
    from scoring.claims.bars import as_table, claim_bars  # noqa: PLC0415
    from workers.evaluation import evaluate_claims  # noqa: PLC0415

    if not folder.is_dir():
        raise Invalid("There is no such folder.", field="dir")
    found = evaluate_claims(folder, most, current().verify.model_dump())
    if not table:
        _print_json(found)
        return
    bars = claim_bars(found)
    typer.echo(as_table(bars))
    raise typer.Exit(1 if any(each.is_met is False for each in bars) else 0)


def eval_planning(
    files: Annotated[
        list[Path],
        typer.Option("--file", exists=True, dir_okay=False, help="Labelled questions; may repeat."),
    ],
) -> None:
    """Read tier and intent of labelled questions, with no memory; prints JSON: n, what is right, the misses, by set."""
    from workers.evaluation import evaluate_plans  # noqa: PLC0415

    _print_json({name: found for file in files for name, found in evaluate_plans(file).items()})


def eval_stop(
    folder: Annotated[
        Path, typer.Option("--dir", help="A collection, or a folder of collections.")
    ] = _COLLECTIONS,
) -> None:
    """Try the stop rule on labelled collections; prints JSON with n: how often its reasons are wrong, the cost."""
    from infra.settings import current  # noqa: PLC0415
    from workers.evaluation import evaluate_stops  # noqa: PLC0415

    _print_json(evaluate_stops(folder, current().stop.model_dump()))


def check_program(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True)],
    *,
    as_json: JsonFlag = False,
) -> None:
    """Compile a scoring program from a JSON file: its hash and plan, or what is wrong and where (exit code 1)."""
    from scoring.expression.compiler import compile_program  # noqa: PLC0415
    from scoring.expression.listing import described, marked_error  # noqa: PLC0415
    from scoring.expression.program_file import READ_BYTES, decode_program  # noqa: PLC0415

    with file.open("rb") as opened:
        source = decode_program(opened.read(READ_BYTES))
    try:
        found = described(compile_program(source))
    except ProgramError as error:
        if as_json:
            _print_json({"valid": False, "detail": _detail(error)})
        else:
            typer.echo(marked_error(source, error), err=True)
        raise typer.Exit(1) from None
    if as_json:
        _print_json({"valid": True, **found})
        return
    typer.echo("\n".join(f"{name}: {value}" for name, value in found.items() if name != "plan"))
    typer.echo("\n".join(found["plan"]))


def _detail(error: ProgramError) -> dict[str, Any]:
    known = {"field": error.field, "position": error.position}
    return {
        "code": error.code,
        "message": error.message,
        **{name: value for name, value in known.items() if value is not None},
    }


def show_capabilities() -> None:
    """Print what the scoring language can do as one JSON document; needs neither configuration nor network."""
    from scoring.expression.capabilities import capabilities  # noqa: PLC0415

    _print_json(capabilities(generation_available=None))


def eval_retrieval(
    folder: Annotated[
        Path, typer.Option("--dir", help="A folder with corpus.jsonl, queries.jsonl, qrels.tsv.")
    ] = _COLLECTION,
    keep: Annotated[
        Path | None, typer.Option("--keep", help="Where the index stays for another run.")
    ] = None,
    *,
    vectors: Annotated[
        bool, typer.Option(help="Measure the vector channel too, where its extra is installed.")
    ] = True,
) -> None:
    """Index a test collection and ask all of its questions; prints JSON with n, channel by channel."""
    from infra.clock import SystemClock  # noqa: PLC0415
    from infra.settings import current  # noqa: PLC0415
    from workers.memory.collection import read_collection  # noqa: PLC0415
    from workers.memory.embedders import embedder_of  # noqa: PLC0415
    from workers.memory.evaluation import evaluate_retrieval  # noqa: PLC0415

    collection = read_collection(folder)
    embedder = embedder_of(current().research.vector_model) if vectors else None
    with tempfile.TemporaryDirectory(prefix="signal-search-") as scratch:
        chosen = keep or Path(scratch)
        depth = current().research.channel_depth
        found = evaluate_retrieval(collection, chosen, SystemClock(), embedder, depth=depth)
        _print_json(found)


def _print_json(value: object) -> None:
    sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n")
    sys.stdout.buffer.flush()
