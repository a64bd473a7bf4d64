"""OpenAlex by its works routes: a work by DOI or OpenAlex id, else a search.

Abstracts come as an inverted index and are put back into running text. The place of publication is
`primary_location.source`, which may be null. A date that was only a year is given as its first of January, so a first
of January is taken for the year alone. An unknown DOI is answered with a page of HTML.
"""

import re
from urllib.parse import quote

from msgspec import Struct
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

_MAX_PER_PAGE = 100
_MAX_WORDS = 12
_MAX_POSITIONS = 20_000  # words of an abstract; longer ones are full texts by mistake
_SELECT = (
    "id,doi,display_name,publication_date,publication_year,language,type,primary_location,authorships,biblio,"
    "is_retracted,is_paratext,cited_by_count,abstract_inverted_index"
)
# developers.openalex.org, Error Handling: a 403 is about pace, not about rights.
_MEANINGS = {403: "asked too fast", 429: "the daily credit of the key is used up"}
_WORK_ID = re.compile(r"(?<![A-Za-z0-9])W[0-9]{5,12}(?![A-Za-z0-9])")
_ARXIV = re.compile(r"arxiv\.org/(?:abs|pdf)/([\w.-]+(?:/[0-9]{7})?)")
_SPAM_TYPES = frozenset({"paratext", "supplementary-materials"})


class _Venue(Struct):
    display_name: str | None = None
    host_organization_name: str | None = None
    type: str | None = None


class _Location(Struct):
    landing_page_url: str | None = None
    source: _Venue | None = None


class _Name(Struct):
    display_name: str | None = None


class _Authorship(Struct):
    author: _Name | None = None
    raw_author_name: str | None = None


class _Biblio(Struct):
    volume: str | None = None
    issue: str | None = None
    first_page: str | None = None
    last_page: str | None = None


class _Work(Struct):
    id: str
    doi: str | None = None
    display_name: str | None = None
    publication_date: str | None = None
    publication_year: int | None = None
    language: str | None = None
    type: str | None = None
    primary_location: _Location | None = None
    authorships: list[_Authorship] | None = None
    biblio: _Biblio | None = None
    is_retracted: bool | None = None
    is_paratext: bool | None = None
    cited_by_count: int | None = None
    abstract_inverted_index: dict[str, list[int]] | None = None


class _Meta(Struct):
    count: int | None = None


class _Body(Struct):
    meta: _Meta | None = None
    results: list[object] | None = None
    id: str | None = None
    error: object = None


class OpenAlex:
    """Works of all disciplines: articles, preprints, books, theses, datasets."""

    name: str = "openalex"
    pushes_down: frozenset[str] = frozenset({"freshness"})
    shared: bool = False

    def __init__(self, config: SourceConfig) -> None:
        """Remember the row."""
        self._config = config

    def build(self, ask: SourceQuery) -> tuple[Request, ...]:
        """Return one request per DOI or OpenAlex id in the question, else a search within a range of days."""
        named = [f"/doi:{quote(doi, safe='', errors='replace')}" for doi in dois_in(ask.text)]
        named = named or [f"/{each}" for each in dict.fromkeys(_WORK_ID.findall(ask.text))][:3]
        if named:
            return tuple(self._request(path, {"select": _SELECT}) for path in named)
        return (self._request("", _search(ask)),)

    def parse(self, request: Request, reply: Reply) -> Parsed:
        """Turn works into documents of title and abstract, or of title, place, year and publisher.

        Raises:
            BadReply: HTML, plain text, truncated or wrong-shaped JSON, an error sent as an answer.
        """
        body = read_json(reply, _Body)
        if body.error is not None:
            refuse_error(reply, body.error)
        items = body.results
        if items is None:
            items = [read_json(reply, dict[str, object])] if body.id else []
        if body.results is None and not body.id:
            refuse("JSON of another shape")
        kept = [work for work in readable(items, _Work) if _is_kept(work)]
        return Parsed(
            documents=tuple(self._document(work, reply) for work in kept),
            total=body.meta.count if body.meta else len(items),
            note=left_out(len(items), len(kept), "unreadable, untitled or mere front matter"),
        )

    def _request(self, path: str, fields: dict[str, str]) -> Request:
        url = address(self._config, f"{self._config.endpoint.rstrip('/')}{path}", fields)
        return call(self._config, self.name, url, meanings=_MEANINGS)

    def _document(self, work: _Work, reply: Reply) -> Document:
        return make_record(
            self._config,
            reply,
            url=_address(work),
            title=line(work.display_name),
            abstract=_abstract(work.abstract_inverted_index or {}),
            facts=_facts(work),
        )


