"""The matrix of kill points and faults: run over several lanes at once within a limit of time, told as a table."""

import queue
import random
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.chaos.cell import Calm, Verdict, calm, run
from tests.chaos.faults import FAULTS, Fault, applies
from tests.chaos.lane import Lane, started
from tests.chaos.points import POINTS, Point

Cell = tuple[Point, Fault]
Told = Callable[[Verdict], None]

_SEED = 20_261_130  # which cells come first is no matter, but the same ones each time


def every_cell() -> list[Cell]:
    """Return all cells in an order that mixes points and faults: what a limit of time cuts off is a sample."""
    cells = [(point, fault) for point in POINTS for fault in FAULTS if applies(point, fault)]
    random.Random(_SEED).shuffle(cells)
    return cells


def a_sample() -> list[Cell]:
    """Return each point once, with the fault that had the fewest so far: every fault meets two points at least."""
    cells: list[Cell] = []
    used = dict.fromkeys(FAULTS, 0)
    for point in POINTS:
        fault = min((each for each in FAULTS if applies(point, each)), key=lambda each: used[each])
        used[fault] += 1
        cells.append((point, fault))
    return cells


class Matrix:
    """Runs cells over lanes; each lane is a stack of its own, and takes the next cell when it is done with one."""

    def __init__(self, cells: Sequence[Cell], lanes: int, within_s: float, tell: Told) -> None:
        self._cells: queue.SimpleQueue[Cell] = queue.SimpleQueue()
        for cell in cells:
            self._cells.put(cell)
        self._lanes = lanes
        self._ends = time.monotonic() + within_s
        self._tell = tell
        self.verdicts: list[Verdict] = []
        self.calms: list[Calm] = []
        self.broken: list[str] = []

    def run(self, folder: Path) -> None:
        threads = [
            threading.Thread(target=self._drive, args=(folder / f"lane{number}",))
            for number in range(self._lanes)
        ]
        for each in threads:
            each.start()
        for each in threads:
            each.join()

    def _drive(self, folder: Path) -> None:
        try:
            with started(folder) as lane:
                expected = calm(lane)
                self.calms.append(expected)
                self._take_cells(lane, expected)
        except Exception as error:  # noqa: BLE001  a thread has nobody above it
            self.broken.append(f"{folder.name}: {type(error).__name__}: {error}")

    def _take_cells(self, lane: Lane, expected: Calm) -> None:
        while time.monotonic() < self._ends:
            try:
                point, fault = self._cells.get_nowait()
            except queue.Empty:
                return
            verdict = run(lane, point, fault, expected)
            self.verdicts.append(verdict)
            self._tell(verdict)

    @property
    def complaints(self) -> list[str]:
        """Return what failed, one line each; empty when all is well."""
        found = list(self.broken)
        if any(each.facts != self.calms[0].facts for each in self.calms):
            found.append("undisturbed jobs of two lanes answer differently")
        found += [
            f"{each.point} x {each.fault}: {each.wrong}" for each in self.verdicts if each.wrong
        ]
        return found


def table(verdicts: Sequence[Verdict], cells: Sequence[Cell]) -> str:
    """Return the table: rows are points, columns faults; empty: does not apply, '.': not run."""
    by_name = {(each.point, each.fault): each.text for each in verdicts}
    wanted = {(point.name, fault.name) for point, fault in cells}
    width = max(len(each.name) for each in POINTS)
    lines = [" " * width + "".join(f"{each.label:>7}" for each in FAULTS)]
    for point in POINTS:
        texts = [
            by_name.get(key, "." if key in wanted else "")
            for fault in FAULTS
            for key in [(point.name, fault.name)]
        ]
        lines.append(f"{point.name:<{width}}" + "".join(f"{each:>7}" for each in texts))
    return "\n".join(lines)


def legend() -> str:
    """Return what the columns and the marks mean."""
    columns = ", ".join(f"{each.label}: {each.name}" for each in FAULTS)
    return (
        f"{columns}\n"
        "ok: same result as undisturbed, charged once, one end in the log, nothing held or left over, no gap under the\n"
        "interval at the site, nobody else died. +1: one request was sent again, whose reply nobody had stored. *: the\n"
        "job was gone with the store, its caller was told so, and the next job went well."
    )
