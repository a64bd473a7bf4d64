"""api.exa.ai: the search of the Exa API.

Strict: only `x-api-key` counts as a key (401 without); an unknown field, a content option outside `contents`, and a
number of results beyond a hundred are 400. When rates are enforced: ten requests a second, then 429.
"""

import re
from collections import deque
from typing import Any, Final

from infra.loopback_web import exchange, json_body, open_web
from infra.loopback_web.exchange import Answer, Ask

KEY = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SHAPE: Final[json_body.Shape] = {
    "query": str,
    "type": str,
    "numResults": int,
    "category": str,
    "includeDomains": list,
    "excludeDomains": list,
    "startPublishedDate": str,
    "endPublishedDate": str,
    "includeText": list,
    "excludeText": list,
    "userLocation": str,
    "moderation": bool,
    "contents": dict,
}
_CONTENTS: Final[json_body.Shape] = {
    "text": (bool, dict),
    "highlights": (bool, dict),
    "summary": (bool, dict),
    "maxAgeHours": int,
    "livecrawlTimeout": int,
    "subpages": int,
    "extras": dict,
}
_TYPES: Final = frozenset(
    {"auto", "fast", "instant", "lite", "deep-lite", "deep", "deep-reasoning", "neural"}
)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9:.]+Z)?")
_MAX_RESULTS: Final = 100
_PER_SECOND: Final = 10


class Exa:
    """Search by meaning; here the words must do."""

    def __init__(self, *, enforce_pace: bool = False) -> None:
        """Serve the open web."""
        self._enforce_pace = enforce_pace
        self._recent_ms: deque[int] = deque(maxlen=_PER_SECOND)

    def __call__(self, ask: Ask) -> Answer:
        """Answer one request."""
        if ask.path != "/search":
            return _refusal(404, "Not found", "NOT_FOUND")
        if ask.method != "POST":
            return exchange.method_not_allowed("POST")
        if not KEY.fullmatch(ask.headers.get("x-api-key", "")):
            return _refusal(401, "Invalid API key", "INVALID_API_KEY")
        if self._is_too_fast(ask.now_ms):
            return exchange.json({"error": "rate limit exceeded"}, status=429)
        body = json_body.read(ask)
        if body is None:
            return _refusal(400, "Invalid JSON", "INVALID_JSON_BODY")
        return _wrong(body) or _found(body)

    def _is_too_fast(self, now_ms: int) -> bool:
        within = sum(now_ms - each < 1000 for each in self._recent_ms)
        if self._enforce_pace and within >= _PER_SECOND:
            return True
        self._recent_ms.append(now_ms)
        return False


def _refusal(status: int, told: str, tag: str) -> Answer:
    body = {"requestId": "loopback", "error": told, "tag": tag}
    return exchange.json(body, status=status, complaint=told)


def _wrong(body: dict[str, Any]) -> Answer | None:
    name = json_body.wrong_field(body, _SHAPE)
    name = name or json_body.wrong_field(body.get("contents", {}), _CONTENTS)
    if not name and not body.get("query", "").strip():
        name = "query"
    if not name and body.get("type", "auto") not in _TYPES:
        name = "type"
    dates = ("startPublishedDate", "endPublishedDate")
    name = name or next((d for d in dates if d in body and not _DATE.fullmatch(body[d])), "")
    if name:
        return _refusal(400, f"Invalid request body: {name}", "INVALID_REQUEST_BODY")
    if not 1 <= body.get("numResults", 10) <= _MAX_RESULTS:
        return _refusal(400, "numResults must be between 1 and 100", "NUM_RESULTS_EXCEEDED")
    return None


def _found(body: dict[str, Any]) -> Answer:
    first, last = body.get("startPublishedDate", "")[:10], body.get("endPublishedDate", "")[:10]
    pages = open_web.find(body["query"], first=first, last=last)[: body.get("numResults", 10)]
    contents = body.get("contents", {})
    return exchange.json(
        {
            "requestId": "loopback",
            "resolvedSearchType": "neural",
            "results": [_result(page, body["query"], contents) for page in pages],
            "costDollars": {"total": 0.005},
            "searchTime": 12.5,
        }
    )


def _result(page: open_web.Found, query: str, contents: dict[str, Any]) -> dict[str, object]:
    result: dict[str, object] = {
        "id": page.url,
        "url": page.url,
        "title": page.title,
        "publishedDate": f"{page.published}T00:00:00.000Z" if page.published else None,
        "author": None,
    }
    if contents.get("highlights"):
        found = open_web.excerpts(page, query)
        result |= {"highlights": found, "highlightScores": [0.4] * len(found)}
    if contents.get("text"):
        result["text"] = page.text
    return result
