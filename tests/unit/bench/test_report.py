"""The benches' table: what is met by which bar, and how it looks."""

import pytest

from bench.report import meets, require, row, shown, size, table


@pytest.mark.parametrize(
    ("figure", "bar", "expected"),
    [
        (0.5, ">= 0.5", True),
        (0.49, ">= 0.5", False),
        (0, "<= 0", True),
        (1, "<= 0", False),
        (1.0, "< 1", False),
        (24.9, "<= 25 more", True),  # words after the figure say what it is of
        (25.1, "<= 25 more", False),
        (3, "", None),
        ("see elsewhere", "", None),
    ],
)
def test_bars(figure: float | str, bar: str, expected: bool | None):
    assert meets(figure, bar) is expected


def test_the_bar_is_about_the_ratio_where_there_is_one():
    made = row("speed", 40, n=100, peer=100, ratio=0.4, bar=">= 0.5")
    assert made["met"] is False
    assert made["ratio"] == 0.4


def test_the_bar_is_about_our_figure_where_there_is_no_ratio():
    assert row("violations", 0, n=500, peer=10, bar="<= 0")["met"] is True


def test_what_is_judged_can_be_neither():
    made = row("latency", 41.0, n=60, peer=1.4, bar="<= 25 more", judged=39.6)
    assert made["met"] is False
    assert made["ratio"] == ""


def test_a_bench_that_did_not_do_what_it_counts_has_no_figures():
    with pytest.raises(SystemExit, match="not measured: 3 of 500 requests"):
        require(condition=False, reason="3 of 500 requests")
    require(condition=True, reason="never said")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, "yes"),
        (False, "NO"),
        (None, "-"),
        (1234567, "1,234,567"),
        (12345.6, "12,346"),
        (0.19914, "0.1991"),
        (0.0, "0"),
        ("", ""),
    ],
)
def test_cells(value: object, expected: str):
    assert shown(value) == expected


def test_the_table_stands_in_columns():
    rows = [
        row("fetches/s", 1859, n=4000, peer=9335, ratio=0.19914, bar=">= 0.5"),
        row("violations", 0, n=10, bar="<= 0"),
        row("kill matrix", "see make chaos", n=""),
    ]
    assert table(rows).splitlines() == [
        "measure     |     n |           ours |  peer |  ratio | bar    | met",
        "----------- | ----- | -------------- | ----- | ------ | ------ | ---",
        "fetches/s   | 4,000 |          1,859 | 9,335 | 0.1991 | >= 0.5 | NO",
        "violations  |    10 |              0 |       |        | <= 0   | yes",
        "kill matrix |       | see make chaos |       |        |        | -",
    ]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [((), (500, 3)), (("--quick",), (80, 2)), (("--least",), (8, 2))],
)
def test_sizes(
    asked: tuple[str, ...], expected: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["bench", *asked])
    assert (size(500, 80), size(3, 2)) == expected
