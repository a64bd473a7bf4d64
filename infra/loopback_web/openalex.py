"""api.openalex.org: the works routes.

Strict: without `api_key` nothing is answered, unknown parameters, filters and selections are 400, an unknown work is
404 with a page of HTML. When rates are enforced, the hundred-and-first request in a second is 403 (429 is for who
has used up the day's credit).
"""

import re
from urllib.parse import unquote

from infra.loopback_web import corpus, exchange
from infra.loopback_web.corpus import Paper
from infra.loopback_web.exchange import Answer, Ask
from infra.loopback_web.library import Library, Pace, day_of, is_within, number, unknown

_KNOWN = frozenset(
    re.findall(r"\S+", "search filter sort per_page per-page page cursor select api_key mailto")
)
_FILTERS = {"from_publication_date", "to_publication_date", "publication_year", "is_retracted"}
_SELECTABLE = frozenset(
    re.findall(
        r"\S+",
        "id doi title display_name relevance_score publication_year publication_date ids language type type_crossref "
        "primary_location open_access authorships cited_by_count fwci biblio is_retracted is_paratext topics concepts "
        "locations best_oa_location referenced_works related_works abstract_inverted_index",
    )
)
_MAX_PER_PAGE, _MAX_DEPTH = 100, 10_000
_FIRST_ID = 9_900_000_001
_MIN_SHARE = 0.34
_TAGS = re.compile(r"<[^<>]+>")


class OpenAlex:
    """The open catalogue of works."""

    def __init__(self, *, enforce_pace: bool = False) -> None:
        """Serve all works of the corpus."""
        self._library = Library(corpus.papers())
        self._pace = Pace(100, 1_000, enforced=enforce_pace)

    def __call__(self, ask: Ask) -> Answer:
        """Answer one request."""
        if ask.method not in {"GET", "HEAD"}:
            return exchange.method_not_allowed("GET", "HEAD")
        if not ask.fields.get("api_key"):
            return _refusal("Unauthorized", "An API key is required", status=401)
        if self._pace.refuses(ask.now_ms):
            return _refusal("Forbidden", "More than 100 requests per second", status=403)
        wrong = _wrong(ask.fields)
        return _refusal("Invalid query parameters error.", wrong) if wrong else self._route(ask)

    def _route(self, ask: Ask) -> Answer:
        if ask.path.rstrip("/") == "/works":
            return self._works(ask.fields)
        paper = self._named(unquote(ask.path.removeprefix("/works/")))
        if paper is None or not ask.path.startswith("/works/"):
            return exchange.page(
                "<!doctype html><html><title>404 Not Found</title></html>", status=404
            )
        return exchange.json(self._record(paper, ask.fields))

    def _named(self, name: str) -> Paper | None:
        if name.startswith(("doi:", "https://doi.org/")):
            return self._library.by_doi(name.removeprefix("doi:").removeprefix("https://doi.org/"))
        at = int(name[1:]) - _FIRST_ID if re.fullmatch(r"W[0-9]{5,12}", name) else -1
        return self._library.papers[at] if 0 <= at < len(self._library.papers) else None

    def _works(self, fields: dict[str, str]) -> Answer:
        size, page = _size(fields), number(fields, "page", 1)
        words = fields.get("search", "")
        found = self._library.find(words, share=_MIN_SHARE) if words else list(self._library.papers)
        found = [paper for paper in found if _passes(paper, _filters(fields))]
        shown = found[(page - 1) * size : page * size]
        meta = {"count": len(found), "db_response_time_ms": 9, "page": page, "per_page": size}
        return exchange.json(
            {
                "meta": meta,
                "results": [self._record(paper, fields) for paper in shown],
                "group_by": [],
            }
        )

    def _record(self, paper: Paper, fields: dict[str, str]) -> dict[str, object]:
        full = _record(paper, _FIRST_ID + self._library.papers.index(paper))
        chosen = [name for name in fields.get("select", "").split(",") if name]
        return {name: value for name, value in full.items() if not chosen or name in chosen}


def _refusal(error: str, message: str, *, status: int = 400) -> Answer:
    return exchange.json({"error": error, "message": message}, status=status, complaint=message)


def _size(fields: dict[str, str]) -> int:
    return number(fields, "per_page" if "per_page" in fields else "per-page", 25)


