"""What a bench says: rows of one table, each judged by its bar, and the figures behind them.

A row has a measure, our figure, n, the peer's figure from the same run, the ratio of both, the bar, and whether it is
met. A bench that did not do what it counts fails: `require` ends it with the reason, and no figure is printed.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

Row = dict[str, Any]

COLUMNS = ("measure", "n", "ours", "peer", "ratio", "bar", "met")
_LEAST = 2  # of what gaps and shares are counted between
_NUMBERS = ("n", "ours", "peer", "ratio")


def is_least() -> bool:
    """Tell whether all that was asked for is to see the bench run: its figures say nothing."""
    return "--least" in sys.argv


def is_quick() -> bool:
    """Tell whether smaller sizes were asked for."""
    return "--quick" in sys.argv or is_least()


def size(full: int, quick: int) -> int:
    """Return how much to do: `quick` when the bench was started with --quick, a tenth of that with --least."""
    if is_least():
        return min(quick, max(_LEAST, quick // 10))
    return quick if is_quick() else full


def require(condition: object, reason: str) -> None:
    """End the bench without figures unless the condition holds."""
    if not condition:
        _fail(reason)


def _fail(reason: str) -> NoReturn:
    raise SystemExit(f"not measured: {reason}")


def row(
    measure: str,
    ours: float | str,
    *,
    n: int | str,
    peer: float | str = "",
    ratio: float | None = None,
    bar: str = "",
    judged: float | None = None,
) -> Row:
    """Return one row. `bar` is `<= X` or `>= X` about `judged`: the ratio unless given, else our figure."""
    figure = judged if judged is not None else ratio if ratio is not None else ours
    return {
        "measure": measure,
        "n": n,
        "ours": ours,
        "peer": peer,
        "ratio": "" if ratio is None else round(ratio, 4),
        "bar": bar,
        "met": meets(figure, bar),
    }


def meets(figure: float | str, bar: str) -> bool | None:
    """Tell whether a figure meets a bar; None when there is no bar."""
    sign, _, limit = bar.partition(" ")
    if sign not in {"<=", ">=", "<", ">"} or isinstance(figure, str):
        return None
    least = float(limit.split(" ")[0])
    outcomes = {
        "<=": figure <= least,
        ">=": figure >= least,
        "<": figure < least,
        ">": figure > least,
    }
    return outcomes[sign]


def tell(name: str, figures: Mapping[str, Any]) -> None:
    """Show some figures while the bench goes on."""
    print(f"{name}: {json.dumps(figures)}", file=sys.stderr, flush=True)


def finish(rows: Sequence[Row], figures: Mapping[str, Any]) -> None:
    """Print the one JSON document of a bench."""
    print(json.dumps({"rows": list(rows), "figures": dict(figures)}, indent=1))


def shown(value: object) -> str:
    """Return a cell as text."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "NO"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def table(rows: Sequence[Row]) -> str:
    """Return the rows as a text table, numbers to the right."""
    lines = [COLUMNS, *(tuple(shown(row.get(name)) for name in COLUMNS) for row in rows)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(COLUMNS))]
    rule = tuple("-" * width for width in widths)
    return "\n".join(_line(line, widths) for line in (lines[0], rule, *lines[1:]))


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    fitted = [
        cell.rjust(width) if name in _NUMBERS else cell.ljust(width)
        for cell, width, name in zip(cells, widths, COLUMNS, strict=True)
    ]
    return " | ".join(fitted).rstrip()
