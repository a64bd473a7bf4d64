"""The design document's rules about budgets, against its own cases and sums by hand."""

import pytest
from signal_search.contracts.budget import Budget, Dimension

from budget.policy import (
    forecast,
    job_level,
    level_limits,
    levels_for,
    limits_for,
)

TOKENS, CALLS, FETCHES = Dimension.TOKENS, Dimension.CALLS, Dimension.FETCHES
TIER = {"tokens": 2000, "calls": 4, "fetches": 12, "bytes": 20_000_000, "max_sources": 1}
OF_TIER = {TOKENS: 2000, CALLS: 4, FETCHES: 12, Dimension.BYTES: 20_000_000}


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


def test_a_job_is_expected_to_use_85_percent_of_its_tokens() -> None:
    assert [forecast(limit) for limit in (0, 1, 2000, 8000)] == [0, 0, 1700, 6800]
