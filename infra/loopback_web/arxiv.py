"""export.arxiv.org: the Atom query interface.

Strict: wrong parameters give an error feed (with status 200, as the older back end does; more than 30,000 results are
400), a second request within three seconds is `429 Rate exceeded.` without Retry-After when rates are enforced.
Queries are clauses joined by AND, OR, ANDNOT from left to right; brackets are not spoken.
"""

import re
from collections.abc import Callable
from xml.sax.saxutils import escape

from infra.ids import digest
from infra.loopback_web import corpus, exchange
from infra.loopback_web.corpus import Paper
from infra.loopback_web.exchange import Answer, Ask
from infra.loopback_web.search import Index, terms

_PACE_MS = 3_000  # arXiv API Terms of Use: one request every three seconds
_KNOWN = {"search_query", "id_list", "start", "max_results", "sortBy", "sortOrder"}
_SORTS = {"relevance", "lastUpdatedDate", "submittedDate"}
_ORDERS = {"ascending", "descending"}
_MAX_TOTAL = 30_000
_ID = re.compile(r"(?:[0-9]{4}\.[0-9]{4,5}|[a-z-]+(?:\.[A-Z]{2})?/[0-9]{7})(?:v[0-9]+)?")
_CLAUSE = re.compile(
    r"\s*(?:(?P<join>ANDNOT|AND|OR)\s+)?(?P<field>ti|au|abs|co|jr|cat|rn|all|submittedDate):"
    r'(?:"(?P<phrase>[^"]*)"|\[(?P<first>\d{8,14}) TO (?P<last>\d{8,14})\]|(?P<word>[^\s"()\[\]]+))\s*'
)
_NAMESPACES = (
    'xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/" xmlns:arxiv="http://arxiv.org/schemas/atom" '
    'xmlns="http://www.w3.org/2005/Atom"'
)

Test = Callable[[Paper], bool]


class Arxiv:
    """The preprint server."""

    def __init__(self, *, enforce_pace: bool = False) -> None:
        """Serve the works that have an arXiv number."""
        self._papers = [paper for paper in corpus.papers() if paper.arxiv]
        self._index = Index([(paper.title, paper.abstract) for paper in self._papers])
        self._pace_ms = _PACE_MS if enforce_pace else 0
        self._last_ms = -_PACE_MS

    def __call__(self, ask: Ask) -> Answer:
        """Answer one request."""
        if ask.path == "/robots.txt":
            return exchange.text("User-agent: *\nDisallow: /\n")
        if ask.path != "/api/query":
            return exchange.page("<html><body>404 Not Found</body></html>", status=404)
        if ask.method not in {"GET", "HEAD", "POST"}:
            return exchange.method_not_allowed("GET", "HEAD", "POST")
        if ask.now_ms - self._last_ms < self._pace_ms or (self._pace_ms and ask.active > 1):
            return exchange.text("Rate exceeded.", status=429)
        self._last_ms = ask.now_ms
        return self._query(ask)

    def _query(self, ask: Ask) -> Answer:
        fields = ask.fields
        wrong = _wrong(fields)
        if wrong:
            return _error(ask, wrong)
        start, size = int(fields.get("start", "0")), int(fields.get("max_results", "10"))
        if start + size > _MAX_TOTAL:
            return _error(ask, "the number of results may not exceed 30000", status=400)
        found = self._matching(fields)
        if found is None:
            return _error(ask, "the search query could not be read")
        return _feed(ask, found, start, size)

    def _matching(self, fields: dict[str, str]) -> list[Paper] | None:
        listed = [each for each in fields.get("id_list", "").split(",") if each]
        pool = [paper for paper in self._papers if not listed or _is_listed(paper, listed)]
        query = fields.get("search_query", "")
        if not query:
            return pool
        test = _reading(query)
        if test is None:
            return None
        return self._sorted([paper for paper in pool if test(paper)], query, fields)

    def _sorted(self, found: list[Paper], query: str, fields: dict[str, str]) -> list[Paper]:
        by, falling = fields.get("sortBy", "relevance"), fields.get("sortOrder") != "ascending"
        if by == "relevance":
            ranked = self._index.rank(re.sub(r"\b[a-zA-Z]+:", " ", query), share=0.0)
            order = {self._papers[number].arxiv: rank for rank, number in enumerate(ranked)}
            return sorted(found, key=lambda paper: order.get(paper.arxiv, len(order)))
        date = "updated" if by == "lastUpdatedDate" else "published"
        return sorted(found, key=lambda paper: str(getattr(paper, date)), reverse=falling)


def _wrong(fields: dict[str, str]) -> str:
    """Return what is wrong with the parameters, in the API's words, or nothing."""
    checks = (
        (bool(fields.keys() - _KNOWN), "unknown parameter"),
        (
            not fields.get("search_query") and not fields.get("id_list"),
            "search_query or id_list must be set",
        ),
        (not fields.get("start", "0").isdecimal(), "start must be non-negative integer"),
        (
            not fields.get("max_results", "10").isdecimal(),
            "max_results must be non-negative integer",
        ),
        (
            fields.get("sortBy", "relevance") not in _SORTS,
            "sortBy must be in: relevance, lastUpdatedDate, submittedDate",
        ),
        (
            fields.get("sortOrder", "descending") not in _ORDERS,
            "sortOrder must be in: ascending, descending",
        ),
        (not _ids_are_formed(fields.get("id_list", "")), "incorrect id format"),
    )
    return next((sentence for is_wrong, sentence in checks if is_wrong), "")


