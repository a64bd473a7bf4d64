"""Which pause a request owes its host: the public interval, or the pace of the API it belongs to.

A row's published pace is used only where the deployment says so and only for calls of that API at its own host; a call
with the operator's own key has the pace of that plan. A pace slower than the public interval always counts.
"""

import re
from collections.abc import Iterable

from signal_search.contracts.source import Request

from infra.catalog.catalog import SourceRow, custom_rows, shipped_rows
from infra.settings import Settings
from workers.fetching.cache import host_key

_KNOWN_HOSTS = 10_000
_ANY_LANGUAGE = "[a-z-]{2,12}"


class Paces:
    """The paces of a deployment's rows; what it answers never changes."""

    def __init__(self, settings: Settings, rows: Iterable[SourceRow]) -> None:
        """Take the rows whose published paces may count."""
        self._settings = settings
        self._rows = {row.id: row for row in rows if row.endpoint and row.kind == "api"}
        self._has_own: dict[str, bool] = {}

    def pause_ms(self, request: Request, host: str) -> int:
        """Return how long `host` rests after this request, without what replies and robots.txt ask for."""
        usual_ms = self._settings.pause_ms(host)
        own_ms = self._own_ms(request, host)
        if own_ms is None:
            return usual_ms
        if self._settings.is_loopback_host(host):
            return min(usual_ms, own_ms) if self._is_granted(request) else usual_ms
        return own_ms if self._is_granted(request) else max(usual_ms, own_ms)

    def is_own(self, request: Request, host: str) -> bool:
        """Say whether the request goes at a pace faster than the host's public interval."""
        return self.pause_ms(request, host) < self._settings.pause_ms(host)

    def has_own(self, host: str) -> bool:
        """Say whether some request may go to this host at another pace than the public one."""
        found = self._has_own.get(host)
        if found is None:
            found = any(_is_at(row, host) for row in self._rows.values())
            if len(self._has_own) < _KNOWN_HOSTS:
                self._has_own[host] = found
        return found

    def _is_granted(self, request: Request) -> bool:
        return bool(request.auth) or self._settings.politeness.published_pace

    def _own_ms(self, request: Request, host: str) -> int | None:
        row = self._rows.get(request.source_id)
        if row is None or request.kind != "api" or not _is_at(row, host):
            return None
        pace = self._settings.politeness
        plan_s = pace.plan_pace_s.get(row.id) if request.auth else None
        own_s = plan_s or row.published_pace_s
        return None if own_s is None else round(own_s * 1000) + pace.guard_ms


def paces_of(settings: Settings) -> Paces:
    """Return the paces of the shipped and the operator's own rows.

    Raises:
        Invalid: `sources.custom`, when a row is wrong.
    """
    return Paces(settings, (*shipped_rows(), *custom_rows(settings.sources.custom)))


def _is_at(row: SourceRow, host: str) -> bool:
    """Say whether a host is that of the row's endpoint, in any language."""
    pattern = re.escape(host_key(row.endpoint.replace("{language}", "xx")))
    named = pattern.replace("xx", _ANY_LANGUAGE, 1) if "{language}" in row.endpoint else pattern
    return re.fullmatch(named, host) is not None
