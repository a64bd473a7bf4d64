"""www.courtlistener.com: the search route of REST API v4, opinions only.

Strict: an unknown type, order or date is 400; it ignores parameters it does not know, which the log notes. When rates
are enforced: five requests a minute from who has no account, then 429 with Retry-After.
"""

import re

from infra.loopback_web import exchange
from infra.loopback_web.exchange import Answer, Ask
from infra.loopback_web.library import Pace
from infra.loopback_web.official import Opinion, official
from infra.loopback_web.search import Index

_KNOWN = {"q", "type", "order_by", "filed_after", "filed_before", "court", "cursor", "highlight"}
_KNOWN |= {"format", "cited_gt", "stat_Published"}
_ORDERS = {"score desc", "dateFiled desc", "dateFiled asc", "citeCount desc"}
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MIN_SHARE = 0.5
_PAGE = 20


class CourtListener:
    """Opinions of courts."""

    def __init__(self, *, enforce_pace: bool = False) -> None:
        """Serve the opinions of the corpus."""
        self._opinions = official().opinion
        self._index = Index([(each.name, each.text) for each in self._opinions])
        self._pace = Pace(5, 60_000, enforced=enforce_pace)

    def __call__(self, ask: Ask) -> Answer:
        """Answer one request."""
        if ask.method not in {"GET", "HEAD"}:
            return exchange.method_not_allowed("GET", "HEAD")
        if ask.path != "/api/rest/v4/search/":
            return exchange.json({"detail": "Not found."}, status=404)
        if self._pace.refuses(ask.now_ms):
            message = "Request was throttled. Expected available in 60 seconds."
            return exchange.json({"detail": message}, status=429, retry_after="60")
        wrong = _wrong(ask.fields)
        if wrong:
            return exchange.json({"detail": wrong}, status=400, complaint=wrong)
        found = [each for each in self._found(ask.fields["q"]) if _passes(each, ask.fields)]
        body = {
            "count": len(found),
            "next": None,
            "previous": None,
            "results": [_result(each) for each in found[:_PAGE]],
        }
        return exchange.json(body, complaint=", ".join(sorted(ask.fields.keys() - _KNOWN)))

    def _found(self, query: str) -> list[Opinion]:
        if query.startswith('"'):
            return [each for each in self._opinions if query.strip('"') in each.citations]
        return [self._opinions[number] for number in self._index.rank(query, share=_MIN_SHARE)]


def _wrong(fields: dict[str, str]) -> str:
    if fields.get("type", "o") != "o":
        return "Invalid type"
    if fields.get("order_by", "score desc") not in _ORDERS:
        return "Invalid order_by"
    days = (fields.get("filed_after", "2000-01-01"), fields.get("filed_before", "2000-01-01"))
    if not all(map(_DAY.fullmatch, days)):
        return "Enter a valid date."
    return "" if fields.get("q") else "A query is required."


def _passes(opinion: Opinion, fields: dict[str, str]) -> bool:
    return fields.get("filed_after", "") <= opinion.filed <= fields.get("filed_before", "9999")


def _result(opinion: Opinion) -> dict[str, object]:
    return {
        "absolute_url": f"/opinion/{opinion.id}/{opinion.slug}/",
        "caseName": opinion.name,
        "caseNameFull": "",
        "citation": opinion.citations,
        "citeCount": opinion.cites,
        "cluster_id": opinion.id,
        "court": opinion.court,
        "court_id": opinion.court_id,
        "dateArgued": None,
        "dateFiled": opinion.filed,
        "docketNumber": opinion.docket,
        "judge": opinion.judge,
        "status": "Published",
        "syllabus": "",
        "meta": {"timestamp": "2026-01-01T00:00:00Z", "score": {"bm25": 1.0}},
        "opinions": [{"id": opinion.id, "type": "lead-opinion", "snippet": opinion.text}],
    }
