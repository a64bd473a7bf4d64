"""`python -m tests.chaos`: every kill point with every fault, as a table, and stock Celery under the same kills.

Ends with 1 when a cell failed or our side lost something. Two busy cores came through 349 cells in ten minutes; a
limit of time cuts off cells, which the table then shows as '.'.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.chaos.cell import Verdict
from tests.chaos.drain import Drained, Side, drain
from tests.chaos.faults import FAULTS
from tests.chaos.matrix import Cell, Matrix, a_sample, every_cell, legend, table
from tests.chaos.points import POINTS


def main() -> int:
    options = _options()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="chaos-") as folder:
        cells = _cells(options)
        matrix = Matrix(cells, options.lanes, options.minutes * 60, _tell)
        matrix.run(Path(folder))
        sides = [] if options.no_stock else _compare(Path(folder), options)
    print(table(matrix.verdicts, cells), legend(), sep="\n\n")
    print(f"\n{_counts(matrix.verdicts, cells)}, {time.monotonic() - began:.0f} s\n")
    for each in sides:
        print(each.text)
    complaints = matrix.complaints + _of_ours(sides)
    for each in complaints:
        print("FAIL", each, file=sys.stderr)
    return 1 if complaints else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--short", action="store_true", help="each point once, the faults in turn")
    parser.add_argument(
        "--minutes", type=float, default=30.0, help="for the cells; then no new one"
    )
    parser.add_argument("--lanes", type=int, default=6, help="stacks at once: they mostly wait")
    parser.add_argument("--point", default="", help="only points whose name contains this")
    parser.add_argument("--fault", default="", help="only the fault with this label")
    parser.add_argument("--kills", type=int, default=12, help="of each side of the comparison")
    parser.add_argument("--no-stock", action="store_true", help="leave the comparison out")
    return parser.parse_args()


def _cells(options: argparse.Namespace) -> list[Cell]:
    return [
        (point, fault)
        for point, fault in (a_sample() if options.short else every_cell())
        if options.point in point.name and options.fault in {"", fault.label}
    ]


def _tell(verdict: Verdict) -> None:
    print(
        f"{verdict.seconds:6.1f} s  {verdict.point} x {verdict.fault}: {verdict.text}",
        file=sys.stderr,
        flush=True,
    )


def _compare(folder: Path, options: argparse.Namespace) -> list[Drained]:
    sides: tuple[Side, ...] = ("stock", "ours")
    with ThreadPoolExecutor() as pool:
        asked, kills = options.kills * 20, options.kills
        found = [pool.submit(drain, folder / s, s, asked=asked, kills=kills) for s in sides]
    return [each.result() for each in found]


def _of_ours(sides: list[Drained]) -> list[str]:
    return [each.text for each in sides if each.side == "ours" and (each.lost or each.doubled)]


def _counts(verdicts: list[Verdict], cells: list[Cell]) -> str:
    texts = Counter("failed" if each.wrong else "ok" for each in verdicts)
    resent = sum(each.resent for each in verdicts)
    return (
        f"{len(POINTS)} points, {len(FAULTS)} faults, {len(cells)} cells: {texts['ok']} ok, {texts['failed']} failed, "
        f"{len(cells) - len(verdicts)} not run; {resent} requests sent again"
    )


if __name__ == "__main__":
    sys.exit(main())
