"""The seed's rules about budgets, against its own cases and sums by hand."""

import json
from os import environ
from pathlib import Path

import pytest
from signal_search.contracts.budget import Budget, Dimension

from budget.policy import (
    estimate_tokens,
    fetch_cost,
    forecast,
    is_over,
    job_level,
    level_limits,
    levels_for,
    limits_for,
)
from infra.settings import load

TOKENS, CALLS, FETCHES = Dimension.TOKENS, Dimension.CALLS, Dimension.FETCHES
TIER = {"tokens": 2000, "calls": 4, "fetches": 12, "bytes": 20_000_000, "max_sources": 1}
OF_TIER = {TOKENS: 2000, CALLS: 4, FETCHES: 12, Dimension.BYTES: 20_000_000}

_DATA = Path(__file__).parents[3] / "../shared/data/conformance/signal.json"
CASES = Path(environ.get("SIGNAL_SEARCH_CONFORMANCE", str(_DATA)))


def test_without_a_wish_the_tier_decides() -> None:
    assert limits_for(TIER, None) == OF_TIER


@pytest.mark.parametrize("tokens", [0, 1, 5000])
def test_a_number_is_the_token_limit_even_zero(tokens: int) -> None:
    assert limits_for(TIER, tokens) == OF_TIER | {TOKENS: tokens}


def test_a_budget_wins_for_the_dimensions_it_names() -> None:
    asked = Budget(fetches=0, rounds=2)
    assert limits_for(TIER, asked) == OF_TIER | {FETCHES: 0, Dimension.ROUNDS: 2}


def test_an_empty_budget_changes_nothing() -> None:
    assert limits_for(TIER, Budget()) == OF_TIER


def test_zero_means_no_limit_for_tenants_and_deployment() -> None:
    assert level_limits({"tokens": 0, "fetches": 7, "bytes": 0}) == {FETCHES: 7}


def test_a_job_counts_on_three_levels_narrowest_first() -> None:
    assert levels_for("job_1", "acme") == ("job:job_1", "tenant:acme", "deployment")
    assert job_level("job_1") == "job:job_1"


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("abc", 0),
        ("abcd", 1),
        ("调研", 2),
        ("调研ab", 2),
        ("中文abcd", 3),
        ("\u4e00\u9fa5", 2),
        ("\u4dff\u9fa6", 0),
        ("\u4dff\u9fa6\u9fa6\u9fa6", 1),
    ],
)
def test_tokens_are_estimated_by_the_rule_of_the_seed(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@pytest.mark.parametrize(("used", "over"), [(79, False), (80, True), (81, True)])
def test_a_budget_is_over_from_its_limit_on(used: int, over: bool) -> None:
    assert is_over(used, 80) is over


def test_a_fetch_costs_itself_and_its_passages() -> None:
    assert fetch_cost(400) == {FETCHES: 1, TOKENS: 400}


def _cases(area: str) -> list[dict[str, dict[str, object]]]:
    if not CASES.exists():
        pytest.skip("the conformance cases are not on this machine")
    cases = json.loads(CASES.read_text(encoding="utf-8"))["cases"]
    return [each for each in cases if each["area"] == area]


def test_seed_token_estimates() -> None:
    for case in _cases("token_estimate"):
        assert estimate_tokens(str(case["input"]["text"])) == case["expect"]["tokens"], case


def test_seed_budget_monitor() -> None:
    for case in _cases("budget"):
        used, budget = int(str(case["input"]["used"])), int(str(case["input"]["budget"]))
        assert is_over(used, budget) is case["expect"]["over"], case


def test_seed_tier_budgets() -> None:
    tiers = {str(name): tier for name, tier in load().tiers.items()}
    for case in _cases("budget_default"):
        tier, expect = tiers[str(case["input"]["tier"])], case["expect"]
        limit = limits_for(tier.model_dump(), None)[TOKENS]
        assert limit == expect["budget"], case
        assert forecast(limit) == expect["estimate"], case
        assert tier.max_sources == expect["max_sources"], case
