"""The page on how a search decides tells the figures that are set."""

import re
from pathlib import Path

from infra.settings import load
from workers.planning.search_intent import _PRECEDENCE
from workers.planning.search_strategy import STRATEGIES

PAGE = Path(__file__).parents[3] / "docs/explanation/how-search-decides.md"


def test_the_table_of_intents_is_what_is_done() -> None:
    weights = load().search.weights
    rows = [
        [cell.strip() for cell in row.strip("|").split("|")]
        for row in re.findall(r"^\| (?:\w+) \|.*$", PAGE.read_text("utf-8"), re.MULTILINE)
        if "." in row
    ]
    shown = {name: (mode, age, *figures) for name, _signal, mode, age, *figures in rows}
    done = {
        intent.value: (
            strategy.mode,
            ", ".join(strategy.freshness) or "any",
            str(weights[intent].keyword),
            str(weights[intent].freshness),
            str(weights[intent].authority),
        )
        for intent, strategy in STRATEGIES.items()
    }
    assert shown == done
    assert list(shown) == [each.value for each in _PRECEDENCE]
