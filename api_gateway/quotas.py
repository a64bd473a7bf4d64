"""What a tenant and the deployment may use in a day: who has nothing left is told so before any work is done.

This look at the ledger is for the caller's sake. The ledger itself refuses what goes beyond a limit, so a job that was
admitted with little left ends with what it could still pay for.
"""

from collections.abc import Iterator

from msgspec import Struct
from signal_search.contracts.budget import Amounts, Dimension
from signal_search.contracts.job import JobSpec
from signal_search.errors import Busy

from budget.ledger import Balance, Ledger, Short
from budget.policy import (
    KEPT_MS,
    Period,
    days_until,
    deployment_level,
    level_limits,
    next_day_ms,
    tenant_level,
    token_level,
)
from infra.clock import Clock, iso
from infra.sections import LevelLimits
from infra.settings import Settings

_Level = tuple[
    str, str, Amounts, Period
]  # whose it is, its name, its limits and what they count by

_FAR_S = 86_400.0  # a limit that never starts anew is raised by a person


class Spender(Struct, frozen=True, kw_only=True):
    """Who uses something outside of a job: an id of this use, the tenant, and the token where it has limits."""

    id: str
    tenant: str
    token: str = ""
    limits: Amounts = {}


class Quotas:
    """Reads levels of the ledger. Raises StoreFailed when the store does not answer."""

    def __init__(self, ledger: Ledger, settings: Settings, clock: Clock) -> None:
        """Judge by the limits of `settings`."""
        self._ledger = ledger
        self._clock = clock
        self._own = {name: _limits_of(settings.limits_of(name)) for name in settings.tenants}
        self._usual = _limits_of(settings.tenant)
        self._shared = _limits_of(settings.deployment)

    def refusal(self, spec: JobSpec, token_limits: Amounts) -> Busy | None:
        """Return why a job may not be submitted now (`quota_exceeded`, with the time until it may), None if it may.

        The level of a token with limits is opened here, for each day that the job may live: the workers know levels
        by name only.
        """
        if token_limits:
            self._open(spec, token_limits)
        now_ms = self._clock.now_ms()
        for whose, level, limits, per in self._levels(spec, token_limits, now_ms):
            if short := _used_up(limits, self._ledger.balance(level)):
                return _exceeded(whose, short, limits[short], per, now_ms)
        return None

    def open(self, spender: Spender) -> tuple[str, ...]:
        """Open what a use counts on today, where there are limits; return the names of these levels."""
        now_ms = self._clock.now_ms()
        opened = []
        for _, level, limits, per in self._levels(spender, spender.limits, now_ms):
            ttl_ms = 0 if per == "ever" else next_day_ms(now_ms) - now_ms + KEPT_MS
            self._ledger.open(level, limits, ttl_ms=ttl_ms)
            opened.append(level)
        return tuple(opened)

    def short(self, spender: Spender, short: Short) -> Busy:
        """Return the refusal of a use that a level which `open` named is too short for."""
        now_ms = self._clock.now_ms()
        name = short.dimension
        for whose, level, limits, per in self._levels(spender, spender.limits, now_ms):
            if level == short.level and name in limits:
                return _exceeded(whose, name, limits[name], per, now_ms)
        return Busy(code="quota_exceeded", retry_after_s=(next_day_ms(now_ms) - now_ms) / 1000)

    def _levels(
        self, spec: JobSpec | Spender, token_limits: Amounts, now_ms: int
    ) -> Iterator[_Level]:
        """Yield the levels that have limits."""
        if token_limits:
            yield "This token's", token_level(spec.token, now_ms), token_limits, "day"
        limits, per = self._own.get(spec.tenant, self._usual)
        if limits:
            yield "Your", tenant_level(spec.tenant, per, now_ms), limits, per
        limits, per = self._shared
        if limits:
            yield "The service's", deployment_level(per, now_ms), limits, per

    def _open(self, spec: JobSpec, limits: Amounts) -> None:
        now_ms = self._clock.now_ms()
        for day_ms in days_until(now_ms, spec.deadline_ms):
            ttl_ms = next_day_ms(day_ms) - now_ms + KEPT_MS
            self._ledger.open(token_level(spec.token, day_ms), limits, ttl_ms=ttl_ms)


def _limits_of(section: LevelLimits) -> tuple[Amounts, Period]:
    return level_limits(section.model_dump()), section.per


def _used_up(limits: Amounts, balance: Balance) -> Dimension | None:
    """Return the first dimension of which nothing is left; what is held counts as spent until it is given back."""
    for name, limit in limits.items():
        if balance.used.get(name, 0) + balance.held.get(name, 0) >= limit:
            return name
    return None


def _exceeded(whose: str, name: Dimension, limit: int, per: str, now_ms: int) -> Busy:
    if per == "ever":
        message = f"{whose} quota of {limit} {name} is used up."
        return Busy(message, code="quota_exceeded", retry_after_s=_FAR_S)
    until_ms = next_day_ms(now_ms)
    message = (
        f"{whose} quota of {limit} {name} a day is used up; it starts anew at {iso(until_ms)}."
    )
    return Busy(message, code="quota_exceeded", retry_after_s=(until_ms - now_ms) / 1000)
