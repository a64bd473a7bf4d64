"""On whose account a job spends: its own purse, its tenant's, everybody's; and what a source may be asked in a day.

Purses by the day have the day in their names, so that midnight (UTC) needs nobody to reset anything. What is reserved
counts on the day of the reservation.
"""

from signal_search.contracts.budget import Amounts, Dimension
from signal_search.contracts.plan import Plan
from signal_search.contracts.source import Request

from budget.policy import (
    KEPT_MS,
    Period,
    days_until,
    deployment_level,
    job_level,
    level_limits,
    next_day_ms,
    source_level,
    tenant_level,
    token_level,
)
from infra.job_store import StoredJob, life_ms
from workers.toolbox import Toolbox


def levels_of(tools: Toolbox, stored: StoredJob) -> tuple[str, ...]:
    """Return the names of the levels that a job's spending counts on now, narrowest first."""
    spec, settings = stored.spec, tools.settings
    now_ms = tools.clock.now_ms()
    own = (token_level(spec.token, now_ms),) if spec.token else ()
    return (
        job_level(spec.id),
        *own,
        tenant_level(spec.tenant, settings.limits_of(spec.tenant).per, now_ms),
        deployment_level(settings.deployment.per, now_ms),
    )


def open_purses(tools: Toolbox, stored: StoredJob, made: Plan) -> None:
    """Open the job's purse, and the tenant's and the deployment's where they have limits, for each day it may live."""
    limits = {Dimension(name): amount for name, amount in made.limits.items()}
    tools.ledger.open(job_level(stored.spec.id), limits, ttl_ms=life_ms(stored.spec))
    open_shared(tools, stored)


def open_shared(tools: Toolbox, stored: StoredJob) -> None:
    """Open the purses of tenant and deployment where they have limits; idempotent, so that anybody may be first."""
    spec, settings = stored.spec, tools.settings
    own, shared = settings.limits_of(spec.tenant), settings.deployment
    for day_ms in days_until(tools.clock.now_ms(), spec.deadline_ms):
        amounts = level_limits(own.model_dump())
        _open(tools, tenant_level(spec.tenant, own.per, day_ms), amounts, own.per, day_ms)
        amounts = level_limits(shared.model_dump())
        _open(tools, deployment_level(shared.per, day_ms), amounts, shared.per, day_ms)


def open_source(tools: Toolbox, request: Request, deadline_ms: int) -> tuple[str, ...]:
    """Open what a source may be sent on each day until `deadline_ms`; return the levels' names, none without a quota.

    A request that is reserved before midnight may be sent after it, so it counts on both days. Pages that a source
    leads to are no requests to the source.
    """
    source_id = request.source_id
    quota = tools.registry.quota_per_day(source_id)
    if quota is None or request.kind == "page":
        return ()
    levels = []
    for day_ms in days_until(tools.clock.now_ms(), deadline_ms):
        levels.append(source_level(source_id, day_ms))
        _open(tools, levels[-1], {Dimension.FETCHES: quota}, "day", day_ms)
    return tuple(levels)


def _open(tools: Toolbox, level: str, limits: Amounts, per: Period, day_ms: int) -> None:
    if limits:
        now_ms = tools.clock.now_ms()
        ttl_ms = 0 if per == "ever" else next_day_ms(day_ms) - now_ms + KEPT_MS
        tools.ledger.open(level, limits, ttl_ms=ttl_ms)
