"""The short form of the matrix: every kill point once, every fault at two points at least. `make chaos` runs all of it."""

from pathlib import Path

import pytest

from tests.chaos.drain import drain
from tests.chaos.faults import FAULTS
from tests.chaos.matrix import Matrix, a_sample, every_cell, table
from tests.chaos.points import POINTS

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(1800)]


def test_the_sample_has_every_point_and_every_fault() -> None:
    points, faults = zip(*a_sample(), strict=True)
    assert list(points) == list(POINTS)
    assert all(faults.count(each) >= 2 for each in FAULTS)
    assert set(a_sample()) <= set(every_cell())


def test_each_point_survives_a_fault(tmp_path: Path) -> None:
    cells = a_sample()
    matrix = Matrix(cells, lanes=3, within_s=1500, tell=lambda _verdict: None)
    matrix.run(tmp_path)
    assert matrix.complaints == []
    assert len(matrix.verdicts) == len(cells), table(matrix.verdicts, cells)


def test_our_ledger_loses_nothing_where_a_worker_and_the_store_are_killed(tmp_path: Path) -> None:
    drained = drain(tmp_path, "ours", asked=60, kills=3)
    assert (drained.kills, drained.restarts) == (3, 1)
    assert (drained.lost, drained.doubled) == (0, 0)
