"""developer.mozilla.org: the search of MDN Web Docs, and the pages it finds.

Strict as the real one is: no query, a locale that is none, and pages out of range are 400 with `errors` by parameter.
Unknown parameters are passed over, which is a complaint in the log. No rate is published. robots.txt forbids /api/,
which is for crawlers of pages; the search is asked under its own terms.
"""

import html
import tomllib
from functools import lru_cache
from urllib.parse import parse_qsl

import msgspec
from msgspec import Struct

from infra.loopback_web import exchange
from infra.loopback_web.corpus import FOLDER
from infra.loopback_web.exchange import Answer, Ask
from infra.loopback_web.search import Index

_KNOWN = {"q", "locale", "page", "size", "sort", "highlight", "include_archive"}
_LOCALES = {"de", "en-us", "es", "fr", "ja", "ko", "pt-br", "ru", "zh-cn", "zh-tw"}
_SORTS = {"best", "relevance", "popularity"}
_MAX_QUERY_CHARS = 200
_MAX_PAGE, _MAX_SIZE = 10, 100


class Page(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A page of the reference."""

    path: str
    locale: str
    title: str
    summary: str
    text: str


@lru_cache(maxsize=1)
def pages() -> tuple[Page, ...]:
    """Return all pages."""
    rows = tomllib.loads((FOLDER / "mdn.toml").read_text("utf-8"))["page"]
    return msgspec.convert(rows, tuple[Page, ...])


class Mdn:
    """A reference of the web."""

    def __init__(self) -> None:
        """Index titles and texts."""
        self._index = Index([(each.title, each.text) for each in pages()])

    def __call__(self, ask: Ask) -> Answer:
        """Answer one request."""
        if ask.method not in {"GET", "HEAD"}:
            return exchange.method_not_allowed("GET", "HEAD")
        if ask.path == "/robots.txt":
            return exchange.text("User-agent: *\nDisallow: /api/\nDisallow: /*/search\n")
        if ask.path == "/api/v1/search":
            return self._search(ask)
        found = next((each for each in pages() if each.path == ask.path), None)
        return exchange.page(_html(found)) if found else exchange.page(_NOT_FOUND, status=404)

    def _search(self, ask: Ask) -> Answer:
        fields = ask.fields
        locales = [value.lower() for name, value in parse_qsl(ask.query) if name == "locale"]
        wrong = _wrong(fields, locales)
        if wrong:
            name, message, code = wrong
            errors = {name: [{"message": message, "code": code}]}
            return exchange.json({"errors": errors}, status=400, complaint=f"{name}: {code}")
        ranked = [pages()[number] for number in self._index.rank(fields["q"], share=1.0)]
        found = [each for each in ranked if each.locale in (locales or ["en-us"])]
        size, page = int(fields.get("size", "10")), int(fields.get("page", "1"))
        shown = found[(page - 1) * size : page * size]
        total = {"value": len(found), "relation": "eq"}
        unknown = ", ".join(sorted(fields.keys() - _KNOWN))
        return exchange.json(
            {
                "documents": [_document(each) for each in shown],
                "metadata": {"took_ms": 2, "total": total, "size": size, "page": page},
                "suggestions": [],
            },
            complaint=f"passed over: {unknown}" if unknown else "",
        )


def _wrong(fields: dict[str, str], locales: list[str]) -> tuple[str, str, str] | None:
    """Return parameter, message and code of the first mistake."""
    query = fields.get("q", "").strip()
    if not query:
        return "q", "This field is required.", "required"
    if len(query) > _MAX_QUERY_CHARS:
        return "q", "Ensure this value has at most 200 characters.", "max_length"
    if not set(locales) <= _LOCALES:
        return "locale", "Not a valid locale.", "invalid_choice"
    if fields.get("sort", "best") not in _SORTS:
        return "sort", "Not a valid choice.", "invalid_choice"
    for name, most in (("page", _MAX_PAGE), ("size", _MAX_SIZE)):
        value = fields.get(name, "1")
        if not value.isdecimal() or not 1 <= int(value) <= most:
            return name, f"Ensure this value is between 1 and {most}.", "max_value"
    return None


def _document(page: Page) -> dict[str, object]:
    return {
        "mdn_url": page.path,
        "score": 10.0,
        "title": page.title,
        "locale": page.locale,
        "slug": page.path.partition("/docs/")[2].lower(),
        "popularity": 0.1,
        "summary": page.summary,
        "highlight": {"body": [], "title": []},
    }


_NOT_FOUND = "<!DOCTYPE html><html><body><h1>Page not found</h1></body></html>"


def _html(page: Page) -> str:
    paragraphs = "".join(f"<p>{html.escape(part)}</p>" for part in page.text.strip().split("\n\n"))
    title, language = html.escape(page.title), page.path.split("/")[1]
    return (
        f'<!DOCTYPE html><html lang="{language}"><head><meta charset="utf-8"><title>{title} | MDN</title></head>'
        f"<body><main><article><h1>{title}</h1>{paragraphs}</article></main></body></html>"
    )
