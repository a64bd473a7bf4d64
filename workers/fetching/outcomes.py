"""How a reply's status becomes an outcome, so that the fetcher and the parser cannot tell it differently.

For pages 401, 402 and 407 are walls, for APIs they are denials (a missing or wrong key). 403 and 503 are looked at for
a challenge; 403 with a used-up allowance and 429 mean "too fast". A denied page is never asked again with tricks.
"""

from http import HTTPStatus

from signal_search.contracts.source import FetchOutcome, FetchState, Parsed, Request, SkipReason
from signal_search.errors import (
    BadReply,
    Denied,
    NotThere,
    ServerFault,
    SourceFailed,
    TooManyRequests,
)

from infra.http import RawReply
from workers.fetching.backoff import is_limited, rest_s
from workers.fetching.decoding import decode, form_of
from workers.fetching.redaction import redact_url
from workers.fetching.walls import Page, find_wall

_PARSED = frozenset({200, 203})
_EMPTY = frozenset({204, 205})
_DENIED = frozenset({401, 402, 403, 407, 451, 432, 433})  # the last two: Tavily, a plan's limit
_GONE = frozenset({404, 410})
_CHALLENGE_BYTES = 200_000


def skipped(
    request: Request,
    reason: SkipReason,
    detail: str = "",
    *,
    raw: RawReply | None = None,
    parsed: Parsed | None = None,
) -> FetchOutcome:
    """Return the outcome of a fetch our own policy did not make or keep; links found may come with it."""
    return _outcome(request, FetchState.SKIPPED, reason, detail, raw, parsed)


def missed(
    request: Request, error: SourceFailed, detail: str = "", *, raw: RawReply | None = None
) -> FetchOutcome:
    """Return the outcome of a fetch the world did not answer as it should."""
    asked = Parsed(pause_s=error.retry_after_s or 0.0)
    return _outcome(request, FetchState.MISSED, error.code, detail or error.message, raw, asked)


def fetched(request: Request, raw: RawReply, parsed: Parsed) -> FetchOutcome:
    """Return the outcome of a fetch that brought something."""
    return _outcome(request, FetchState.FETCHED, "", "", raw, parsed)


def redirected(request: Request, raw: RawReply, to: str) -> FetchOutcome:
    """Return the outcome of a hop; `to` goes the whole way again."""
    detail = f"status {raw.status}"
    return _outcome(request, FetchState.REDIRECTED, "", detail, raw, Parsed(redirect_to=to))


def _outcome(
    request: Request,
    state: FetchState,
    reason: str,
    detail: str,
    raw: RawReply | None,
    parsed: Parsed | None,
) -> FetchOutcome:
    return FetchOutcome(
        state=state,
        url=redact_url(request.url),
        status=raw.status if raw else 0,
        reason=str(reason),
        detail=detail,
        until_ms=_until_ms(raw) if raw else None,
        bytes=len(raw.body) if raw else 0,
        fetched_at_ms=raw.fetched_at_ms if raw else 0,
        parsed=parsed or Parsed(),
    )


def _until_ms(raw: RawReply) -> int | None:
    """Return when a host that asked for rest may be asked again, by its own word."""
    wait_s = rest_s(raw.status, raw.headers, raw.fetched_at_ms) if raw.status >= 300 else None
    return None if wait_s is None else raw.fetched_at_ms + round(wait_s * 1000)


def outcome_of_status(request: Request, raw: RawReply) -> FetchOutcome | None:
    """Return the outcome a status decides, None when the body is to be parsed (200, 203)."""
    if raw.status in _PARSED or raw.status in request.answers:
        return None
    detail = _detail(request, raw.status)
    if raw.status in _EMPTY:
        return skipped(request, SkipReason.EMPTY, detail, raw=raw)
    wall = _wall(request, raw) if request.kind != "api" else None
    return wall or missed(request, _error(raw), detail, raw=raw)


def unreadable(request: Request, raw: RawReply, error: BadReply) -> FetchOutcome:
    """Return the outcome of data that could not be read: a challenge in its place is named, also with status 200."""
    if form_of(raw.body, raw.headers.get("content-type", "")) == "html":
        challenge = _challenge(request, raw)
        if challenge is not None:
            return challenge
    return missed(request, error, raw=raw)


def _detail(request: Request, status: int) -> str:
    """Return the status by name, and what this API means by it."""
    meaning = request.meanings.get(status, "")
    return f"{_named(status)}: {meaning}" if meaning else _named(status)


def _named(status: int) -> str:
    try:
        return f"status {status} {HTTPStatus(status).phrase}"
    except ValueError:
        return f"status {status}"


def _wall(request: Request, raw: RawReply) -> FetchOutcome | None:
    if raw.status in {401, 407}:
        return skipped(request, SkipReason.LOGIN_WALL, _named(raw.status), raw=raw)
    if raw.status == 402:
        return skipped(request, SkipReason.PAY_WALL, _named(raw.status), raw=raw)
    return _challenge(request, raw) if raw.status in {403, 429, 503} else None


def _challenge(request: Request, raw: RawReply) -> FetchOutcome | None:
    html, _ = decode(raw.body[:_CHALLENGE_BYTES], raw.headers.get("content-type", ""), is_html=True)
    start = html.lower().find("<title")
    title = html[start:].partition(">")[2].partition("<")[0] if start >= 0 else ""
    page = Page(url=raw.url, status=raw.status, headers=raw.headers, html=html, title=title)
    wall = find_wall(page)
    if wall is None or wall.kind != "challenge":
        return None
    return skipped(request, SkipReason.CHALLENGE, wall.detail, raw=raw)


def _error(raw: RawReply) -> SourceFailed:
    if raw.status in {400, 403, 429} and is_limited(raw.status, raw.headers):
        return TooManyRequests()
    if raw.status in _DENIED:
        return Denied()
    if raw.status in _GONE:
        return NotThere()
    return ServerFault() if raw.status >= 500 else BadReply()
