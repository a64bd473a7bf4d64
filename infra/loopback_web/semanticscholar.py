"""api.semanticscholar.org: search and papers of the Academic Graph.

Strict: unknown parameters and fields are 400, so are limits over 100 and more than a thousand results; only the
fields asked for come back. A query with a hyphen finds nothing, as in the real one. When rates are enforced: a
hundred requests in five minutes without a key, one a second with one, then 429.
"""

import re
from urllib.parse import unquote

from infra.ids import digest
from infra.loopback_web import corpus, exchange
from infra.loopback_web.corpus import Paper
from infra.loopback_web.exchange import Answer, Ask
from infra.loopback_web.library import Library, Pace, day_of, is_within, number, unknown

_ROOT = "/graph/v1/paper/"
_KNOWN = frozenset(re.findall(r"\S+", "query fields limit offset year publicationDateOrYear"))
_FIELDS = frozenset(
    re.findall(
        r"\S+",
        "paperId corpusId externalIds url title abstract venue year referenceCount citationCount isOpenAccess "
        "openAccessPdf fieldsOfStudy publicationTypes publicationDate journal authors citationStyles tldr",
    )
)
_MAX_LIMIT, _MAX_DEPTH = 100, 1_000
_MIN_SHARE = 0.5
_TAGS = re.compile(r"<[^<>]+>")


class SemanticScholar:
    """The graph of papers."""

    def __init__(self, *, enforce_pace: bool = False) -> None:
        """Serve the works that are no mere components."""
        self._library = Library([each for each in corpus.papers() if each.type != "component"])
        self._shared = Pace(100, 300_000, enforced=enforce_pace)
        self._keyed = Pace(1, 1_000, enforced=enforce_pace)

    def __call__(self, ask: Ask) -> Answer:
        """Answer one request."""
        if ask.method not in {"GET", "HEAD"}:
            return exchange.method_not_allowed("GET", "HEAD")
        pace = self._keyed if ask.headers.get("x-api-key") else self._shared
        if pace.refuses(ask.now_ms):
            message = "Too Many Requests. Please wait and try again or apply for a key."
            return exchange.json({"message": message, "code": "429"}, status=429)
        wrong = _wrong(ask.fields)
        return _refusal(wrong) if wrong else self._route(ask)

    def _route(self, ask: Ask) -> Answer:
        if ask.path == f"{_ROOT}search":
            return self._search(ask.fields)
        scheme, _colon, value = unquote(ask.path.removeprefix(_ROOT)).partition(":")
        paper = self._named(scheme, value)
        if paper is None or not ask.path.startswith(_ROOT):
            return _refusal("Paper with id not found", status=404)
        return exchange.json(_record(paper, ask.fields))

    def _named(self, scheme: str, value: str) -> Paper | None:
        if scheme == "DOI":
            return self._library.by_doi(value)
        bare = value.partition("v")[0]
        papers = self._library.papers
        arxiv = (each for each in papers if each.arxiv and each.arxiv.partition("v")[0] == bare)
        return next(arxiv, None) if scheme == "ARXIV" else None

    def _search(self, fields: dict[str, str]) -> Answer:
        query, offset, limit = (
            fields.get("query", ""),
            number(fields, "offset", 0),
            number(fields, "limit", 10),
        )
        if not query.strip():
            return _refusal("Missing required parameter: 'query'")
        found = [] if "-" in query else self._library.find(query, share=_MIN_SHARE)
        found = [paper for paper in found if _is_dated(paper, fields)]
        shown = [_record(paper, fields) for paper in found[offset : offset + limit]]
        if not shown:
            return exchange.json({"total": 0, "offset": offset})
        more = {"next": offset + limit} if offset + limit < len(found) else {}
        return exchange.json({"total": len(found), "offset": offset, **more, "data": shown})


def _refusal(sentence: str, *, status: int = 400) -> Answer:
    return exchange.json({"error": sentence}, status=status, complaint=sentence)


def _wrong(fields: dict[str, str]) -> str:
    strange = unknown(fields, _KNOWN)
    if strange:
        return f"Unrecognized parameter: {strange}"
    missing = [name for name in fields.get("fields", "").split(",") if name and name not in _FIELDS]
    if missing:
        return f"Unrecognized or unsupported fields: [{', '.join(missing)}]"
    limit, offset = number(fields, "limit", 10), number(fields, "offset", 0)
    if not 1 <= limit <= _MAX_LIMIT:
        return "limit must be between 1 and 100"
    if offset < 0 or offset + limit > _MAX_DEPTH:
        return "Requested data for this limit and/or offset is not available"
    dated = fields.get("publicationDateOrYear", "")
    day = r"(?:\d{4}(?:-\d{2}(?:-\d{2})?)?)?"
    return "" if re.fullmatch(rf"{day}(?::{day})?", dated) else "Invalid publicationDateOrYear"


def _is_dated(paper: Paper, fields: dict[str, str]) -> bool:
    first, colon, last = fields.get("publicationDateOrYear", "").partition(":")
    last = last if colon else first
    return is_within(day_of(paper), first or "0000", last or "9999")


def _record(paper: Paper, fields: dict[str, str]) -> dict[str, object]:
    wanted = {"paperId", *(name for name in fields.get("fields", "title").split(",") if name)}
    return {name: value for name, value in _full(paper).items() if name in wanted}


def _full(paper: Paper) -> dict[str, object]:
    arxiv, day = paper.arxiv.partition("v")[0], day_of(paper)
    paper_id = digest(paper.title)
    ids = {"DOI": paper.doi, "ArXiv": arxiv, "CorpusId": 99_000_000 + len(paper.title)}
    kinds = {"journal-article": ["JournalArticle"], "book": ["Book"], "monograph": ["Book"]}
    return {
        "paperId": paper_id,
        "externalIds": {name: value for name, value in ids.items() if value},
        "url": f"https://www.semanticscholar.org/paper/{paper_id}",
        "title": paper.title,
        "abstract": _TAGS.sub(" ", paper.abstract) or None,
        "venue": paper.journal or ("arXiv.org" if arxiv else ""),
        "year": int(day[:4]) if day else None,
        "publicationDate": day if len(day) == 10 else None,
        "journal": {"name": paper.journal, "volume": paper.volume, "pages": paper.page}
        if paper.journal
        else None,
        "publicationTypes": kinds.get(paper.type),
        "authors": [{"authorId": None, "name": name} for name in paper.authors],
        "citationCount": paper.cited,
        "isOpenAccess": False,
        "openAccessPdf": {"url": "", "status": None, "license": None},
    }
