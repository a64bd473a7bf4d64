"""www.federalregister.gov: the documents route of API v1.

Strict: unknown conditions, fields, orders and sizes are 400 with `errors`. A search without matches has a count and no
results. No pace is published.
"""

import re
from urllib.parse import parse_qsl

from infra.loopback_web import exchange
from infra.loopback_web.exchange import Answer, Ask
from infra.loopback_web.official import Entry, official
from infra.loopback_web.search import Index

_KNOWN = {"conditions[term]", "order", "per_page", "page", "fields[]", "format"}
_KNOWN |= {"conditions[publication_date][gte]", "conditions[publication_date][lte]"}
_KNOWN |= {"conditions[type][]", "conditions[agencies][]"}
_ORDERS = {"relevance", "newest", "oldest", "executive_order_number"}
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MIN_SHARE = 0.6


class FederalRegister:
    """The journal of the federal government."""

    def __init__(self) -> None:
        """Serve the documents of the corpus."""
        self._entries = official().entry
        self._index = Index([(each.title, each.abstract) for each in self._entries])

    def __call__(self, ask: Ask) -> Answer:
        """Answer one request."""
        if ask.method not in {"GET", "HEAD"}:
            return exchange.method_not_allowed("GET", "HEAD")
        if ask.path != "/api/v1/documents.json":
            return exchange.json({"status": 404, "message": "Record Not Found"}, status=404)
        chosen = [value for name, value in parse_qsl(ask.query) if name == "fields[]"]
        wrong = _wrong(ask.fields, chosen)
        if wrong:
            return exchange.json({"errors": {wrong: "is invalid"}}, status=400, complaint=wrong)
        return self._search(ask.fields, chosen)

    def _search(self, fields: dict[str, str], chosen: list[str]) -> Answer:
        ranked = self._index.rank(fields.get("conditions[term]", ""), share=_MIN_SHARE)
        first = fields.get("conditions[publication_date][gte]", "")
        last = fields.get("conditions[publication_date][lte]", "9999")
        found = [self._entries[number] for number in ranked]
        found = [each for each in found if first <= each.published <= last]
        head = {"count": len(found), "description": "Documents matching"}
        if not found:
            return exchange.json(head)
        results = [
            {name: value for name, value in _entry(each).items() if name in chosen}
            for each in found[: int(fields.get("per_page", "20"))]
        ]
        return exchange.json({**head, "total_pages": 1, "results": results})


def _wrong(fields: dict[str, str], chosen: list[str]) -> str:
    for name in sorted(fields.keys() - _KNOWN):
        return name
    if set(chosen) - _entry(official().entry[0]).keys():
        return "fields"
    if fields.get("order", "newest") not in _ORDERS:
        return "order"
    days = (value for name, value in fields.items() if "publication_date" in name)
    if not all(map(_DAY.fullmatch, days)):
        return "publication_date"
    size = fields.get("per_page", "20")
    return "" if size.isdecimal() and 1 <= int(size) <= 1000 else "per_page"


def _entry(entry: Entry) -> dict[str, object]:
    year, month, day = entry.published.split("-")
    slug = re.sub(r"[^a-z0-9]+", "-", entry.title.lower()).strip("-")
    return {
        "title": entry.title,
        "type": entry.type,
        "abstract": entry.abstract,
        "action": entry.action,
        "document_number": entry.number,
        "citation": entry.citation,
        "html_url": f"https://www.federalregister.gov/documents/{year}/{month}/{day}/{entry.number}/{slug}",
        "publication_date": entry.published,
        "effective_on": entry.effective or None,
        "comments_close_on": entry.close or None,
        "agencies": [{"raw_name": each.upper(), "name": each} for each in entry.agencies],
        "excerpts": None,
    }
