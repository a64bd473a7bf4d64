"""efts.sec.gov, the full-text search of filings, and www.sec.gov, where they are kept.

Strict: a User-Agent without a mail address, or with a web address or brackets, is 403 with a page of HTML; so are more
than ten requests a second when rates are enforced. Wrong dates and unknown parameters are 400.
"""

import re

from infra.loopback_web import exchange
from infra.loopback_web.exchange import Answer, Ask
from infra.loopback_web.library import Pace
from infra.loopback_web.official import Filing, official
from infra.loopback_web.search import Index

_KNOWN = {"q", "dateRange", "startdt", "enddt", "forms", "from", "ciks", "category", "entityName"}
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_UNDECLARED = (
    "<!DOCTYPE html><html><head><title>SEC.gov | Your Request Originates from an Undeclared Automated Tool</title>"
    "</head><body><h1>Your Request Originates from an Undeclared Automated Tool</h1></body></html>"
)
_TOO_FAST = (
    "<!DOCTYPE html><html><head><title>SEC.gov | Request Rate Threshold Exceeded</title></head><body>"
    "<h1>Request Rate Threshold Exceeded</h1></body></html>"
)


class Edgar:
    """Both hosts of the SEC; they count requests together."""

    def __init__(self, *, enforce_pace: bool = False) -> None:
        """Serve the filings of the corpus."""
        self._filings = official().filing
        self._index = Index(
            [(each.name, f"{each.description} {each.text}") for each in self._filings]
        )
        self._pace = Pace(10, 1000, enforced=enforce_pace)

    def __call__(self, ask: Ask) -> Answer:
        """Answer one request."""
        if ask.method not in {"GET", "HEAD"}:
            return exchange.method_not_allowed("GET", "HEAD")
        if ask.path == "/robots.txt":
            return exchange.text("User-agent: *\nAllow: /Archives/edgar/data\nDisallow: /cgi-bin\n")
        if not _is_declared(ask.headers.get("user-agent", "")):
            return exchange.page(_UNDECLARED, status=403)
        if self._pace.refuses(ask.now_ms):
            return exchange.page(_TOO_FAST, status=403)
        return self._search(ask) if ask.host == "efts.sec.gov" else self._page(ask.path)

    def _search(self, ask: Ask) -> Answer:
        fields = ask.fields
        if ask.path != "/LATEST/search-index":
            return exchange.json({"message": "Missing Authentication Token"}, status=403)
        wrong = _wrong(fields)
        if wrong:
            return exchange.json({"message": "Bad request"}, status=400, complaint=wrong)
        ranked = self._index.rank(fields["q"], share=1.0)
        found = [self._filings[number] for number in ranked]
        hits = [_hit(each) for each in found if _passes(each, fields)]
        total = {"value": len(hits), "relation": "eq"}
        return exchange.json(
            {
                "took": 5,
                "timed_out": False,
                "hits": {"total": total, "max_score": 1.0, "hits": hits},
            }
        )

    def _page(self, path: str) -> Answer:
        filing = next((each for each in self._filings if each.path == path), None)
        if filing is None:
            return exchange.page("<html><body><h1>404 Not Found</h1></body></html>", status=404)
        title = f"{filing.name} {filing.form}"
        parts = "".join(f"<p>{each}</p>" for each in filing.text.strip().split("\n\n"))
        return exchange.page(
            f"<!DOCTYPE html><html><head><title>{title}</title></head><body><h1>{title}</h1>{parts}</body></html>"
        )


def _is_declared(agent: str) -> bool:
    return "@" in agent and "://" not in agent and "(" not in agent


def _wrong(fields: dict[str, str]) -> str:
    unknown = fields.keys() - _KNOWN
    if unknown or not fields.get("q"):
        return f"unknown or missing: {', '.join(sorted(unknown)) or 'q'}"
    if ("startdt" in fields or "enddt" in fields) and fields.get("dateRange") != "custom":
        return "dates without dateRange=custom"
    days = (fields.get("startdt", "2001-01-01"), fields.get("enddt", "2001-01-01"))
    return "" if all(map(_DAY.fullmatch, days)) else "a date"


def _passes(filing: Filing, fields: dict[str, str]) -> bool:
    forms = fields.get("forms")
    return (not forms or filing.form in forms.split(",")) and (
        fields.get("startdt", "") <= filing.filed <= fields.get("enddt", "9999")
    )


def _hit(filing: Filing) -> dict[str, object]:
    number = filing.id.partition(":")[0]
    source = {
        "ciks": [filing.cik],
        "display_names": [f"{filing.name}  ({filing.ticker})  (CIK {filing.cik})"],
        "form": filing.form,
        "root_forms": [filing.form],
        "file_type": filing.form,
        "file_description": filing.description,
        "file_date": filing.filed,
        "period_ending": filing.period,
        "adsh": number,
        "sequence": "1",
    }
    return {"_index": "edgar_file", "_id": filing.id, "_score": 1.0, "_source": source}
