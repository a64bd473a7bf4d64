"""What rate-limit headers state: the pace, whether an allowance is used up, and when it comes back.

Three dialects are read, since APIs speak all of them: `X-Rate-Limit-Limit` with `-Interval` (Crossref), `RateLimit` and
`RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers, old and new form), and `X-RateLimit-Remaining` with `-Reset`,
also as lists of windows (Brave) and as an epoch second (GitHub). Nonsense is no statement.
"""

import re
from collections.abc import Iterator, Mapping

_EPOCH_S = 1_000_000_000  # a reset beyond this is a moment, not a span
_SPAN = re.compile(r"(\d{1,9}(?:\.\d{1,3})?)\s*(ms|s|m|h)?")
_UNIT_S = {"ms": 0.001, "s": 1.0, "": 1.0, "m": 60.0, "h": 3600.0}
_NUMBER = re.compile(r"\d{1,12}(?:\.\d{1,3})?")
_OLD_POLICY = re.compile(r"(\d{1,9})\s*;\s*w\s*=\s*(\d{1,9})")
_NEW_POLICY = re.compile(r"\"[^\"]{0,100}\"\s*(?:;\s*[a-z]+\s*=\s*[^;,]{1,40})*")
_PARAMETER = re.compile(r"([a-z]+)\s*=\s*(\d{1,12})")


def stated_pace_s(headers: Mapping[str, str]) -> float | None:
    """Return the seconds between requests that a reply's headers state, of several the longest; None: nothing said."""
    return max((span for span in _paces(headers) if span > 0), default=None)


def _paces(headers: Mapping[str, str]) -> Iterator[float]:
    limit = _number(headers.get("x-rate-limit-limit", ""))
    interval = _SPAN.fullmatch(headers.get("x-rate-limit-interval", "").strip().lower())
    if limit and interval:
        yield float(interval[1]) * _UNIT_S[interval[2] or ""] / limit
    policy = headers.get("ratelimit-policy", "").lower()
    for count, window in _OLD_POLICY.findall(policy):
        yield int(window) / max(1, int(count))
    for item in _NEW_POLICY.findall(policy):
        named = dict(_PARAMETER.findall(item))
        if "q" in named and "w" in named:
            yield int(named["w"]) / max(1, int(named["q"]))


def is_used_up(headers: Mapping[str, str]) -> bool:
    """Say whether an allowance is used up: nothing remains in one of its windows."""
    return any(left == 0 for left, _ in _windows(headers))


def allowance_reset_s(headers: Mapping[str, str], now_ms: int) -> float | None:
    """Return the seconds until the used-up windows (all, if none says it is) open again; None when unknown or past."""
    windows = list(_windows(headers))
    empty = [reset for left, reset in windows if left == 0] or [
        reset for left, reset in windows if left is None
    ]
    spans = [_from_now(each, now_ms) for each in empty if each is not None]
    return max((each for each in spans if each > 0), default=None)


def _from_now(reset: float, now_ms: int) -> float:
    return reset - now_ms / 1000 if reset >= _EPOCH_S else reset


def _windows(headers: Mapping[str, str]) -> Iterator[tuple[float | None, float | None]]:
    """Yield what remains in each window and when it resets, None for what is not said."""
    for prefix in ("x-ratelimit", "x-rate-limit", "ratelimit"):
        left = _numbers(headers.get(f"{prefix}-remaining", ""))
        reset = _numbers(headers.get(f"{prefix}-reset", ""))
        for place in range(max(len(left), len(reset))):
            yield _at(left, place), _at(reset, place)
    combined = headers.get("ratelimit", "").lower()
    for item in _NEW_POLICY.findall(combined) or [combined]:
        named = {name: float(value) for name, value in _PARAMETER.findall(item)}
        if named:
            yield named.get("r", named.get("remaining")), named.get("t", named.get("reset"))


def _at(values: list[float | None], place: int) -> float | None:
    return values[place] if place < len(values) else None


def _numbers(value: str) -> list[float | None]:
    return [_number(each) for each in value.split(",")] if value else []


def _number(value: str) -> float | None:
    text = value.strip()
    return float(text) if _NUMBER.fullmatch(text) and text.isascii() else None
