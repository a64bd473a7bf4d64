"""How long a host wants to be left alone: by its headers, else by growing pauses. Arithmetic only.

Headers, the first that is there: Retry-After in both forms (RFC 9110, 10.2.3), then the reset of a used-up allowance
(`workers/fetching/allowance.py`). What a host says wins over our own growing pause, in both directions.
"""

from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Literal

from msgspec import Struct

from infra.settings import Politeness
from workers.fetching.allowance import allowance_reset_s, is_used_up, stated_pace_s

Verdict = Literal["unsent", "fine", "limited", "fault"]

_MAX_DOUBLINGS = 32


class Pacing(Struct, frozen=True, kw_only=True):
    """What an exchange says about the pace of its host.

    verdict: unsent (nothing went out, the slot is unused), fine (ends the back-off after some), limited (429, 503, a
    used-up allowance), fault (5xx, time-out, no connection: raises the pause, never lowers it);
    retry_after_s: what the host asked for; crawl_delay_s: what its robots.txt asks for between requests; stated_s: the
    pause between requests that its headers state.
    """

    verdict: Verdict = "unsent"
    retry_after_s: float | None = None
    crawl_delay_s: float | None = None
    stated_s: float | None = None


def retry_after_s(headers: Mapping[str, str], now_ms: int) -> float | None:
    """Return Retry-After in seconds from `now_ms` (RFC 9110, 10.2.3); a past date is 0, nonsense is None."""
    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value[:12])
    at_ms = http_date_ms(value)
    return None if at_ms is None else max(0.0, (at_ms - now_ms) / 1000)


def http_date_ms(value: str) -> int | None:
    """Return an HTTP date as epoch milliseconds, None when it is none (RFC 9110, 5.6.7)."""
    try:
        parsed = parsedate_to_datetime(value)
        aware = parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
        return round(aware.timestamp() * 1000)
    except (ValueError, TypeError, OverflowError):
        return None


def rest_s(status: int, headers: Mapping[str, str], now_ms: int) -> float | None:
    """Return the seconds for which a reply asks to be left alone, None when it does not ask.

    Retry-After counts for refusals and redirects (not for 200, where servers leave it behind); a used-up allowance
    counts whatever the status: the next request would be refused.
    """
    asked_s = retry_after_s(headers, now_ms) if status >= 300 else None
    if asked_s is not None:
        return asked_s
    if is_used_up(headers) or is_limited(status, headers):
        return allowance_reset_s(headers, now_ms)
    return None


def is_limited(status: int, headers: Mapping[str, str]) -> bool:
    """Say whether a reply means "too fast": 429, 503, or 400 or 403 with a used-up allowance."""
    return status in {429, 503} or (status in {400, 403} and is_used_up(headers))


def pacing_of(
    status: int, headers: Mapping[str, str], now_ms: int, crawl_delay_s: float | None = None
) -> Pacing:
    """Return what a reply says about the pace."""
    limited = is_limited(status, headers)
    return Pacing(
        verdict="limited" if limited else "fault" if status >= 500 else "fine",
        retry_after_s=rest_s(status, headers, now_ms),
        crawl_delay_s=crawl_delay_s,
        stated_s=stated_pace_s(headers),
    )


def backoff_s(failures: int, *, base_s: float, cap_s: float) -> float:
    """Return min(cap, base * 2^failures): the pause after `failures` earlier refusals in a row."""
    return float(min(cap_s, base_s * 2 ** min(max(failures, 0), _MAX_DOUBLINGS)))


def suspension_ms(pacing: Pacing, failures: int, politeness: Politeness) -> int:
    """Return how long a host is to be left alone after this exchange, 0 when its usual pause will do.

    The host's own word wins over the growing pause, in both directions, up to `retry_after_cap_s`.
    """
    if pacing.retry_after_s is not None:
        return round(min(pacing.retry_after_s, politeness.retry_after_cap_s) * 1000)
    if pacing.verdict not in {"limited", "fault"}:
        return 0
    pause_s = backoff_s(failures, base_s=politeness.backoff_base_s, cap_s=politeness.backoff_cap_s)
    return round(pause_s * 1000)
