"""The design document's rules about budgets, against its own cases and sums by hand."""

import pytest
from signal_search.contracts.budget import Budget, Dimension

from budget.policy import (
    day_of,
    days_until,
    deployment_level,
    forecast,
    job_level,
    level_limits,
    limits_for,
    next_day_ms,
    source_level,
    tenant_level,
)

TOKENS, CALLS, FETCHES = Dimension.TOKENS, Dimension.CALLS, Dimension.FETCHES
EVENING_MS = 1_790_035_199_000  # 2026-09-21T23:59:59Z
MIDNIGHT_MS = EVENING_MS + 1000
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


def test_spending_counts_by_the_utc_day_or_for_ever() -> None:
    assert job_level("job_1") == "job:job_1"
    assert tenant_level("acme", "ever", EVENING_MS) == "tenant:acme"
    assert tenant_level("acme", "day", EVENING_MS) == "tenant:acme@2026-09-21"
    assert deployment_level("day", EVENING_MS + 1000) == "deployment@2026-09-22"
    assert source_level("brave", EVENING_MS) == "source:brave@2026-09-21"


def test_a_day_ends_at_midnight_utc() -> None:
    assert next_day_ms(EVENING_MS) == MIDNIGHT_MS
    assert next_day_ms(MIDNIGHT_MS) == MIDNIGHT_MS + 86_400_000


def test_the_days_until_a_moment() -> None:
    def days(start_ms: int, end_ms: int) -> list[str]:
        return [day_of(each) for each in days_until(start_ms, end_ms)]

    assert days(EVENING_MS, EVENING_MS) == ["2026-09-21"]
    assert days(EVENING_MS, MIDNIGHT_MS - 1) == ["2026-09-21"]
    assert days(EVENING_MS, MIDNIGHT_MS) == ["2026-09-21", "2026-09-22"]
    assert days(EVENING_MS, EVENING_MS + 86_400_000) == ["2026-09-21", "2026-09-22"]
    assert days(EVENING_MS, 0) == ["2026-09-21"]


def test_a_job_is_expected_to_use_85_percent_of_its_tokens() -> None:
    assert [forecast(limit) for limit in (0, 1, 2000, 8000)] == [0, 0, 1700, 6800]
