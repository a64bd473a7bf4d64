"""A fetch as the frontier keeps it: fresh for a while, then renewed by a 304 or served where its origin fails.

What is kept is the parsed, redacted outcome and those headers that decide about it, never the body. The rules are those
of RFC 9111 (4.2.4 and 4.3) and RFC 5861 (4) for a shared cache.
"""

from collections.abc import Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace
from signal_search.contracts.source import FetchOutcome, FetchState, Request

from infra.http import RawReply
from infra.settings import Cache
from workers.fetching.cache import directives, fresh_ms, is_shareable, seconds

STALE = "stale"
"""The reason of an outcome that was fetched earlier and stands in for its origin."""

_KEPT_HEADERS = ("cache-control", "etag", "expires", "last-modified", "vary")
_MOMENT_HEADERS = ("age", "date")  # of one exchange, not of what is kept
_NOT_KEPT = frozenset({"no-store", "private"})
_NEVER_STALE = frozenset({"no-cache", "must-revalidate", "proxy-revalidate", "s-maxage"})


class StoredReply(Struct, frozen=True, kw_only=True):
    """An outcome, the headers it came with, and until when (epoch ms; 0: never) it may stand in for its origin."""

    outcome: FetchOutcome
    headers: dict[str, str] = {}
    error_until_ms: int = 0


class Kept(Struct, frozen=True, kw_only=True):
    """What to keep, for how long it is fresh, and for how long it is kept after that."""

    reply: StoredReply
    fresh_ms: int = 0
    stale_ms: int = 0


def kept(request: Request, raw: RawReply, outcome: FetchOutcome, fresh: int, limits: Cache) -> Kept:
    """Return how a parsed reply is kept; `fresh` is for how many milliseconds it may be shared."""
    reply = StoredReply(outcome=outcome)
    said = directives(raw.headers.get("cache-control", ""))
    if outcome.state is not FetchState.FETCHED:
        return Kept(reply=reply)
    if not is_shareable(request) or _NOT_KEPT & said.keys() or "*" in raw.headers.get("vary", ""):
        return Kept(reply=reply, fresh_ms=fresh)
    headers = _picked(raw.headers, _KEPT_HEADERS)
    return _kept(outcome, headers, fresh, raw.fetched_at_ms, limits)


def _picked(headers: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    return {name: headers[name] for name in names if name in headers}


def _kept(
    outcome: FetchOutcome, headers: dict[str, str], fresh: int, now_ms: int, limits: Cache
) -> Kept:
    on_error_ms = _error_window_ms(headers, limits)
    reply = StoredReply(
        outcome=outcome,
        headers=headers,
        error_until_ms=now_ms + fresh + on_error_ms if on_error_ms else 0,
    )
    renewable_ms = limits.revalidate_s * 1000 if conditions(reply) else 0
    return Kept(reply=reply, fresh_ms=fresh, stale_ms=max(on_error_ms, renewable_ms))


def _error_window_ms(headers: Mapping[str, str], limits: Cache) -> int:
    """Return how long after its freshness a reply may be served on failure: ours, or less if its origin says so."""
    said = directives(headers.get("cache-control", ""))
    if _NEVER_STALE & said.keys():
        return 0
    allowed_s = seconds(said["stale-if-error"]) if "stale-if-error" in said else None
    window_s = float(limits.stale_if_error_s)
    return round(1000 * (window_s if allowed_s is None else min(window_s, allowed_s)))


def conditions(stored: StoredReply | None) -> dict[str, str]:
    """Return the request headers that ask for a reply only if it changed (RFC 9110, 13.1), none without a validator."""
    if stored is None or stored.outcome.state is not FetchState.FETCHED:
        return {}
    named = {"etag": "if-none-match", "last-modified": "if-modified-since"}
    return {to: stored.headers[name] for name, to in named.items() if stored.headers.get(name)}


def confirms(stored: StoredReply | None, raw: RawReply) -> bool:
    """Say whether a 304 is about the stored reply: asked for by a validator, and naming no other (RFC 9111, 4.3.3)."""
    if stored is None or raw.status != 304 or not conditions(stored):
        return False
    named = raw.headers.get("etag", "")
    return not named or _opaque(named) == _opaque(stored.headers.get("etag", ""))


def _opaque(tag: str) -> str:
    return tag.strip().removeprefix("W/")


def renewed(stored: StoredReply, raw: RawReply, limits: Cache) -> Kept:
    """Return the stored reply with the freshness that its 304 gives it (RFC 9111, 4.3.4); nothing is parsed again."""
    headers = {**stored.headers, **_picked(raw.headers, _KEPT_HEADERS)}
    moment = _picked(raw.headers, _MOMENT_HEADERS)
    fresh = fresh_ms(200, {**headers, **moment}, raw.fetched_at_ms, limits)
    outcome = _marked(stored.outcome, "renewed", status=304, fetched_at_ms=raw.fetched_at_ms)
    if _NOT_KEPT & directives(headers.get("cache-control", "")).keys():
        return Kept(reply=StoredReply(outcome=outcome))
    return _kept(outcome, headers, fresh, raw.fetched_at_ms, limits)


def is_served_on_failure(stored: StoredReply | None, now_ms: int) -> bool:
    """Say whether a stored reply may stand in for its origin now."""
    return stored is not None and now_ms < stored.error_until_ms


def stale(stored: StoredReply, failure: FetchOutcome, now_ms: int, limits: Cache) -> Kept:
    """Return the stored reply in place of a failure; it is never fresh, and kept no longer than before."""
    outcome = replace(
        _marked(stored.outcome, STALE, status=failure.status, fetched_at_ms=now_ms),
        reason=STALE,
        detail=f"served stale: {failure.reason}, {failure.detail}",
        until_ms=failure.until_ms,
        bytes=failure.bytes,
    )
    renewable_ms = limits.revalidate_s * 1000 if conditions(stored) else 0
    return Kept(
        reply=replace(stored, outcome=outcome),
        stale_ms=max(stored.error_until_ms - now_ms, renewable_ms),
    )


def _marked(outcome: FetchOutcome, mark: str, *, status: int, fetched_at_ms: int) -> FetchOutcome:
    return replace(
        outcome,
        status=status,
        reason="",
        detail="",
        until_ms=None,
        bytes=0,
        fetched_at_ms=fetched_at_ms,
        decisions={**outcome.decisions, "cache": mark},
    )
