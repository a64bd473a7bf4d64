"""api.datacite.org: the dois routes, over data sets of this project.

Strict: unknown parameters, sizes over a thousand and queries that cannot be read are 400, an unknown DOI is 404, both
as JSON:API errors. When rates are enforced: a thousand requests in five minutes with a mail address, five hundred
without, then 429 with Retry-After and a page of HTML.
"""

import re
from urllib.parse import unquote

from infra.loopback_web import exchange
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
    register,
    unknown,
)

_KNOWN = frozenset(
    re.findall(
        r"\S+",
        "query sort page[size] page[number] page[cursor] mailto resource-type-id published include",
    )
)
_FIELDS: Fields = {
    "doi": lambda paper: paper.doi,
    "publicationYear": lambda paper: day_of(paper)[:4],
}
_MAX_PAGE, _MAX_DEPTH = 1_000, 10_000
_SORTS = {"relevance", "name", "-name", "created", "-created", "updated", "-updated"}


class DataCite:
    """The register of research data."""

    def __init__(self, *, enforce_pace: bool = False) -> None:
        """Serve the data sets of the corpus."""
        self._library = Library(register("dataset"))
        self._named = Pace(1_000, 300_000, enforced=enforce_pace)
        self._nameless = Pace(500, 300_000, enforced=enforce_pace)

    def __call__(self, ask: Ask) -> Answer:
        """Answer one request."""
        if ask.method not in {"GET", "HEAD"}:
            return exchange.method_not_allowed("GET", "HEAD")
        is_named = "@" in ask.fields.get("mailto", "") or "@" in ask.headers.get("user-agent", "")
        if (self._named if is_named else self._nameless).refuses(ask.now_ms):
            body = "<html><head><title>429 Too Many Requests</title></head></html>"
            return exchange.page(body, status=429, retry_after="300")
        wrong = _wrong(ask.fields)
        return _refusal(wrong) if wrong else self._route(ask)

    def _route(self, ask: Ask) -> Answer:
        if ask.path.rstrip("/") == "/dois":
            return self._list(ask.fields)
        paper = self._library.by_doi(unquote(ask.path.removeprefix("/dois/")))
        if paper is None or not ask.path.startswith("/dois/"):
            return _refusal("The resource you are looking for doesn't exist.", status=404)
        return exchange.json({"data": _record(paper)})

    def _list(self, fields: dict[str, str]) -> Answer:
        found = self._found(fields.get("query", ""))
        if found is None:
            return _refusal("The query could not be read.")
        size, page = number(fields, "page[size]", 25), number(fields, "page[number]", 1)
        shown = [_record(paper) for paper in found[(page - 1) * size : page * size]]
        meta = {"total": len(found), "totalPages": -(-len(found) // max(size, 1)), "page": page}
        return exchange.json(
            {"data": shown, "meta": meta, "links": {"self": "https://api.datacite.org/dois"}}
        )

    def _found(self, text: str) -> list[Paper] | None:
        if not text:
            return list(self._library.papers)
        query = read_query(text)
        return matching(self._library, query, _FIELDS) if query else None


def _refusal(title: str, *, status: int = 400) -> Answer:
    errors = {"errors": [{"status": str(status), "title": title}]}
    return exchange.json(errors, status=status, complaint=title)


def _wrong(fields: dict[str, str]) -> str:
    strange = unknown(fields, _KNOWN)
    size, page = number(fields, "page[size]", 25), number(fields, "page[number]", 1)
    checks = (
        (bool(strange), f"{strange} is not a parameter."),
        (not 0 <= size <= _MAX_PAGE, "page[size] must be between 0 and 1000."),
        (page < 1 or page * size > _MAX_DEPTH, "Only the first 10,000 records can be paged."),
        (fields.get("sort", "relevance") not in _SORTS, "sort is not supported."),
    )
    return next((sentence for is_wrong, sentence in checks if is_wrong), "")


def _record(paper: Paper) -> dict[str, object]:
    described = {"description": paper.abstract, "descriptionType": "Abstract"}
    day = day_of(paper)
    attributes = {
        "doi": paper.doi,
        "creators": [_creator(name) for name in paper.authors],
        "titles": [{"title": paper.title}],
        "publisher": paper.publisher,
        "container": {},
        "publicationYear": int(day[:4]),
        "dates": [{"date": day, "dateType": "Issued"}],
        "language": paper.language,
        "types": {"resourceTypeGeneral": paper.type, "ris": "DATA"},
        "descriptions": [described] if paper.abstract else [],
        "url": f"https://data.test/{paper.doi}",
        "state": "findable",
    }
    return {"id": paper.doi, "type": "dois", "attributes": attributes, "relationships": {}}


def _creator(name: str) -> dict[str, object]:
    if name.endswith("Consortium"):
        return {"name": name, "nameType": "Organizational", "affiliation": []}
    given, _space, family = name.partition(" ")
    return {
        "name": f"{family}, {given}",
        "nameType": "Personal",
        "givenName": given,
        "familyName": family,
    }
