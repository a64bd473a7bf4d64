"""A SearXNG instance: `/search` with JSON, and one as it comes from the box, where only HTML is enabled.

Strict where the program is: a format that is not enabled is 403, a value out of range is 400. Parameters that it does
not know it ignores, as the program does, and complains of in the log. One of its engines never answers.
"""

import html
import re
from typing import Final
from urllib.parse import parse_qsl

from infra.loopback_web import exchange, open_web
from infra.loopback_web.exchange import Answer, Ask

_KNOWN: Final = frozenset(
    {"q", "categories", "engines", "language", "pageno", "time_range", "format", "safesearch"}
)
_FORMATS: Final = frozenset({"html", "json", "csv", "rss"})
_ALLOWED: Final = {
    "time_range": re.compile(r"|day|week|month|year"),
    "safesearch": re.compile(r"[012]"),
    "pageno": re.compile(r"[1-9][0-9]{0,3}"),
    "language": re.compile(r"auto|all|[a-z]{2,3}(?:-[A-Za-z]{2,4})?"),
}
_PAGE: Final = 10


class Searxng:
    """One instance; `formats` are those that its operator enabled."""

    def __init__(self, *, formats: frozenset[str] = frozenset({"html"})) -> None:
        """Serve these formats."""
        self._formats = formats

    def __call__(self, ask: Ask) -> Answer:
        """Answer one request."""
        if ask.method not in {"GET", "POST", "HEAD"}:
            return exchange.method_not_allowed("GET", "POST")
        if ask.path != "/search":
            return exchange.page("<h1>Page not found</h1>", status=404)
        fields = ask.fields if ask.method != "POST" else dict(parse_qsl(ask.body.decode("latin-1")))
        form = fields.get("format", "html")
        if form not in self._formats or form not in _FORMATS:
            return exchange.page("<!doctype html><title>403 Forbidden</title>", status=403)
        wrong = _wrong(fields)
        if wrong:
            return _refusal(wrong, form)
        return self._found(fields, form)

    def _found(self, fields: dict[str, str], form: str) -> Answer:
        query = fields["q"]
        start = (int(fields.get("pageno", "1")) - 1) * _PAGE
        pages = open_web.find(query)[start : start + _PAGE]
        if form != "json":
            titles = "".join(f"<li>{html.escape(page.title)}</li>" for page in pages)
            return exchange.page(f"<!doctype html><title>SearXNG</title><ul>{titles}</ul>")
        unknown = sorted(fields.keys() - _KNOWN)
        return exchange.json(
            {
                "query": query,
                "results": [_result(page, query, at) for at, page in enumerate(pages, 1)],
                "answers": [],
                "corrections": [],
                "infoboxes": [],
                "suggestions": [],
                "unresponsive_engines": [["google", "Suspended: too many requests"]],
            },
            complaint=f"unknown parameters: {', '.join(unknown)}" if unknown else "",
        )


def _wrong(fields: dict[str, str]) -> str:
    if not fields.get("q", "").strip():
        return "No query"
    for name, allowed in _ALLOWED.items():
        if name in fields and not allowed.fullmatch(fields[name]):
            return f"Invalid value for parameter {name}"
    return ""


def _refusal(wrong: str, form: str) -> Answer:
    if form == "json":
        return exchange.json({"error": wrong}, status=400, complaint=wrong)
    return exchange.page("<!doctype html><title>400 Bad Request</title>", status=400)


def _result(page: open_web.Found, query: str, position: int) -> dict[str, object]:
    scheme, _, rest = page.url.partition("://")
    host, _, path = rest.partition("/")
    return {
        "url": page.url,
        "title": page.title,
        "content": " ".join(open_web.excerpts(page, query)),
        "engine": "brave",
        "engines": ["brave"],
        "parsed_url": [scheme, host, f"/{path}", "", "", ""],
        "template": "default.html",
        "positions": [position],
        "score": round(1 / position, 4),
        "category": "general",
        "publishedDate": f"{page.published}T00:00:00" if page.published else None,
        "pubdate": "",
        "thumbnail": "",
        "img_src": "",
        "priority": "",
        "author": "",
        "metadata": "",
    }