def _wrong(fields: dict[str, str]) -> str:
    strange = unknown(fields, _KNOWN)
    if strange:
        return f"{strange} is not a valid parameter."
    if not 1 <= _size(fields) <= _MAX_PER_PAGE:
        return "per-page parameter must be between 1 and 100"
    page = number(fields, "page", 1)
    if page < 1 or page * _size(fields) > _MAX_DEPTH:
        return "Maximum results size of 10,000 records is exceeded."
    return _wrong_choice(fields)


def _wrong_choice(fields: dict[str, str]) -> str:
    for name in filter(None, fields.get("select", "").split(",")):
        if name not in _SELECTABLE:
            return f"{name} is not a valid select field."
    for name, value in _filters(fields):
        if name not in _FILTERS:
            return f"{name} is not a valid field."
        if name.endswith("_date") and not re.fullmatch(r"\d{4}-\d{2}-\d{2}", value):
            return f"Value for param {name} must be a date of the form YYYY-MM-DD."
    return (
        "" if re.fullmatch(r"[^*?~]*", fields.get("search", "")) else "Wildcards are not allowed."
    )


def _filters(fields: dict[str, str]) -> list[tuple[str, str]]:
    parts = (part.partition(":") for part in fields.get("filter", "").split(",") if part)
    return [(name, value) for name, _colon, value in parts]


def _passes(paper: Paper, filters: list[tuple[str, str]]) -> bool:
    return all(_passes_one(paper, name, value) for name, value in filters)


def _passes_one(paper: Paper, name: str, value: str) -> bool:
    results = {
        "from_publication_date": is_within(_day(paper), value, "9999-12-31"),
        "to_publication_date": is_within(_day(paper), "0000-01-01", value),
        "publication_year": day_of(paper)[:4] == value,
        "is_retracted": bool(paper.retracted_by) == (value == "true"),
    }
    return results[name]


def _day(paper: Paper) -> str:
    """Return a whole day: what is not known is the first."""
    return (day_of(paper) + "-01-01")[:10] if day_of(paper) else ""


def _record(paper: Paper, number_: int) -> dict[str, object]:
    is_preprint = not paper.journal and bool(paper.arxiv)
    address = (
        f"https://doi.org/{paper.doi}" if paper.doi else f"https://arxiv.org/abs/{paper.arxiv}"
    )
    kind = {
        "journal-article": "article",
        "": "preprint",
        "monograph": "book",
        "component": "paratext",
    }
    return {
        "id": f"https://openalex.org/W{number_}",
        "doi": f"https://doi.org/{paper.doi}" if paper.doi else None,
        "title": paper.title,
        "display_name": paper.title,
        "publication_year": int(_day(paper)[:4] or 0),
        "publication_date": _day(paper),
        "language": paper.language,
        "type": kind.get(paper.type, paper.type),
        "primary_location": {
            "is_oa": is_preprint,
            "landing_page_url": address,
            "source": _venue(paper, is_preprint=is_preprint),
        },
        "authorships": [_authorship(name) for name in paper.authors],
        "cited_by_count": paper.cited,
        "biblio": _biblio(paper),
        "is_retracted": bool(paper.retracted_by),
        "is_paratext": paper.type == "component",
        "abstract_inverted_index": _inverted(paper.abstract),
    }


def _venue(paper: Paper, *, is_preprint: bool) -> dict[str, object] | None:
    if is_preprint:
        return {
            "display_name": "arXiv (Test Copy)",
            "type": "repository",
            "host_organization_name": None,
        }
    if not paper.journal:
        return None
    publisher = paper.publisher or None
    return {"display_name": paper.journal, "type": "journal", "host_organization_name": publisher}


def _authorship(name: str) -> dict[str, object]:
    author = {"id": "https://openalex.org/A9900000001", "display_name": name, "orcid": None}
    return {"author": author, "institutions": [], "raw_author_name": name}


def _biblio(paper: Paper) -> dict[str, str | None]:
    first, _dash, last = paper.page.partition("-")
    known = {"volume": paper.volume, "issue": paper.issue, "first_page": first, "last_page": last}
    return {name: value or None for name, value in known.items()}


def _inverted(abstract: str) -> dict[str, list[int]] | None:
    places: dict[str, list[int]] = {}
    for at, word in enumerate(_TAGS.sub(" ", abstract).split()):
        places.setdefault(word, []).append(at)
    return places or None
