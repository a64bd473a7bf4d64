"""The bars as rows: counted by hand on a few rows, and nothing claimed without data."""

import json
from pathlib import Path

import typer
from typer.testing import CliRunner

from scoring.claims.bars import as_table, claim_bars
from scoring.claims.evaluation import evaluate
from workers.commands import register

SAME = "The bridge was opened in 1921 by the mayor of Merrin."
OTHER = "Green tea is grown on terraces in the hills of Lunnoy."


def row(
    claim: str, evidence: str, label: str, kind: str, *, name: str = "perturb"
) -> dict[str, str]:
    return {
        "set": name, "lang": "en", "claim": claim, "evidence": evidence, "label": label, "orig": kind, "group": claim,
    }  # fmt: skip


ROWS = [
    row(SAME, SAME, "TRUE", "verbatim"),
    row(OTHER, OTHER, "TRUE", "verbatim"),
    row(SAME.replace("1921", "1925"), SAME, "FALSE", "number"),
    row(SAME, OTHER, "UNCERTAIN", "other-page"),
    row(SAME, SAME, "TRUE", "", name="vitc"),
    row(OTHER, SAME, "FALSE", "", name="fm2_dev"),
]


def test_each_row_counts_its_own_kinds() -> None:
    found = {(each.what, each.language): each for each in claim_bars(evaluate(ROWS))}
    kept = found["verbatim sentences kept TRUE", "en"]
    assert (kept.n, kept.figure, kept.is_met) == (2, 1.0, True)
    corrupted = found["corruptions answered TRUE", "en"]
    assert (corrupted.n, corrupted.figure, corrupted.is_met) == (1, 0.0, True)
    named = found["conflicts named FALSE", "en"]
    assert (named.n, named.figure) == (1, 1.0)
    precision = found["natural claims: precision of TRUE", "en"]
    assert (precision.n, precision.figure) == (1, 1.0)
    refuted = found["natural claims: TRUE given refuted", "en"]
    assert (refuted.n, refuted.figure) == (1, 0.0)


def test_without_data_nothing_is_met_or_missed() -> None:
    found = claim_bars(evaluate(ROWS))
    chinese = [each for each in found if each.language == "zh"]
    assert chinese
    assert {(each.n, each.figure, each.is_met) for each in chinese} == {(0, None, None)}
    assert "no data" in as_table(chinese)


def test_a_false_true_misses_its_bar() -> None:
    lied = [row(SAME, SAME, "FALSE", "number")]
    (missed,) = [
        each for each in claim_bars(evaluate(lied)) if each.is_met is False and each.at_most
    ]
    assert (missed.what, missed.figure) == ("corruptions answered TRUE", 1.0)


def run(folder: Path, rows: list[dict[str, str]]) -> tuple[int, str]:
    (folder / "perturb.jsonl").write_text("\n".join(json.dumps(each) for each in rows))
    app = typer.Typer()
    register(app)
    found = CliRunner().invoke(app, ["eval", "claims", "--dir", str(folder), "--table"])
    return found.exit_code, found.stdout


def test_the_command_prints_the_table_and_fails_on_a_missed_bar(tmp_path: Path) -> None:
    code, printed = run(tmp_path, ROWS[:2])
    assert code == 0
    assert "verbatim sentences kept TRUE" in printed
    code, printed = run(tmp_path, [row(SAME, SAME, "FALSE", "number")])
    assert code == 1
    assert "MISSED" in printed
