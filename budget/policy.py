"""What a job may spend and on whose account: the design document's rules about budgets as plain arithmetic.

The design document gives the tiers their token limits, the estimator its rule and the forecast its share.
"""

from collections.abc import Mapping

from signal_search.contracts.budget import Amounts, Budget, Dimension

_FORECAST_PERCENT = 85


def limits_for(tier_limits: Mapping[str, int], asked: int | Budget | None) -> Amounts:
    """Return the limits of a job by dimension.

    A number is a token limit, even 0. A `Budget` wins for the dimensions it names; the tier gives the others.
    Keys of `tier_limits` that are no dimension (max_sources, width) are left out.
    """
    tier = {each: tier_limits[each] for each in Dimension if each in tier_limits}
    return tier | _asked(asked)


def _asked(asked: int | Budget | None) -> Amounts:
    budget = Budget(tokens=asked) if isinstance(asked, int) else asked or Budget()
    return {each: limit for each in Dimension if (limit := getattr(budget, each)) is not None}


def level_limits(settings: Mapping[str, int]) -> Amounts:
    """Return the limits of a tenant or of the deployment, in whose settings 0 means "no limit"."""
    return {each: settings[each] for each in Dimension if settings.get(each, 0) > 0}


def job_level(job_id: str) -> str:
    """Return the name of a job's own level."""
    return f"job:{job_id}"


def levels_for(job_id: str, tenant: str) -> tuple[str, ...]:
    """Return the levels that a job's spending counts on, narrowest first."""
    return job_level(job_id), f"tenant:{tenant}", "deployment"


def forecast(limit: int) -> int:
    """Return what a job with this limit is expected to use: 85 percent of it (design document)."""
    return limit * _FORECAST_PERCENT // 100
