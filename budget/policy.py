"""What a job may spend and on whose account: the design document's rules about budgets as plain arithmetic.

The design document gives the tiers their token limits, the estimator its rule and the forecast its share.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Literal

from signal_search.contracts.budget import Amounts, Budget, Dimension

_FORECAST_PERCENT = 85
_DAY_MS = 86_400_000

KEPT_MS = _DAY_MS
"""How long the level of a day outlives the day, for what was held in it."""

Period = Literal["day", "ever"]


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


def period_level(name: str, per: Period, now_ms: int) -> str:
    """Return the name of the level that a tenant's or the deployment's spending counts on now."""
    return name if per == "ever" else f"{name}@{day_of(now_ms)}"


def tenant_level(tenant: str, per: Period, now_ms: int) -> str:
    """Return the name of the level that a tenant's spending counts on now."""
    return period_level(f"tenant:{tenant}", per, now_ms)


def token_level(token: str, now_ms: int) -> str:
    """Return the name of the level that counts what is used with a token (by its id) on a day."""
    return period_level(f"token:{token}", "day", now_ms)


def deployment_level(per: Period, now_ms: int) -> str:
    """Return the name of the level that everybody's spending counts on now."""
    return period_level("deployment", per, now_ms)


def source_level(source_id: str, now_ms: int) -> str:
    """Return the name of the level that counts what a source was asked on a day."""
    return period_level(f"source:{source_id}", "day", now_ms)


def days_until(now_ms: int, end_ms: int) -> range:
    """Return a moment of each UTC day from `now_ms` to `end_ms` (at least today's), as epoch milliseconds."""
    return range(now_ms, max(now_ms + 1, next_day_ms(end_ms)), _DAY_MS)


def day_of(now_ms: int) -> str:
    """Return the UTC day of a moment, such as 2026-09-30."""
    return datetime.fromtimestamp(now_ms / 1000, UTC).date().isoformat()


def next_day_ms(now_ms: int) -> int:
    """Return when the next UTC day begins: quotas by the day start anew."""
    return (now_ms // _DAY_MS + 1) * _DAY_MS


def forecast(limit: int) -> int:
    """Return what a job with this limit is expected to use: 85 percent of it (design document)."""
    return limit * _FORECAST_PERCENT // 100