def _ids_are_formed(listed: str) -> bool:
    return all(_ID.fullmatch(each) for each in listed.split(",") if each)


def _is_listed(paper: Paper, listed: list[str]) -> bool:
    return paper.arxiv in listed or paper.arxiv.partition("v")[0] in listed


def _reading(query: str) -> Test | None:
    """Return the query as a test, or None when it does not follow the grammar."""
    at, test = 0, None
    while at < len(query):
        found = _CLAUSE.match(query, at)
        if found is None or (found["join"] is None) != (test is None):
            return None
        clause = _clause(found)
        test = clause if test is None else _joined(test, clause, found["join"])
        at = found.end()
    return test


def _joined(left: Test, right: Test, join: str) -> Test:
    if join == "OR":
        return lambda paper: left(paper) or right(paper)
    if join == "ANDNOT":
        return lambda paper: left(paper) and not right(paper)
    return lambda paper: left(paper) and right(paper)


def _clause(found: re.Match[str]) -> Test:
    field = found["field"]
    if found["first"]:
        first, last = found["first"][:8], found["last"][:8]
        return lambda paper: first <= paper.published.replace("-", "") <= last
    wanted = terms(found["phrase"] if found["phrase"] is not None else found["word"])
    return lambda paper: _holds_in_order(terms(_field_text(paper, field)), wanted)


def _holds_in_order(held: list[str], wanted: list[str]) -> bool:
    size = len(wanted)
    return any(held[at : at + size] == wanted for at in range(len(held) - size + 1))


def _field_text(paper: Paper, field: str) -> str:
    by_field = {
        "ti": paper.title,
        "au": " ; ".join(paper.authors),
        "abs": paper.abstract,
        "co": paper.comment,
        "jr": paper.journal,
        "cat": " ; ".join(paper.categories),
        "rn": "",
    }
    return by_field[field] if field in by_field else " ; ".join(by_field.values())


def _feed(ask: Ask, found: list[Paper], start: int, size: int) -> Answer:
    entries = "".join(_entry(paper) for paper in found[start : start + size])
    return _atom(ask, entries, total=len(found), start=start, size=size)


def _atom(
    ask: Ask, entries: str, *, total: int, start: int = 0, size: int = 1, status: int = 200
) -> Answer:
    query = escape(ask.query)
    body = (
        f"<?xml version='1.0' encoding='UTF-8'?>\n<feed {_NAMESPACES}>\n"
        f"<id>https://arxiv.org/api/{digest(ask.query)[:27]}</id><title>arXiv Query: {query}</title>"
        f'<updated>2026-06-30T00:00:00Z</updated><link href="https://arxiv.org/api/query?{query}" '
        f'type="application/atom+xml"/><opensearch:itemsPerPage>{size}</opensearch:itemsPerPage>'
        f"<opensearch:totalResults>{total}</opensearch:totalResults>"
        f"<opensearch:startIndex>{start}</opensearch:startIndex>{entries}</feed>"
    )
    return exchange.text(body, status=status, kind="application/atom+xml; charset=utf-8")


def _error(ask: Ask, sentence: str, *, status: int = 200) -> Answer:
    entry = (
        f"<entry><id>http://arxiv.org/api/errors#{sentence.replace(' ', '_')}</id><title>Error</title>"
        f"<summary>{escape(sentence)}</summary></entry>"
    )
    answer = _atom(ask, entry, total=1, status=status)
    return Answer(status=status, body=answer.body, headers=answer.headers, complaint=sentence)


def _entry(paper: Paper) -> str:
    address = f"https://arxiv.org/abs/{paper.arxiv}"
    authors = "".join(f"<author><name>{escape(name)}</name></author>" for name in paper.authors)
    categories = "".join(
        f'<category term="{each}" scheme="http://arxiv.org/schemas/atom"/>'
        for each in paper.categories
    )
    return (
        f"<entry><id>http://arxiv.org/abs/{paper.arxiv}</id><title>{escape(paper.title)}</title>"
        f"<updated>{paper.updated}T09:00:00Z</updated><published>{paper.published}T09:00:00Z</published>"
        f"<summary>{escape(paper.abstract)}</summary>{authors}"
        f'<link href="{address}" rel="alternate" type="text/html"/>{_optional(paper)}{categories}</entry>'
    )


def _optional(paper: Paper) -> str:
    doi, journal = escape(paper.doi), escape(_journal_reference(paper))
    parts = (
        f'<link title="doi" href="https://doi.org/{doi}" rel="related"/><arxiv:doi>{doi}</arxiv:doi>'
        if doi
        else "",
        f"<arxiv:comment>{escape(paper.comment)}</arxiv:comment>" if paper.comment else "",
        f"<arxiv:journal_ref>{journal}</arxiv:journal_ref>" if journal else "",
    )
    return "".join(parts)


def _journal_reference(paper: Paper) -> str:
    year = f"({paper.issued[0]})" if paper.issued else ""
    return (
        " ".join(filter(None, (paper.journal, paper.volume, paper.page, year)))
        if paper.journal
        else ""
    )
