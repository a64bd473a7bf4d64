"""api.fda.gov: the drug label route.

Strict: unknown parameters, a limit above 1000 and a query it cannot read are 400; no match is 404 with NOT_FOUND. When
rates are enforced: 240 requests a minute, then 429 with OVER_RATE_LIMIT.
"""

import re

from infra.loopback_web import exchange
from infra.loopback_web.exchange import Answer, Ask
from infra.loopback_web.library import Pace
from infra.loopback_web.official import Label, official
from infra.loopback_web.search import terms

_KNOWN = {"search", "limit", "skip", "sort", "count", "api_key"}
_CLAUSE = re.compile(r"openfda\.(generic_name|brand_name|substance_name):\(([^()]*)\)")
_SINCE = re.compile(r"^\((.+)\) AND effective_time:\[([0-9]{8}) TO ([0-9]{8})\]$")


class OpenFda:
    """Labels of drugs."""

    def __init__(self, *, enforce_pace: bool = False) -> None:
        """Serve the labels of the corpus."""
        self._labels = official().label
        self._pace = Pace(240, 60_000, enforced=enforce_pace)

    def __call__(self, ask: Ask) -> Answer:
        """Answer one request."""
        if ask.method not in {"GET", "HEAD"}:
            return exchange.method_not_allowed("GET", "HEAD")
        if self._pace.refuses(ask.now_ms):
            return _error(429, "OVER_RATE_LIMIT", "You have exceeded your rate limit.")
        if ask.path != "/drug/label.json":
            return _error(404, "NOT_FOUND", "Not found")
        unknown = sorted(ask.fields.keys() - _KNOWN)
        if unknown:
            return _error(400, "BAD_REQUEST", f"Invalid parameter: {unknown[0]}")
        limit = ask.fields.get("limit", "1")
        if not limit.isdecimal() or int(limit) > 1000:
            return _error(400, "BAD_REQUEST", "Limit cannot exceed 1000 results")
        return self._search(ask.fields.get("search", ""), int(limit))

    def _search(self, query: str, limit: int) -> Answer:
        since = _SINCE.fullmatch(query)
        body = since[1] if since else query
        clauses = _CLAUSE.findall(body)
        if not clauses or _CLAUSE.sub("", body).strip():
            return _error(400, "BAD_REQUEST", "Search not parseable")
        found = [each for each in self._labels if _matches(each, clauses)]
        if since:
            found = [each for each in found if since[2] <= each.effective <= since[3]]
        if not found:
            return _error(404, "NOT_FOUND", "No matches found!")
        results = {"skip": 0, "limit": limit, "total": len(found)}
        meta = {"license": "https://open.fda.gov/license/", "results": results}
        return exchange.json({"meta": meta, "results": [_label(each) for each in found[:limit]]})


def _matches(label: Label, clauses: list[tuple[str, str]]) -> bool:
    names = {
        "generic_name": label.generic,
        "brand_name": label.brand,
        "substance_name": label.substance,
    }
    return any(set(terms(names[field])) & set(terms(words)) for field, words in clauses)


def _error(status: int, code: str, message: str) -> Answer:
    complaint = "" if code == "NOT_FOUND" else message
    return exchange.json(
        {"error": {"code": code, "message": message}}, status=status, complaint=complaint
    )


def _label(label: Label) -> dict[str, object]:
    sections = {
        "indications_and_usage": label.indications,
        "dosage_and_administration": label.dosage,
        "adverse_reactions": label.adverse,
    }
    return {
        "id": label.set_id[::-1],
        "set_id": label.set_id,
        "effective_time": label.effective,
        "openfda": {
            "brand_name": [label.brand],
            "generic_name": [label.generic],
            "substance_name": [label.substance],
            "manufacturer_name": [label.maker],
            "route": [label.route],
            "product_type": [label.product],
            "application_number": [label.number],
        },
        **{name: [text] for name, text in sections.items() if text},
    }
