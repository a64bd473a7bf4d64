"""doaj.org: the article search, with the query in the path.

Strict: unknown parameters, pages over a hundred and queries that cannot be read are 400; a plus sign in the path is a
plus sign, so it finds nothing. When rates are enforced: two requests a second with bursts of five, then 429 in HTML.
"""

from urllib.parse import unquote

from infra.ids import digest
from infra.loopback_web import corpus, exchange
from infra.loopback_web.corpus import Paper
from infra.loopback_web.exchange import Answer, Ask
from infra.loopback_web.library import (
    Fields,
    Library,
    Pace,
    day_of,
    matching,
    number,
    read_query,
    unknown,
)

_ROOT = "/api/search/articles/"
_KNOWN = frozenset({"page", "pageSize", "sort"})
_FIELDS: Fields = {"doi": lambda paper: paper.doi, "bibjson.year": lambda paper: day_of(paper)[:4]}
_MAX_PAGE, _MAX_DEPTH = 100, 1_000


class Doaj:
    """The directory of open access journals."""

    def __init__(self, *, enforce_pace: bool = False) -> None:
        """Serve the works of journals that have an abstract."""
        papers = corpus.papers()
        self._library = Library([each for each in papers if each.journal and each.abstract])
        self._pace = Pace(5, 2_500, enforced=enforce_pace)

    def __call__(self, ask: Ask) -> Answer:
        """Answer one request."""
        if ask.method not in {"GET", "HEAD"}:
            return exchange.method_not_allowed("GET", "HEAD")
        if self._pace.refuses(ask.now_ms):
            return exchange.page("<html><title>429 Too Many Requests</title></html>", status=429)
        if not ask.path.startswith(_ROOT):
            return exchange.page(
                "<!doctype html><html><title>403 Forbidden</title></html>", status=403
            )
        return self._search(unquote(ask.path.removeprefix(_ROOT)), ask.fields)

    def _search(self, text: str, fields: dict[str, str]) -> Answer:
        wrong = _wrong(fields)
        query = read_query(text)
        found = matching(self._library, query, _FIELDS) if query and "+" not in text else []
        if wrong or query is None or found is None:
            return _refusal(wrong or "Query contains disallowed Lucene features")
        size, page = number(fields, "pageSize", 10), number(fields, "page", 1)
        shown = [_record(paper) for paper in found[(page - 1) * size : page * size]]
        told = {"total": len(found), "page": page, "pageSize": size, "query": text}
        return exchange.json({**told, "results": shown})


def _refusal(sentence: str) -> Answer:
    body = {"status": "bad_request", "error": sentence}
    return exchange.json(body, status=400, complaint=sentence)


def _wrong(fields: dict[str, str]) -> str:
    strange = unknown(fields, _KNOWN)
    size, page = number(fields, "pageSize", 10), number(fields, "page", 1)
    if strange:
        return f"Unknown parameter {strange}"
    if not 1 <= size <= _MAX_PAGE:
        return "Page size must be between 1 and 100"
    return (
        ""
        if page >= 1 and page * size <= _MAX_DEPTH
        else "You cannot access results beyond 1000 records"
    )


def _record(paper: Paper) -> dict[str, object]:
    first, _dash, last = paper.page.partition("-")
    months = {"month": str(paper.issued[1])} if len(paper.issued) > 1 else {}
    article = {
        "title": paper.title,
        "abstract": paper.abstract,
        "year": str(paper.issued[0]),
        **months,
        "author": [{"name": name} for name in paper.authors],
        "identifier": [{"id": "9999-0001", "type": "pissn"}, {"id": paper.doi, "type": "doi"}],
        "link": [{"type": "fulltext", "url": f"https://journal.test/{paper.doi}"}],
        "journal": {
            "title": paper.journal,
            "publisher": paper.publisher,
            "volume": paper.volume,
            "number": paper.issue,
            "language": [paper.language.upper()],
        },
        "start_page": first,
        "end_page": last,
    }
    return {"id": digest(paper.doi), "bibjson": article, "last_updated": "2026-01-01T00:00:00Z"}
