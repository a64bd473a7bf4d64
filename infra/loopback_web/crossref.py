"""api.crossref.org: the works routes of the REST API.

Strict: unknown parameters, filters and selections, and rows or offsets out of range are 400 with a validation message;
an unknown DOI is 404 in plain text. When rates are enforced: five requests a second in the public pool, ten in the
polite pool (with `mailto` or a mail address in the User-Agent), then 429 with a page of HTML.
"""

import re
from collections import deque
from urllib.parse import unquote

from infra.loopback_web import corpus, exchange
from infra.loopback_web.corpus import Paper
from infra.loopback_web.exchange import Answer, Ask
from infra.loopback_web.search import Index

_KNOWN = {
    "query",
    "query.title",
    "query.author",
    "query.bibliographic",
    "query.container-title",
    "filter",
    "rows",
}
_KNOWN |= {"offset", "sort", "order", "select", "mailto", "facet", "sample", "cursor"}
_FILTERS = {
    "from-pub-date",
    "until-pub-date",
    "type",
    "has-abstract",
    "doi",
    "is-update",
    "updates",
}
_SELECTABLE = frozenset(
    re.findall(
        r"\S+",
        "abstract URL resource member posted score created degree update-policy short-title license ISSN "
        "container-title issued update-to issue prefix approved indexed article-number clinical-trial-number accepted "
        "author group-title DOI is-referenced-by-count updated-by event chair standards-body original-title funder "
        "translator published archive published-print alternative-id subject subtitle published-online "
        "publisher-location content-domain reference title link type publisher volume references-count ISBN issn-type "
        "assertion deposited page content-created short-container-title relation editor",
    )
)
_MAX_ROWS = 1000
_MAX_OFFSET = 10_000
_MIN_SHARE = 0.34  # the register ranks works that hold only some of the words, too
_PUBLIC, _POLITE = 5, 10


class Crossref:
    """The register of DOIs."""

    def __init__(self, *, enforce_pace: bool = False) -> None:
        """Serve the works that have a DOI."""
        self._papers = [paper for paper in corpus.papers() if paper.doi]
        self._index = Index([(paper.title, _searchable(paper)) for paper in self._papers])
        self._enforce_pace = enforce_pace
        self._recent_ms: deque[int] = deque(maxlen=_POLITE)

    def __call__(self, ask: Ask) -> Answer:
        """Answer one request."""
        if ask.method not in {"GET", "HEAD"}:
            return exchange.method_not_allowed("GET", "HEAD")
        limit = _POLITE if _is_polite(ask) else _PUBLIC
        if self._is_too_fast(ask.now_ms, limit):
            return exchange.page(
                "<html><body><h1>429 Too Many Requests</h1></body></html>", status=429
            )
        answer = self._route(ask)
        pool = "polite" if limit == _POLITE else "public"
        told = {"x-rate-limit-limit": str(limit), "x-rate-limit-interval": "1s", "x-api-pool": pool}
        return Answer(
            status=answer.status,
            body=answer.body,
            headers={**answer.headers, **told},
            complaint=answer.complaint,
        )

    def _is_too_fast(self, now_ms: int, limit: int) -> bool:
        within = sum(now_ms - each < 1000 for each in self._recent_ms)
        if self._enforce_pace and within >= limit:
            return True
        self._recent_ms.append(now_ms)
        return False

    def _route(self, ask: Ask) -> Answer:
        if ask.path.rstrip("/") == "/works":
            return self._works(ask.fields)
        doi = unquote(ask.path.removeprefix("/works/")).lower()
        paper = next((each for each in self._papers if each.doi == doi), None)
        if paper is None or not ask.path.startswith("/works/"):
            return exchange.text("Resource not found.", status=404)
        return _ok("work", self._record(paper, None))

    def _works(self, fields: dict[str, str]) -> Answer:
        wrong = _wrong(fields)
        if wrong:
            return _refusal(*wrong)
        rows, offset = int(fields.get("rows", "20")), int(fields.get("offset", "0"))
        found = [paper for paper in self._ranked(fields) if _passes(paper, _filters(fields))]
        chosen = frozenset(filter(None, fields.get("select", "").split(","))) or None
        items = [self._record(paper, chosen) for paper in found[offset : offset + rows]]
        return _ok(
            "work-list",
            {
                "facets": {},
                "total-results": len(found),
                "items": items,
                "items-per-page": rows,
                "query": {"start-index": offset, "search-terms": fields.get("query")},
            },
        )

    def _ranked(self, fields: dict[str, str]) -> list[Paper]:
        words = " ".join(value for name, value in fields.items() if name.startswith("query"))
        if not words.strip():
            return self._papers
        return [self._papers[number] for number in self._index.rank(words, share=_MIN_SHARE)]

    def _record(self, paper: Paper, chosen: frozenset[str] | None) -> dict[str, object]:
        full = {
            name: value for name, value in _record(paper).items() if value not in ("", [], None)
        }
        return {name: value for name, value in full.items() if chosen is None or name in chosen}


