"""How long a host rests after an exchange, and whether it rests from one that the frontier does not know of.

The pause is the longest of: the pace of the request, Crawl-delay, what the reply's headers state. A refusal or fault
suspends the host for longer, by its own word or by a pause that grows with every failure, counted for all workers.
"""

import random
from contextlib import suppress

from msgspec.structs import replace
from signal_search.contracts.source import FetchOutcome, Request, SkipReason
from signal_search.errors import StoreFailed

from infra.clock import Clock
from infra.settings import Settings
from workers.fetching.backoff import Pacing, suspension_ms
from workers.fetching.host_memory import HostMemory
from workers.fetching.pace import Paces

_FORGET_AFTER = 10_000
_REASON_CHARS = 160


class Rests:
    """The pace of hosts as one worker keeps it: what all workers know, and what it remembers itself."""

    def __init__(self, settings: Settings, clock: Clock, memory: HostMemory, paces: Paces) -> None:
        """Remember nothing yet."""
        self._settings = settings
        self._clock = clock
        self._memory = memory
        self._paces = paces
        self._free_at: dict[str, float] = {}

    @property
    def restart_pause_ms(self) -> int:
        """Return how long every host rests after a restart or a crash, when its last request may be forgotten."""
        pace = self._settings.politeness
        only_loopback = self._settings.loopback.only
        seconds = pace.loopback_interval_s if only_loopback else pace.interval_s
        return int(seconds * 1000) + pace.guard_ms

    async def owed_ms(self, request: Request, host: str) -> int:
        """Return for how long the host must still be left alone before this request, 0 when it may go.

        More than the frontier knows: what it forgot in a restart, and the rest after a request at an API's own pace,
        which requests without such a pace must not profit from.

        Raises:
            StoreFailed: the store does not answer; nothing may be sent.
        """
        early_ms = round((self._free_at.get(host, 0.0) - self._clock.monotonic()) * 1000)
        if early_ms > 0:
            return early_ms
        if not self._paces.has_own(host) or self._paces.is_own(request, host):
            return 0
        return await self._memory.rest_ms(host)

    async def after(
        self,
        request: Request,
        host: str,
        pacing: Pacing,
        outcome: FetchOutcome,
        *,
        ended_s: float | None = None,
    ) -> tuple[int, int, str]:
        """Return pause, suspension (both in milliseconds) and its reason; remember all three. Never raises.

        The pause counts from `ended_s` of the monotonic clock, when the reply was there (default: now). A challenge in
        place of the content is a refusal too, whatever its status.
        """
        if outcome.reason == SkipReason.CHALLENGE and pacing.verdict == "fine":
            pacing = replace(pacing, verdict="limited")
        pacing = replace(pacing, stated_s=max(pacing.stated_s or 0.0, outcome.parsed.pause_s))
        pause_ms = await self._pause_ms(request, host, pacing)
        self._remember(host, pause_ms, ended_s)
        suspend_ms = await self._suspension_ms(host, pacing)
        if suspend_ms <= pause_ms and pacing.verdict == "fine":
            return pause_ms, 0, ""
        return pause_ms, suspend_ms, _reason(pacing, outcome) if suspend_ms else ""

    def after_robots(self, host: str) -> int:
        """Return how long the host rests after its robots.txt was read."""
        pause_ms = self._jittered(self._settings.pause_ms(host))
        self._remember(host, pause_ms)
        return pause_ms

    async def after_nothing(self, request: Request, host: str, pacing: Pacing) -> int:
        """Return how long the host rests after a request that it may not even have seen: its pause, and no back-off."""
        pause_ms = await self._pause_ms(request, host, pacing)
        self._remember(host, pause_ms)
        return pause_ms

    async def _pause_ms(self, request: Request, host: str, pacing: Pacing) -> int:
        asked_s = max(pacing.crawl_delay_s or 0.0, pacing.stated_s or 0.0)
        capped_s = min(asked_s, self._settings.politeness.retry_after_cap_s)
        pause_ms = max(self._paces.pause_ms(request, host), round(capped_s * 1000))
        usual_ms = self._settings.pause_ms(host)
        if self._paces.is_own(request, host):
            try:
                await self._memory.let_rest(host, usual_ms)
            except StoreFailed:  # nobody could tell a page that it must wait
                pause_ms = max(pause_ms, usual_ms)
        return self._jittered(pause_ms)

    def _jittered(self, pause_ms: int) -> int:
        """Lengthen a pause by a random share, never shorten it."""
        share = self._settings.politeness.jitter * random.random()  # noqa: S311 - nothing secret
        return round(pause_ms * (1 + share))

    async def _suspension_ms(self, host: str, pacing: Pacing) -> int:
        failures = 0
        with suppress(StoreFailed):  # the reply is not lost for it; the pause begins small again
            if pacing.verdict == "fine":
                await self._memory.went_well(host)
            else:
                failures = await self._memory.failed(host)
        return suspension_ms(pacing, failures, self._settings.politeness)

    def _remember(self, host: str, pause_ms: int, from_s: float | None = None) -> None:
        """Remember in this process when a host may be asked again, should the store forget it."""
        if len(self._free_at) > _FORGET_AFTER:
            now = self._clock.monotonic()
            self._free_at = {name: at for name, at in self._free_at.items() if at > now}
        since_s = self._clock.monotonic() if from_s is None else from_s
        self._free_at[host] = since_s + pause_ms / 1000


def _reason(pacing: Pacing, outcome: FetchOutcome) -> str:
    """Return why a host is suspended, for all jobs that are told: the code and the status, never the reply's text."""
    if pacing.verdict == "fine":
        return "its allowance is used up" if outcome.status < 300 else "it asked for a pause"
    return ": ".join(filter(None, (outcome.reason, outcome.detail)))[:_REASON_CHARS]
