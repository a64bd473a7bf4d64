"""The typed judge protocol over HTTP: one question sheet, one answer sheet, a bounded number of attempts.

What an attempt ended with has a code of the adaptive search guide; only those that may pass are tried again, after a
rest that the server may lengthen up to a bound. Redirects are not followed. An error's body is never repeated, and the
key stands in a header only.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Struct
from signal_search.errors import AddressRefused, BadReply, BodyTooLarge, TimedOut, Unreachable

from infra.clock import Clock
from infra.http import HttpClient, RawReply
from infra.one_host import below, only_host_of
from infra.outgoing import Outgoing
from infra.settings import Settings

Pause = Callable[[float], Awaitable[None]]

AGAIN: Final = frozenset(
    {"rate_limited", "overloaded", "server_error", "gateway_response", "network", "timeout"}
)
"""Codes after which the same request may be sent again (adaptive search guide)."""

_FIRST_REST_S = 0.3
_MOST_REST_S = 4.0
_OK, _REDIRECTS, _REFUSALS, _FAULTS = 200, 300, 400, 500
_NAMED: Final = {
    401: "unauthorized",
    403: "unauthorized",
    413: "request_too_large",
    429: "rate_limited",
    529: "overloaded",
}


class Sheet(Struct, frozen=True, kw_only=True):
    """What came back: raw answers by id, or the code of why there are none. tokens: of input, as the server reports."""

    answers: dict[str, Any] = {}
    error: str = ""
    attempts: int = 0
    tokens: int = 0


class _Usage(Struct):
    input_tokens: object = None
    prompt_tokens: object = None
    total_tokens: object = None


class _Body(Struct):
    answers: dict[str, Any]
    usage: _Usage | None = None


class _Between(NamedTuple):
    """What happens between two attempts."""

    pause: Pause
    goes_on: Callable[[], bool]


class _Try(Struct, frozen=True, kw_only=True):
    sheet: Sheet
    retry_after_s: float = 0.0


def ask_systemone(
    settings: Settings,
    clock: Clock,
    body: bytes,
    *,
    left_s: float,
    goes_on: Callable[[], bool],
    pause: Pause = asyncio.sleep,
) -> Sheet:
    """Return the answers to a request, with at most `judge_retries` more attempts, all within `left_s` seconds.

    goes_on: asked before each further attempt; `cancelled` when it says no.

    Raises nothing of the judge's: a failure is a `Sheet` with an error.
    """
    return asyncio.run(_ask(settings, clock, body, left_s, _Between(pause, goes_on)))


async def _ask(
    settings: Settings, clock: Clock, body: bytes, left_s: float, between: _Between
) -> Sheet:
    url = below(settings.adaptive.judge_base_url, "/systemone")
    limits = {"clients": 1, "total_timeout_s": settings.adaptive.judge_timeout_s}
    one = settings.fetch.model_copy(update=limits)
    guard = only_host_of(url, settings.loopback)
    end_s = clock.monotonic() + left_s
    sheet = Sheet(error="timeout")
    async with HttpClient(one, settings.loopback, guard, clock) as http:
        for attempt in range(settings.adaptive.judge_retries + 1):
            time_s = min(settings.adaptive.judge_timeout_s, end_s - clock.monotonic())
            if time_s <= 0:
                break
            made = await _try(http, settings, _outgoing(settings, url, body), time_s)
            sheet = msgspec.structs.replace(made.sheet, attempts=attempt + 1)
            rest_s = min(_MOST_REST_S, max(made.retry_after_s, _FIRST_REST_S * 2**attempt))
            is_last = attempt == settings.adaptive.judge_retries
            if sheet.error not in AGAIN or is_last or clock.monotonic() + rest_s >= end_s:
                return sheet
            await between.pause(rest_s)
            if not between.goes_on():
                return msgspec.structs.replace(sheet, error="cancelled")
    return sheet


def _outgoing(settings: Settings, url: str, body: bytes) -> Outgoing:
    key = settings.adaptive.judge_api_key.get_secret_value()
    headers = {
        "authorization": f"Bearer {key}",
        "content-type": "application/json",
        "accept": "application/json",
        "connection": "close",  # a connection that waited might be closed just as it is used again
    }
    return Outgoing(url=url, method="POST", headers=headers, body=body, plain=True)


async def _try(http: HttpClient, settings: Settings, outgoing: Outgoing, time_s: float) -> _Try:
    most = settings.adaptive.judge_max_response_bytes
    try:
        reply = await http.send(outgoing, total_timeout_s=time_s, max_body_bytes=most)
    except TimedOut:
        return _failed("timeout")
    except (BodyTooLarge, BadReply):
        return _failed("malformed_response")
    except (Unreachable, AddressRefused):
        return _failed("network")
    return _read(reply)


def _failed(code: str, retry_after_s: float = 0.0) -> _Try:
    return _Try(sheet=Sheet(error=code), retry_after_s=retry_after_s)


def _read(reply: RawReply) -> _Try:
    if reply.status != _OK:
        return _failed(_code_of(reply), _retry_after(reply.headers.get("retry-after", "")))
    try:
        body = msgspec.json.decode(reply.body, type=_Body)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return _failed("gateway_response" if _is_page(reply) else "malformed_response")
    return _Try(sheet=Sheet(answers=body.answers, tokens=_tokens(body.usage)))


def _code_of(reply: RawReply) -> str:
    named = _NAMED.get(reply.status)
    if named is not None:
        return named
    if _REDIRECTS <= reply.status < _REFUSALS:
        return "redirect_blocked"
    if _is_page(reply):
        return "gateway_response"
    return "server_error" if reply.status >= _FAULTS else "invalid_request"


def _is_page(reply: RawReply) -> bool:
    """Return whether something in between answered with a page for people."""
    kind = reply.headers.get("content-type", "").lower()
    return "html" in kind or reply.body.lstrip()[:1] == b"<"


def _retry_after(text: str) -> float:
    """Return the seconds that a server asks to be left alone; a date is longer than any rest of ours."""
    text = text.strip()
    if not text:
        return 0.0
    return float(text) if text.isascii() and text.isdigit() and len(text) < 7 else _MOST_REST_S


def _tokens(usage: _Usage | None) -> int:
    if usage is None:
        return 0
    for value in (usage.input_tokens, usage.prompt_tokens, usage.total_tokens):
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 10**12:
            return value
    return 0