def _searchable(paper: Paper) -> str:
    return " ".join((paper.abstract, paper.journal, paper.publisher, *paper.authors))


def _is_polite(ask: Ask) -> bool:
    return "@" in ask.fields.get("mailto", "") or "@" in ask.headers.get("user-agent", "")


def _ok(kind: str, message: dict[str, object]) -> Answer:
    return exchange.json(
        {"status": "ok", "message-type": kind, "message-version": "1.0.0", "message": message}
    )


def _refusal(kind: str, value: str, sentence: str) -> Answer:
    message = [{"type": kind, "value": value, "message": sentence}]
    body = {"status": "failed", "message-type": "validation-failure", "message": message}
    return exchange.json(body, status=400, complaint=f"{kind}: {value}")


def _wrong(fields: dict[str, str]) -> tuple[str, str, str] | None:
    """Return type, value and message of the first thing wrong, in the API's words."""
    for name in sorted(fields.keys() - _KNOWN):
        return (
            "parameter-not-allowed",
            name,
            f"Parameter {name} specified but there is no such parameter available",
        )
    for name, most in (("rows", _MAX_ROWS), ("offset", _MAX_OFFSET)):
        value = fields.get(name, "0")
        if not value.isdecimal() or int(value) > most:
            sentence = f"Integer specified as {value} but must be a positive integer less than or equal to {most}"
            return "integer-not-valid", value, sentence
    return _wrong_selection(fields) or _wrong_filter(fields)


def _wrong_selection(fields: dict[str, str]) -> tuple[str, str, str] | None:
    for name in filter(None, fields.get("select", "").split(",")):
        if name not in _SELECTABLE:
            return (
                "parameter-not-allowed",
                name,
                f"Select {name} specified but there is no such field available",
            )
    return None


def _wrong_filter(fields: dict[str, str]) -> tuple[str, str, str] | None:
    for name, value in _filters(fields):
        if name not in _FILTERS:
            return (
                "filter-not-available",
                name,
                f"Filter {name} specified but there is no such filter for this route",
            )
        if name.endswith("-date") and not re.fullmatch(r"\d{4}(-\d{2}){0,2}", value):
            return "date-not-valid", value, f"Invalid date specified as {value}"
    return None


def _filters(fields: dict[str, str]) -> list[tuple[str, str]]:
    parts = (part.partition(":") for part in fields.get("filter", "").split(",") if part)
    return [(name, value) for name, _colon, value in parts]


def _passes(paper: Paper, filters: list[tuple[str, str]]) -> bool:
    return all(_passes_one(paper, name, value) for name, value in filters)


def _passes_one(paper: Paper, name: str, value: str) -> bool:
    day = "-".join(f"{part:02d}" for part in paper.issued)
    results = {
        "from-pub-date": bool(day) and day[: len(value)] >= value[: len(day)],
        "until-pub-date": bool(day) and day[: len(value)] <= value[: len(day)],
        "type": paper.type == value,
        "has-abstract": bool(paper.abstract) == (value in {"true", "1"}),
        "doi": paper.doi == value.lower(),
        "is-update": bool(paper.retracts) == (value in {"true", "1"}),
        "updates": paper.retracts == value.lower(),
    }
    return results[name]


def _record(paper: Paper) -> dict[str, object]:
    parts: list[int] | list[None] = paper.issued or [None]
    date = {"date-parts": [parts]}
    return {
        "DOI": paper.doi,
        "type": paper.type,
        "title": [paper.title],
        "container-title": [paper.journal] if paper.journal else [],
        "publisher": paper.publisher,
        "author": [_person(name, number) for number, name in enumerate(paper.authors)],
        "abstract": paper.abstract
        if "<jats" in paper.abstract or not paper.abstract
        else _jats(paper.abstract),
        "issued": date,
        "published": date if paper.issued else None,
        "volume": paper.volume,
        "issue": paper.issue,
        "page": paper.page,
        "language": paper.language,
        "prefix": "10.5555",
        "source": "Crossref",
        "is-referenced-by-count": paper.cited,
        "URL": f"https://doi.org/{paper.doi}",
        "update-to": _update(paper.retracts),
        "updated-by": _update(paper.retracted_by),
    }


def _jats(plain: str) -> str:
    return f"<jats:p>{plain}</jats:p>"


def _person(name: str, number: int) -> dict[str, object]:
    place: dict[str, object] = {"sequence": "additional" if number else "first", "affiliation": []}
    if name.endswith("Consortium"):
        return {"name": name, **place}
    given, _space, family = name.partition(" ")
    return {"given": given, "family": family, **place}


def _update(doi: str) -> list[dict[str, object]]:
    return (
        [{"DOI": doi, "type": "retraction", "label": "Retraction", "source": "publisher"}]
        if doi
        else []
    )
