"""DOAJ by its article search: peer-reviewed articles of open access journals, with abstracts.

The query is part of the path, so a blank is `%20` (a plus sign would be searched for). Ranges can be asked for in years
only; the days are left to whoever filters.
"""

from urllib.parse import quote

from msgspec import Struct, field
from signal_search.contracts.document import Document
from signal_search.contracts.source import Parsed, Reply, Request, SourceQuery

from scoring.identity import normal_doi
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
    language,
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

_MAX_PAGE = 100
_MAX_WORDS = 6


class _Author(Struct):
    name: str | None = None


class _Identifier(Struct):
    id: str | None = None
    type: str | None = None


class _Link(Struct):
    url: str | None = None
    type: str | None = None


class _Journal(Struct):
    title: str | None = None
    publisher: str | None = None
    volume: str | None = None
    number: str | None = None
    language: list[str] | None = None


class _Article(Struct):
    title: str | None = None
    abstract: str | None = None
    author: list[_Author] | None = None
    identifier: list[_Identifier] | None = None
    link: list[_Link] | None = None
    journal: _Journal | None = None
    year: str | None = None
    month: str | None = None
    start_page: str | None = None
    end_page: str | None = None


class _Item(Struct):
    id: str
    article: _Article = field(name="bibjson")


class _Body(Struct):
    results: list[object] | None = None
    total: int | None = None
    error: object = None
    status: object = None


class Doaj:
    """Articles of open access journals of all disciplines and languages."""

    name: str = "doaj"
    pushes_down: frozenset[str] = frozenset({"freshness"})
    shared: bool = False

    def __init__(self, config: SourceConfig) -> None:
        """Remember the row; its endpoint ends in `/search/articles`."""
        self._config = config

    def build(self, ask: SourceQuery) -> tuple[Request, ...]:
        """Return one search: for the DOIs in the question, else for its words, within a range of years."""
        path = quote(_query(ask), safe="", errors="replace")
        fields = {"page": "1", "pageSize": str(size_of(ask, _MAX_PAGE))}
        url = address(self._config, f"{self._config.endpoint.rstrip('/')}/{path}", fields)
        return (call(self._config, self.name, url),)

    def parse(self, request: Request, reply: Reply) -> Parsed:
        """Turn articles into documents of title and abstract, or of title, journal, year and publisher.

        Raises:
            BadReply: HTML, plain text, truncated or wrong-shaped JSON, an error sent as an answer.
        """
        body = read_json(reply, _Body)
        if body.error is not None or (body.status is not None and body.results is None):
            refuse_error(reply, body.error or body.status)
        items = body.results
        if items is None:
            refuse("JSON of another shape")
        kept = [each for each in readable(items, _Item) if line(each.article.title)]
        return Parsed(
            documents=tuple(self._document(each, reply) for each in kept),
            total=body.total,
            note=left_out(len(items), len(kept)),
        )

    def _document(self, item: _Item, reply: Reply) -> Document:
        article = item.article
        return make_record(
            self._config,
            reply,
            url=_address(item),
            title=line(article.title),
            abstract=lines(article.abstract),
            facts=_facts(article),
        )


def _query(ask: SourceQuery) -> str:
    dois = dois_in(ask.text)
    if dois:
        return " OR ".join(f'doi:"{doi}"' for doi in dois)
    words = " AND ".join(words_of(ask, most=_MAX_WORDS, hyphens=False)) or NO_WORDS
    days = days_of(ask.freshness)
    return f"({words}) AND bibjson.year:[{days[0][:4]} TO {days[1][:4]}]" if days else words


def _published(article: _Article) -> str:
    """Return year and month; both are text, and a month may be a word or nothing."""
    month = article.month or ""
    return iso(f"{article.year}-{month}" if month.isdecimal() else article.year)


def _doi(article: _Article) -> str:
    known = (each.id for each in article.identifier or () if (each.type or "").lower() == "doi")
    return next((doi for each in known if (doi := normal_doi(each or ""))), "")


def _address(item: _Item) -> str:
    doi = _doi(item.article)
    return (
        doi_address(doi)
        if doi
        else f"https://doaj.org/article/{quote(item.id, safe='', errors='replace')}"
    )


def _facts(article: _Article) -> DocumentFacts:
    journal, title = article.journal or _Journal(), line(article.title)
    spoken = journal.language or ()
    return DocumentFacts(
        # A journal in several languages does not say in which one this article is.
        language=language(spoken[0]) if len(spoken) == 1 else "",
        published=_published(article),
        authors=tuple(person(each.name) for each in article.author or () if line(each.name)),
        container=line(journal.title),
        publisher=line(journal.publisher),
        volume=line(journal.volume),
        issue=line(journal.number),
        pages="-".join(filter(None, (line(article.start_page), line(article.end_page)))),
        doi=_doi(article),
        work_type="journal-article",
        retracted=is_retracted_title(title) or is_notice_title(title),
        signals=("retraction_notice",) if is_notice_title(title) else (),
    )