def _search(ask: SourceQuery) -> dict[str, str]:
    fields = {
        "search": " ".join(words_of(ask, most=_MAX_WORDS)) or NO_WORDS,
        "per_page": str(size_of(ask, _MAX_PER_PAGE)),
        "select": _SELECT,
    }
    days = days_of(ask.freshness)
    dated = f"from_publication_date:{days[0]},to_publication_date:{days[1]}" if days else ""
    return fields | ({"filter": dated} if dated else {})


def _is_kept(work: _Work) -> bool:
    return bool(line(work.display_name)) and not work.is_paratext and work.type not in _SPAM_TYPES


def _abstract(index: dict[str, list[int]]) -> str:
    """Put the words back in their order (the position of a word in the text is all the index holds)."""
    placed = sorted((at, word) for word, places in index.items() for at in places)
    words = [word for _at, word in placed[:_MAX_POSITIONS]]
    if words and words[0].lower().rstrip(":.") in {"abstract", "summary"}:
        words = words[1:]
    return " ".join(lines(" ".join(words)).split())


def _facts(work: _Work) -> DocumentFacts:
    venue = (work.primary_location and work.primary_location.source) or _Venue()
    # A repository is no journal: a preprint with a container would pass for a published article.
    is_journal = venue.type != "repository" and work.type != "preprint"
    place, title = line(venue.display_name), line(work.display_name)
    biblio = work.biblio or _Biblio()
    return DocumentFacts(
        language=language(work.language),
        published=_published(work),
        authors=tuple(person(name) for each in work.authorships or () if (name := _name(each))),
        container=place if is_journal else "",
        publisher=line(venue.host_organization_name) if is_journal else place,
        volume=biblio.volume or "",
        issue=biblio.issue or "",
        pages=_pages(biblio),
        doi=normal_doi(work.doi or ""),
        arxiv_id=_arxiv_id(work),
        citations=work.cited_by_count,
        work_type=_work_type(work, venue),
        retracted=bool(work.is_retracted) or is_retracted_title(title) or is_notice_title(title),
        signals=("retraction_notice",) if is_notice_title(title) else (),
    )


def _name(authorship: _Authorship) -> str:
    known = authorship.author.display_name if authorship.author else None
    return line(known or authorship.raw_author_name)


def _published(work: _Work) -> str:
    day = iso(work.publication_date)
    if day.endswith("-01-01"):
        return day[:4]
    return day or iso(f"{work.publication_year or 0:04d}")


def _pages(biblio: _Biblio) -> str:
    first, last = biblio.first_page or "", biblio.last_page or ""
    return f"{first}-{last}" if first and last and first != last else first or last


def _address(work: _Work) -> str:
    doi = normal_doi(work.doi or "")
    landing = work.primary_location.landing_page_url if work.primary_location else None
    web = landing if landing and landing.startswith(("https://", "http://")) else ""
    return doi_address(doi) if doi else web or f"https://openalex.org/{_tail(work.id)}"


def _tail(address: str) -> str:
    return quote(address.rpartition("/")[2], safe="", errors="replace")


def _arxiv_id(work: _Work) -> str:
    doi = normal_doi(work.doi or "")
    if doi.startswith("10.48550/arxiv."):
        return normal_arxiv(doi.removeprefix("10.48550/arxiv."))
    landing = work.primary_location.landing_page_url if work.primary_location else None
    found = _ARXIV.search(landing or "")
    return normal_arxiv(found[1]) if found else ""


def _work_type(work: _Work, venue: _Venue) -> str:
    kind = work.type or ""
    if kind in {"article", "review", "letter", "editorial"}:
        return "proceedings-article" if venue.type == "conference" else "journal-article"
    return kind
