"""The evaluation of planning: counting on hand-made cases, the bars on the kept paraphrases, and the command."""

import json
from pathlib import Path

import pytest
import typer
from signal_search.contracts.query import Intent, Tier
from signal_search.errors import Invalid
from typer.testing import CliRunner, Result

from workers.commands import register
from workers.evaluation import evaluate_plans
from workers.planning.evaluation import PlanningCase, evaluate_planning

PARAPHRASES = Path(__file__).parents[3] / "bench/planning_paraphrases.json"
TIER_BAR, INTENT_BAR = 0.9, 0.85


def test_tier_and_intent_are_counted_apart() -> None:
    right = PlanningCase("who wrote Hamlet", (Tier.L1,), (Intent.FACT,), "own")
    wrong_tier = PlanningCase("who wrote Faust", (Tier.L3, Tier.L2), (Intent.FACT,), "own")
    other = PlanningCase("为什么天是蓝的", (Tier.L2,), (Intent.WHY, Intent.FACT), "zh")
    found = evaluate_planning([right, wrong_tier, other])
    own = found["own"]
    assert (own.n, own.tier_right, own.intent_right, own.tier, own.intent) == (2, 1, 2, 0.5, 1.0)
    assert [each.q for each in own.misses] == ["who wrote Faust"]
    assert (found["zh"].n, found["zh"].misses) == (1, ())


@pytest.mark.parametrize("name", ["paraphrases-zh", "paraphrases-en"])
def test_the_bars_hold_on_paraphrases_of_the_golden_set(name: str) -> None:
    found = evaluate_plans(PARAPHRASES)[name]
    assert found.n == 48
    assert found.tier >= TIER_BAR, found.misses
    assert found.intent >= INTENT_BAR, found.misses


def test_rows_of_the_golden_set_are_read_too(tmp_path: Path) -> None:
    row = {
        "id": "X",
        "query": "Who wrote Hamlet",
        "expected_tier": "L1",
        "intent": "fact",
        "budget": 1,
    }
    (tmp_path / "mine.json").write_text(json.dumps({"rows": [row], "total": 1}))
    assert evaluate_plans(tmp_path / "mine.json")["mine"].tier_right == 1


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"cases": [{"q": "x", "tier": ["L9"], "intent": []}]}']
)
def test_a_file_that_is_no_list_of_questions_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "cases.json"
    path.write_text(text)
    with pytest.raises(Invalid) as caught:
        evaluate_plans(path)
    assert caught.value.field == "file"


def run(*arguments: str) -> Result:
    app = typer.Typer()
    register(app)
    return CliRunner().invoke(app, ["eval", "planning", *arguments])


def test_the_command_prints_every_set() -> None:
    found = run("--file", str(PARAPHRASES))
    assert found.exit_code == 0
    assert {name: each["n"] for name, each in json.loads(found.stdout).items()} == {
        "paraphrases-en": 48,
        "paraphrases-zh": 48,
    }
    assert run("--file", "/nowhere.json").exit_code == 2
