"""What a tenant and the deployment may use in a day: who has nothing left is told so before any work is done.

This look at the ledger is for the caller's sake. The ledger itself refuses what goes beyond a limit, so a job that was
admitted with little left ends with what it could still pay for.
"""

from collections.abc import Iterator

from signal_search.contracts.budget import Dimension
from signal_search.errors import Busy

from budget.ledger import Balance, Ledger
from budget.policy import deployment_level, level_limits, next_day_ms, tenant_level
from infra.clock import Clock, iso
from infra.sections import LevelLimits
from infra.settings import Settings

_FAR_S = 86_400.0  # a limit that never starts anew is raised by a person


class Quotas:
    """Reads levels of the ledger. Raises StoreFailed when the store does not answer."""

    def __init__(self, ledger: Ledger, settings: Settings, clock: Clock) -> None:
        """Judge by the limits of `settings`."""
        self._ledger = ledger
        self._settings = settings
        self._clock = clock

    def refusal(self, tenant: str) -> Busy | None:
        """Return why a tenant may not submit now (`quota_exceeded`, with the time until it may), None if it may."""
        now_ms = self._clock.now_ms()
        for whose, level, limits in self._levels(tenant, now_ms):
            amounts = level_limits(limits.model_dump())
            if amounts and (short := _used_up(amounts, self._ledger.balance(level))):
                return _exceeded(whose, short, amounts[short], limits.per, now_ms)
        return None

    def _levels(self, tenant: str, now_ms: int) -> Iterator[tuple[str, str, LevelLimits]]:
        own, shared = self._settings.limits_of(tenant), self._settings.deployment
        yield "Your", tenant_level(tenant, own.per, now_ms), own
        yield "The service's", deployment_level(shared.per, now_ms), shared


def _used_up(limits: dict[Dimension, int], balance: Balance) -> Dimension | None:
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
