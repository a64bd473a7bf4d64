"""content.guardianapis.com: the search route of the Open Platform, over the invented newspaper.

Strict: without a key 401, unknown parameters and wrong values 400. When rates are enforced: one request a second, then
429.
"""

import re

from infra.loopback_web import exchange
from infra.loopback_web.corpus import Story, stories
from infra.loopback_web.exchange import Answer, Ask
from infra.loopback_web.library import Pace
from infra.loopback_web.search import Index

_KNOWN = {"q", "page-size", "page", "order-by", "show-fields", "from-date", "to-date", "use-date"}
_KNOWN |= {"api-key", "section", "lang", "format"}
_ORDERS = {"relevance", "newest", "oldest"}
_DATES = {"published", "first-publication", "newspaper-edition", "last-modified"}
_SHOWN = {"headline", "trailText", "bodyText", "byline", "body", "standfirst", "wordcount", "all"}
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class Guardian:
    """Articles of a newspaper."""

    def __init__(self, *, enforce_pace: bool = False) -> None:
        """Serve the newspaper's articles under the Guardian's addresses."""
        self._stories = stories()
        self._index = Index([(each.title, f"{each.summary} {each.text}") for each in self._stories])
        self._pace = Pace(1, 1000, enforced=enforce_pace)

    def __call__(self, ask: Ask) -> Answer:
        """Answer one request."""
        if ask.method not in {"GET", "HEAD"}:
            return exchange.method_not_allowed("GET", "HEAD")
        if not ask.fields.get("api-key"):
            return exchange.json({"message": "No API key found in request"}, status=401)
        if self._pace.refuses(ask.now_ms):
            return exchange.json({"message": "API rate limit exceeded"}, status=429)
        if ask.path != "/search":
            return _error(404, "The requested resource could not be found.")
        wrong = _wrong(ask.fields)
        return _error(400, wrong) if wrong else self._search(ask.fields)

    def _search(self, fields: dict[str, str]) -> Answer:
        words = fields.get("q", "").replace(" AND ", " ")
        found = [self._stories[number] for number in self._index.rank(words, share=1.0)]
        first, last = fields.get("from-date", ""), fields.get("to-date", "9999")
        found = [each for each in found if first <= each.published[:10] <= last]
        size = int(fields.get("page-size", "10"))
        shown = set(filter(None, fields.get("show-fields", "").split(",")))
        response = {
            "status": "ok",
            "userTier": "developer",
            "total": len(found),
            "startIndex": 1,
            "pageSize": size,
            "currentPage": 1,
            "results": [_item(each, shown) for each in found[:size]],
        }
        return exchange.json({"response": response})


def _wrong(fields: dict[str, str]) -> str:
    for name in sorted(fields.keys() - _KNOWN):
        return f"unknown parameter {name}"
    size = fields.get("page-size", "10")
    if not size.isdecimal() or not 1 <= int(size) <= 200:
        return "page-size must be an integer between 1 and 200"
    if fields.get("order-by", "newest") not in _ORDERS:
        return "order-by"
    if fields.get("use-date", "published") not in _DATES:
        return "use-date"
    if not set(filter(None, fields.get("show-fields", "").split(","))) <= _SHOWN:
        return "show-fields"
    days = (fields.get("from-date", "2000-01-01"), fields.get("to-date", "2000-01-01"))
    return "" if all(map(_DAY.fullmatch, days)) else "date"


def _error(status: int, message: str) -> Answer:
    body = {"response": {"status": "error", "message": message}}
    return exchange.json(body, status=status, complaint=message)


def _item(story: Story, shown: set[str]) -> dict[str, object]:
    fields = {
        "headline": story.title,
        "trailText": story.summary,
        "bodyText": story.text.strip(),
        "byline": story.author,
    }
    return {
        "id": story.path.strip("/"),
        "type": "article",
        "sectionName": "News",
        "webPublicationDate": story.published,
        "webTitle": story.title,
        "webUrl": f"https://www.theguardian.com{story.path}",
        "fields": {name: text for name, text in fields.items() if name in shown},
    }
