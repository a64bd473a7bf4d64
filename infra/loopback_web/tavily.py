"""api.tavily.com: the search of the Tavily API.

Strict: the key is a bearer token (401 without); unknown fields, values out of range, and `days` beside a date are 400.
When rates are enforced: one request in 600 ms, the pace of a development key.
"""

import re
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any, Final

from infra.loopback_web import exchange, json_body, open_web
from infra.loopback_web.exchange import Answer, Ask

KEY = re.compile(r"tvly-[A-Za-z0-9_-]{8,}")
_TEXTS: Final = ("query", "search_depth", "topic", "time_range", "start_date", "end_date")
_SHAPE: Final[dict[str, type | tuple[type, ...]]] = {
    **dict.fromkeys((*_TEXTS, "country", "language", "include_domains_mode"), str),
    **dict.fromkeys(("days", "max_results", "max_age_hours", "chunks_per_source"), int),
    **dict.fromkeys(("include_domains", "exclude_domains"), list),
    **dict.fromkeys(("include_answer", "include_raw_content"), (bool, str)),
    **dict.fromkeys(("include_images", "include_favicon", "include_usage", "exact_match"), bool),
    **dict.fromkeys(("auto_parameters", "filter_by_language", "cache_fallback"), bool),
    "fetch_timeout": (int, float),
}
_ALLOWED: Final = {
    "query": re.compile(r"[\s\S]{1,400}"),
    "search_depth": re.compile(r"basic|advanced|fast|ultra-fast"),
    "topic": re.compile(r"general|news|finance"),
    "time_range": re.compile(r"day|week|month|year"),
    "start_date": re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}"),
    "end_date": re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}"),
}
# Yes, no, or how.
_OR_WORDS: Final = {
    "include_answer": (True, False, "basic", "advanced"),
    "include_raw_content": (True, False, "markdown", "text"),
}
_MAX_RESULTS: Final = 20
_PAUSE_MS: Final = 600


class Tavily:
    """Search for the questions of programs."""

    def __init__(self, *, enforce_pace: bool = False) -> None:
        """Serve the open web."""
        self._enforce_pace = enforce_pace
        self._last_ms = -_PAUSE_MS

    def __call__(self, ask: Ask) -> Answer:
        """Answer one request."""
        if ask.path != "/search":
            return _refusal(404, "Not found.")
        if ask.method != "POST":
            return exchange.method_not_allowed("POST")
        if not KEY.fullmatch(json_body.bearer(ask)):
            return _refusal(401, "Unauthorized: missing or invalid API key.")
        if self._enforce_pace and ask.now_ms - self._last_ms < _PAUSE_MS:
            return _refusal(429, "Your request has been blocked due to excessive requests.")
        self._last_ms = ask.now_ms
        body = json_body.read(ask)
        wrong = "Invalid JSON." if body is None else _wrong(body)
        return _refusal(400, wrong) if body is None or wrong else _found(body)


def _refusal(status: int, told: str) -> Answer:
    return exchange.json({"detail": {"error": told}}, status=status, complaint=told)


def _wrong(body: dict[str, Any]) -> str:
    name = json_body.wrong_field(body, _SHAPE)
    if name:
        return f"Invalid field: {name}."
    if "query" not in body:
        return "Query is missing."
    bad = [each for each in _ALLOWED if each in body and not _ALLOWED[each].fullmatch(body[each])]
    bad += [name for name, more in _OR_WORDS.items() if body.get(name, True) not in more]
    if not 0 <= body.get("max_results", 5) <= _MAX_RESULTS:
        bad.append("max_results")
    if bad:
        return f"Invalid {bad[0]}."
    if "days" in body and {"start_date", "end_date"} & body.keys():
        return "When days is set, start_date or end_date cannot be set."
    return ""


def _found(body: dict[str, Any]) -> Answer:
    query = body["query"]
    first, last = body.get("start_date", ""), body.get("end_date", "")
    pages = open_web.find(query, first=first, last=last)[: body.get("max_results", 5)]
    return exchange.json(
        {
            "query": query,
            "follow_up_questions": None,
            "answer": _answer(pages, query) if body.get("include_answer") else None,
            "images": [],
            "results": [
                _result(page, query, 1 / at, dated=body.get("topic") == "news")
                for at, page in enumerate(pages, 1)
            ],
            "response_time": 0.42,
            "request_id": "loopback",
        }
    )


def _answer(pages: list[open_web.Found], query: str) -> str:
    """Say in the words of the best page what a model would say in its own."""
    return open_web.excerpts(pages[0], query)[0] if pages else ""


def _result(page: open_web.Found, query: str, score: float, *, dated: bool) -> dict[str, object]:
    result: dict[str, object] = {
        "title": page.title,
        "url": page.url,
        "content": " [...] ".join(open_web.excerpts(page, query)),
        "score": round(score, 4),
        "raw_content": None,
    }
    if dated and page.published:
        day = datetime.fromisoformat(page.published).replace(tzinfo=UTC)
        result["published_date"] = format_datetime(day, usegmt=True)
    return result
