"""What the benches compute from a server's log: each expected value is worked out by hand from the log above it."""

import pytest

from bench.arithmetic import (
    Seen,
    gaps,
    host_use,
    in_ms,
    overlaps,
    per_second,
    quantile,
    slope,
    violations,
)


def at(start: float, host: str = "a", *, took: float = 0.0, path: str = "/") -> Seen:
    return Seen(start, start + took, host, path)


LOG = [at(10.0), at(10.5), at(10.2, "b"), at(10.125, "b"), at(11.0)]  # not in order


def test_gaps_are_between_neighbours_at_one_host():
    assert sorted(gaps(LOG)) == pytest.approx([0.075, 0.5, 0.5])


def test_a_gap_of_exactly_the_interval_is_no_violation():
    assert violations(LOG, 0.5) == 1
    assert violations(LOG, 0.07) == 0
    assert violations(LOG, 0.6) == 3


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        ([at(1.0, took=0.5), at(1.5, took=0.5)], 0),
        ([at(1.0, took=0.5), at(1.4, took=0.5)], 1),
        ([at(1.0, took=0.5), at(1.4, "b", took=0.5)], 0),  # two hosts may be asked at once
        ([at(1.0, took=2.0), at(1.1, took=0.1), at(1.5, took=0.1)], 2),  # both within the first
        ([], 0),
    ],
)
def test_overlaps(log: list[Seen], expected: int):
    assert overlaps(log) == expected


def test_the_last_request_fills_an_interval_too():
    # Four requests at 0, 0.5, 1 and 1.5 s at a pace of one in 0.5 s: two a second.
    assert per_second([at(each / 2) for each in range(4)], 0.5) == pytest.approx(2.0)


def test_the_use_of_a_host_is_one_when_no_time_is_lost():
    log = [at(0.0), at(1.0), at(2.0), at(0.0, "b"), at(3.0, "b"), at(5.0, "once")]
    assert host_use(log, 1.0) == pytest.approx([1.0, 3.0])


def test_quantiles_are_of_the_values_themselves():
    values = [float(each) for each in range(100, 0, -1)]
    assert quantile(values, 0.5) == 51.0
    assert quantile(values, 0.99) == 100.0
    assert quantile([7.0], 0.99) == 7.0


def test_times_are_told_in_milliseconds():
    assert in_ms([0.001, 0.003, 0.002]) == {"n": 3, "p50_ms": 2.0, "p99_ms": 3.0}


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ([(0.0, 100.0), (0.5, 101.0), (1.0, 102.0)], 2.0),
        ([(0.0, 5.0), (1.0, 5.0)], 0.0),
        ([(1.0, 1.0), (2.0, 3.0), (3.0, 2.0)], 0.5),  # the least squares of a school book
    ],
)
def test_the_slope(points: list[tuple[float, float]], expected: float):
    assert slope(points) == pytest.approx(expected)
