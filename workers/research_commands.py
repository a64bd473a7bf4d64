"""The command of research memory that measures. The others are the front desk's.

Every command line starts by loading this file, so each command imports what it needs when it runs.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer
from signal_search.errors import Invalid

if TYPE_CHECKING:
    from workers.research import Desk


def register(app: typer.Typer) -> None:
    """Add the commands."""
    research = typer.Typer(help="Research memory of this machine, by scope.", no_args_is_help=True)
    research.command("eval")(evaluate)
    app.add_typer(research, name="research")


def evaluate(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="A gold file.")],
    k: Annotated[int, typer.Option(min=1, help="Results that count for recall.")] = 10,
    *,
    live: Annotated[
        bool, typer.Option("--live", help="The file has live cases: ask the model, or the rules.")
    ] = False,
    mode: Annotated[
        str, typer.Option(help="Who plans and orders live cases: rule, llm or hybrid.")
    ] = "hybrid",
    max_live_calls: Annotated[
        int, typer.Option(min=1, max=20, help="Questions to the model in all.")
    ] = 20,
) -> None:
    """Compute Recall@K, MRR, nDCG@10 and leaks of a gold file; prints JSON with n.

    With --live how the model plans and orders, and exit code 1 when a case did not go as expected.
    """
    from infra.clock import SystemClock  # noqa: PLC0415
    from workers.memory.gold import evaluate_gold  # noqa: PLC0415

    if live:
        _evaluate_live(file, mode, max_live_calls)
        return
    _print_json(evaluate_gold(file.read_bytes(), k, SystemClock()))


def _evaluate_live(file: Path, mode: str, max_calls: int) -> None:
    from workers.memory.live_cases import read_live_cases  # noqa: PLC0415
    from workers.memory.live_eval import LiveRun, Mode  # noqa: PLC0415

    desk = _desk()
    asking, refusal = desk.model()
    wanted = _converted(mode, Mode, "mode")
    if wanted == "rule":
        refusal = ""
    elif asking is None:
        typer.echo(f"No model may be asked ({refusal}): the rules are measured.", err=True)
        wanted = "rule"
    version, cases = read_live_cases(file.read_bytes())
    ask = asking("live") if asking and wanted != "rule" else None
    run = LiveRun(desk.clock, ask, mode=wanted, max_calls=max_calls)
    made = run.report(version, cases, model_refusal=refusal)
    _print_json(made)
    raise typer.Exit(0 if all(each.passed for each in made.cases) else 1)


def _desk() -> "Desk":
    from infra.clock import SystemClock  # noqa: PLC0415
    from infra.settings import current  # noqa: PLC0415
    from workers.research import Desk  # noqa: PLC0415

    return Desk(current(), SystemClock())


def _converted(value: str, kind: Any, field: str) -> Any:
    try:
        return msgspec.convert(value, type=kind)
    except msgspec.ValidationError as error:
        raise Invalid("That is none of the choices.", field=field) from error


def _print_json(value: object) -> None:
    sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n")
    sys.stdout.buffer.flush()
