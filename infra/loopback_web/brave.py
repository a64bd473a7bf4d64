"""api.search.brave.com: the web search of the Brave Search API.

Strict: no or a wrong X-Subscription-Token, an unknown parameter, or a value out of range is 422 with an ErrorResponse.
`offset` counts pages up to nine, and time is `freshness`, not `time_range`. Every answer tells both windows of the
rate; when rates are enforced, a second request within a second is 429.
"""

import re
from typing import Final

import msgspec

from infra.loopback_web import exchange, open_web
from infra.loopback_web.exchange import Answer, Ask

KEY = re.compile(r"BSA[A-Za-z0-9_-]{8,}")
_FREE: Final = re.compile(r"[\s\S]*")
_DAY: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_FLAG: Final = re.compile(r"true|false|0|1")
_ALLOWED: Final = {
    "q": re.compile(r"[\s\S]{1,400}"),
    "country": re.compile(r"[A-Z]{2}|ALL"),
    "search_lang": re.compile(r"[a-z]{2}|zh-hans|zh-hant|en-gb|pt-br|pt-pt"),
    "ui_lang": re.compile(r"[a-z]{2}-[A-Z]{2}"),
    "count": re.compile(r"[1-9]|1[0-9]|20"),
    "offset": re.compile(r"[0-9]"),
    "safesearch": re.compile(r"off|moderate|strict"),
    "freshness": re.compile(rf"pd|pw|pm|py|{_DAY}to{_DAY}"),
    "text_decorations": _FLAG,
    "spellcheck": _FLAG,
    "result_filter": re.compile(r"[a-z_,]+"),
    "goggles": _FREE,
    "units": re.compile(r"metric|imperial"),
    "extra_snippets": _FLAG,
    "summary": _FLAG,
}
# Not ISO 639-1, though they look like it: Brave's names for these are others.
_NO_LANGUAGE: Final = frozenset({"zh", "ja"})
_MAX_WORDS: Final = 50
_WINDOW_MS: Final = 1000


class Brave:
    """The index of a search engine."""

    def __init__(self, *, enforce_pace: bool = False) -> None:
        """Serve the open web."""
        self._enforce_pace = enforce_pace
        self._last_ms = -_WINDOW_MS

    def __call__(self, ask: Ask) -> Answer:
        """Answer one request."""
        if ask.method not in {"GET", "HEAD"}:
            return exchange.method_not_allowed("GET", "HEAD")
        if ask.path != "/res/v1/web/search":
            return _refusal(404, "NOT_FOUND", "no such endpoint")
        if not KEY.fullmatch(ask.headers.get("x-subscription-token", "")):
            return _refusal(422, "SUBSCRIPTION_TOKEN_INVALID", "the token is missing or unknown")
        if self._enforce_pace and ask.now_ms - self._last_ms < _WINDOW_MS:
            return _refusal(429, "RATE_LIMITED", "one request per second")
        self._last_ms = ask.now_ms
        wrong = _wrong(ask.fields)
        return _refusal(422, "VALIDATION", wrong) if wrong else _found(ask.fields)


def _wrong(fields: dict[str, str]) -> str:
    for name in sorted(fields.keys() - _ALLOWED.keys()):
        return f"unknown parameter: {name}"
    if "q" not in fields or len(fields["q"].split()) > _MAX_WORDS:
        return "q is required, with at most 50 words"
    bad = [name for name, value in fields.items() if not _ALLOWED[name].fullmatch(value)]
    if fields.get("search_lang") in _NO_LANGUAGE:
        bad.append("search_lang")
    return f"out of range: {bad[0]}" if bad else ""


def _refusal(status: int, code: str, detail: str) -> Answer:
    error = {"id": "loopback", "status": status, "code": code, "detail": detail, "meta": {}}
    body = {"type": "ErrorResponse", "error": error}
    return _rated(exchange.json(body, status=status, complaint=detail))


def _rated(answer: Answer) -> Answer:
    """Tell both windows, a second and a month: one request in the first, and it is used."""
    told = {
        "x-ratelimit-limit": "1, 15000",
        "x-ratelimit-policy": "1;w=1, 15000;w=2592000",
        "x-ratelimit-remaining": "0, 14000",
        "x-ratelimit-reset": "1, 1419704",
    }
    return msgspec.structs.replace(answer, headers={**answer.headers, **told})


def _found(fields: dict[str, str]) -> Answer:
    query = fields["q"]
    first, _, last = fields.get("freshness", "").partition("to")
    pages = open_web.find(query, first=first, last=last) if last else open_web.find(query)
    count = int(fields.get("count", "20"))
    start = int(fields.get("offset", "0")) * count
    bold = fields.get("text_decorations", "true") in {"true", "1"}
    shown = pages[start : start + count]
    results = [_result(page, query, bold=bold) for page in shown]
    body: dict[str, object] = {
        "type": "search",
        "query": {"original": query, "more_results_available": len(pages) > start + count},
        "mixed": {
            "type": "mixed",
            "main": [{"type": "web", "index": at, "all": False} for at in range(len(results))],
        },
    }
    if results:  # the real service leaves the section out
        body["web"] = {"type": "search", "family_friendly": True, "results": results}
    return _rated(exchange.json(body))


def _result(page: open_web.Found, query: str, *, bold: bool) -> dict[str, object]:
    excerpt = " ".join(open_web.excerpts(page, query))
    result: dict[str, object] = {
        "title": page.title,
        "url": page.url,
        "is_source_local": False,
        "is_source_both": False,
        "description": f"<strong>{excerpt}</strong>" if bold else excerpt,
        "language": "en",
        "family_friendly": True,
    }
    if page.published:
        result |= {"page_age": f"{page.published}T09:00:00", "age": "3 days ago"}
    return result
