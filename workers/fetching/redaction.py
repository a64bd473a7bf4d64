"""Redaction before anything is cached, stored, logged or traced: `[EMAIL#1]` for an address, the same for the same one.

Stable within a text and idempotent. See personal_data.py for what is found and what is left alone.
"""

import re

from workers.fetching.personal_data import EMAIL, QUERY_SECRET, SECRET, Finding, find_all

MARK = "REDACTED"
"""What stands for a secret inside a URL, where brackets would not be allowed."""

_TOKEN = re.compile(r"\[(EMAIL|PHONE|CN_ID|CARD|IBAN|SSN|IP|SECRET)#([0-9]{1,6})\]")
_USERINFO = re.compile(r"(?<=://)[^/?#\s]*@")
_URL_EMAIL = re.compile(
    r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}(?:@|%40)(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}",
    re.IGNORECASE,
)
_MAX_PASSES = 8  # a replacement may free the edge of a neighbour


def redact(text: str) -> str:
    """Replace personal data and secrets by numbered tokens; equal values get equal tokens."""
    numbers = _Numbers(text)
    for _ in range(_MAX_PASSES):
        spans = _joined(find_all(text))
        if not spans:
            break
        text = _replaced(text, spans, numbers)
    return text


def redact_url(url: str) -> str:
    """Return a URL without user information, secrets in its query, tokens and e-mail addresses. Idempotent."""
    for _ in range(_MAX_PASSES):
        bare = _redacted_once(url)
        if bare == url:
            break
        url = bare
    return url


def _redacted_once(url: str) -> str:
    bare = QUERY_SECRET.sub(rf"\1={MARK}", _USERINFO.sub("", url))
    return _URL_EMAIL.sub(MARK, EMAIL.sub(MARK, SECRET.sub(MARK, bare)))


def carries_secret(url: str) -> bool:
    """Say whether a URL would have to be changed to be stored: then it must not be followed either."""
    return redact_url(url) != url


class _Numbers:
    """Counts per kind, going on after the tokens a text already has."""

    def __init__(self, text: str) -> None:
        self._last: dict[str, int] = {}
        self._known: dict[tuple[str, str], int] = {}
        for kind, number in _TOKEN.findall(text):
            self._last[kind] = max(self._last.get(kind, 0), int(number))

    def token(self, kind: str, value: str) -> str:
        key = (kind, re.sub(r"[\s\-().]", "", value).casefold())
        if key not in self._known:
            self._last[kind] = self._last.get(kind, 0) + 1
            self._known[key] = self._last[kind]
        return f"[{kind}#{self._known[key]}]"


def _joined(findings: list[Finding]) -> list[Finding]:
    """Unite overlapping spans, so that no end of one is left over; the first kind names them."""
    joined: list[Finding] = []
    for each in findings:
        if joined and each.start < joined[-1].end:
            last = joined[-1]
            joined[-1] = last._replace(end=max(last.end, each.end))
        else:
            joined.append(each)
    return joined


def _replaced(text: str, spans: list[Finding], numbers: _Numbers) -> str:
    parts: list[str] = []
    at = 0
    for start, end, kind in spans:
        parts += (text[at:start], numbers.token(kind, text[start:end]))
        at = end
    return "".join((*parts, text[at:]))
