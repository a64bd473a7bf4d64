"""Semantic Scholar by its Academic Graph: a paper by DOI or arXiv id, else a relevance search.

Records are partial under load, so every field may be null. A query with hyphens finds nothing, so hyphens are spaces.
The summary a machine wrote (`tldr`) is not asked for: it is no evidence.
"""

import re
from urllib.parse import quote

from msgspec import Struct, field
from signal_search.contracts.document import Document
from signal_search.contracts.source import Parsed, Reply, Request, SourceQuery

from scoring.identity import normal_arxiv, normal_doi
from workers.adapter import DocumentFacts, SourceConfig, make_record
from workers.asking import address, call
from workers.records import (
    NO_WORDS,
    days_of,
    doi_address,
    dois_in,
    is_notice_title,
    is_retracted_title,
    iso,
    left_out,
    line,
    lines,
    person,
    read_json,
    readable,
    refuse,
    refuse_error,
    size_of,
    words_of,
)

_MAX_LIMIT = 100
_MAX_WORDS = 12
_FIELDS = "title,abstract,authors,year,publicationDate,venue,journal,externalIds,publicationTypes,citationCount"
_ARXIV_ID = re.compile(r"(?i)\barxiv\s?:\s?([0-9]{4}\.[0-9]{4,5}|[a-z-]+(?:\.[A-Z]{2})?/[0-9]{7})")
_UNKNOWN = re.compile(r"(?i)\bpaper\b.{0,200}\bnot found")  # with status 404
_KINDS = {
    "JournalArticle": "journal-article",
    "Conference": "proceedings-article",
    "Book": "book",
    "BookSection": "book-chapter",
    "Dataset": "dataset",
    "Review": "journal-article",
    "LettersAndComments": "letter",
    "Editorial": "editorial",
}
_REPOSITORIES = frozenset({"arxiv", "arxiv.org", "biorxiv", "medrxiv", "ssrn", "research square"})


class _Ids(Struct):
    doi: str | None = field(name="DOI", default=None)
    arxiv: str | None = field(name="ArXiv", default=None)


class _Author(Struct):
    name: str | None = None


class _Journal(Struct):
    name: str | None = None
    volume: str | None = None
    pages: str | None = None


class _Paper(Struct, rename="camel"):
    paper_id: str
    title: str | None = None
    abstract: str | None = None
    authors: list[_Author] | None = None
    year: int | None = None
    publication_date: str | None = None
    venue: str | None = None
    journal: _Journal | None = None
    external_ids: _Ids | None = None
    publication_types: list[str] | None = None
    citation_count: int | None = None


class _Body(Struct):
    data: list[object] | None = None
    total: int | None = None
    paper_id: str | None = field(name="paperId", default=None)
    error: object = None
    message: object = None


class SemanticScholar:
    """Papers of all disciplines, strongest in computer science and medicine."""

    name: str = "semanticscholar"
    pushes_down: frozenset[str] = frozenset({"freshness"})
    shared: bool = False

    def __init__(self, config: SourceConfig) -> None:
        """Remember the row; its endpoint ends in `/paper`."""
        self._config = config

    def build(self, ask: SourceQuery) -> tuple[Request, ...]:
        """Return one request per DOI or arXiv id in the question, else a search within a range of days."""
        named = [f"DOI:{doi}" for doi in dois_in(ask.text)]
        named = named or [f"ARXIV:{each}" for each in _ARXIV_ID.findall(ask.text)[:3]]
        paths = [quote(each, safe=":", errors="replace") for each in dict.fromkeys(named)]
        if paths:
            return tuple(self._request(path, {"fields": _FIELDS}) for path in paths)
        return (self._request("search", _search(ask)),)

    def parse(self, request: Request, reply: Reply) -> Parsed:
        """Turn papers into documents of title and abstract, or of title, place and year.

        Raises:
            BadReply: HTML, plain text, truncated or wrong-shaped JSON, an error sent as an answer.
        """
        body = read_json(reply, _Body)
        if reply.status == 404 and _UNKNOWN.search(str(body.error)):
            return Parsed(total=0)
        if body.error is not None or body.message is not None:
            refuse_error(reply, body.error or body.message)
        items = body.data
        if items is None and body.paper_id:
            items = [read_json(reply, dict[str, object])]
        if items is None:
            # A search without results has a total and sometimes no data.
            items = [] if body.total == 0 else refuse("JSON of another shape")
        kept = [paper for paper in readable(items, _Paper) if line(paper.title)]
        return Parsed(
            documents=tuple(self._document(paper, reply) for paper in kept),
            total=body.total if body.paper_id is None else 1,
            note=left_out(len(items), len(kept)),
        )

    def _request(self, path: str, fields: dict[str, str]) -> Request:
        url = address(self._config, f"{self._config.endpoint.rstrip('/')}/{path}", fields)
        return call(self._config, self.name, url, answers=(404,))

    def _document(self, paper: _Paper, reply: Reply) -> Document:
        ids = paper.external_ids or _Ids()
        return make_record(
            self._config,
            reply,
            url=_address(paper, ids),
            title=line(paper.title),
            abstract=lines(paper.abstract),
            facts=_facts(paper, ids),
        )


def _search(ask: SourceQuery) -> dict[str, str]:
    fields = {
        "query": " ".join(words_of(ask, most=_MAX_WORDS, hyphens=False)) or NO_WORDS,
        "limit": str(size_of(ask, _MAX_LIMIT)),
        "fields": _FIELDS,
    }
    days = days_of(ask.freshness)
    return fields | ({"publicationDateOrYear": ":".join(days)} if days else {})


def _address(paper: _Paper, ids: _Ids) -> str:
    doi, arxiv = normal_doi(ids.doi or ""), normal_arxiv(ids.arxiv or "")
    if doi:
        return doi_address(doi)
    if arxiv:
        return f"https://arxiv.org/abs/{quote(arxiv, errors='replace')}"
    return (
        f"https://www.semanticscholar.org/paper/{quote(paper.paper_id, safe='', errors='replace')}"
    )


def _facts(paper: _Paper, ids: _Ids) -> DocumentFacts:
    journal, title = paper.journal or _Journal(), line(paper.title)
    place = line(paper.venue) or line(journal.name)
    # A repository is no journal: a preprint with a container would pass for a published article.
    is_preprint = place.lower() in _REPOSITORIES or (not place and bool(ids.arxiv))
    return DocumentFacts(
        published=iso(paper.publication_date) or iso(f"{paper.year or 0:04d}"),
        authors=tuple(person(each.name) for each in paper.authors or () if line(each.name)),
        container="" if is_preprint else place,
        publisher=place if is_preprint else "",
        volume="" if is_preprint else line(journal.volume),
        pages="" if is_preprint else line(journal.pages),
        doi=normal_doi(ids.doi or ""),
        arxiv_id=normal_arxiv(ids.arxiv or ""),
        citations=paper.citation_count,
        work_type="preprint" if is_preprint else _work_type(paper.publication_types or ()),
        retracted=is_retracted_title(title) or is_notice_title(title),
        signals=("retraction_notice",) if is_notice_title(title) else (),
    )


def _work_type(names: list[str] | tuple[()]) -> str:
    return next((_KINDS[name] for name in names if name in _KINDS), "")
