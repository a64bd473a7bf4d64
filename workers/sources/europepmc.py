"""Europe PMC by its search: articles, and the preprints of bioRxiv, medRxiv and others, with their abstracts.

Asked with `resultType=core`, since the lighter forms have no abstract. Errors come as `errCode` and `errMsg`.
"""

from urllib.parse import quote

from msgspec import Struct, field
from signal_search.contracts.document import Author, Document
from signal_search.contracts.source import Parsed, Reply, Request, SourceQuery

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
    read_json,
    readable,
    refuse,
    refuse_error,
    size_of,
    words_of,
)

_MAX_PAGE = 100
_MAX_WORDS = 8
_RETRACTED = frozenset({"retracted publication", "retracted article"})
_NOTICES = frozenset({"retraction of publication", "retraction"})
_KINDS = {"preprint": "preprint", "letter": "letter", "editorial": "editorial", "review": "review"}


class _Person(Struct, rename="camel"):
    first_name: str | None = None
    last_name: str | None = None
    initials: str | None = None
    collective_name: str | None = None
    full_name: str | None = None


class _People(Struct):
    author: list[_Person] | None = None


class _Journal(Struct):
    title: str | None = None


class _Issue(Struct):
    volume: str | None = None
    issue: str | None = None
    journal: _Journal | None = None
    printed: str | None = field(name="printPublicationDate", default=None)


class _Kinds(Struct):
    names: list[str] | None = field(name="pubType", default=None)


class _Book(Struct):
    publisher: str | None = None


class _Comment(Struct):
    type: str | None = None


class _Comments(Struct):
    items: list[_Comment] | None = field(name="commentCorrection", default=None)


class _Result(Struct, rename="camel"):
    id: str
    source: str
    title: str | None = None
    doi: str | None = None
    author_list: _People | None = None
    journal_info: _Issue | None = None
    pub_year: str | None = None
    page_info: str | None = None
    abstract_text: str | None = None
    language: str | None = None
    pub_type_list: _Kinds | None = None
    first_publication_date: str | None = None
    book_or_report_details: _Book | None = None
    comment_correction_list: _Comments | None = None
    cited_by_count: int | None = None


class _List(Struct):
    result: list[object] | None = None


class _Body(Struct):
    hits: int | None = field(name="hitCount", default=None)
    found: _List | None = field(name="resultList", default=None)
    code: int | None = field(name="errCode", default=None)
    message: object = field(name="errMsg", default=None)
    error: object = None


class EuropePmc:
    """Life science literature with abstracts, preprints included."""

    name: str = "europepmc"
    pushes_down: frozenset[str] = frozenset({"freshness"})
    shared: bool = False

    def __init__(self, config: SourceConfig) -> None:
        """Remember the row."""
        self._config = config

    def build(self, ask: SourceQuery) -> tuple[Request, ...]:
        """Return one search: for the DOIs in the question, else for its words, within a range of days."""
        fields = {
            "query": _query(ask),
            "resultType": "core",
            "format": "json",
            "pageSize": str(size_of(ask, _MAX_PAGE)),
        }
        who = {"email": self._config.mailto} if self._config.mailto else {}
        url = address(self._config, self._config.endpoint, fields | who)
        return (call(self._config, self.name, url),)

    def parse(self, request: Request, reply: Reply) -> Parsed:
        """Turn results into documents of title and abstract, or of title, place and year.

        Raises:
            BadReply: HTML, plain text, truncated or wrong-shaped JSON, an error sent as an answer.
        """
        body = read_json(reply, _Body)
        if body.code is not None or body.message is not None or body.error is not None:
            refuse_error(reply, body.message or body.error)
        items = (body.found and body.found.result) or []
        if body.found is None and body.hits is None:
            refuse("JSON of another shape")
        kept = [each for each in readable(items, _Result) if line(each.title)]
        return Parsed(
            documents=tuple(self._document(each, reply) for each in kept),
            total=body.hits,
            note=left_out(len(items), len(kept)),
        )

    def _document(self, result: _Result, reply: Reply) -> Document:
        doi = line(result.doi).lower()
        place = "/".join(
            quote(part, safe="", errors="replace") for part in (result.source, result.id)
        )
        return make_record(
            self._config,
            reply,
            url=doi_address(doi) if doi else f"https://europepmc.org/article/{place}",
            title=line(result.title).removesuffix("."),
            abstract=lines(result.abstract_text),
            facts=_facts(result, doi),
        )


def _query(ask: SourceQuery) -> str:
    dois = dois_in(ask.text)
    if dois:
        return " OR ".join(f'DOI:"{doi}"' for doi in dois)
    words = " AND ".join(words_of(ask, most=_MAX_WORDS)) or NO_WORDS
    days = days_of(ask.freshness)
    return f"({words}) AND (FIRST_PDATE:[{days[0]} TO {days[1]}])" if days else words


def _facts(result: _Result, doi: str) -> DocumentFacts:
    issue, title = result.journal_info or _Issue(), line(result.title)
    kinds = {line(each).lower() for each in (result.pub_type_list or _Kinds()).names or ()}
    is_preprint = result.source == "PPR" or "preprint" in kinds
    is_notice = bool(_NOTICES & kinds) or is_notice_title(title)
    book = result.book_or_report_details or _Book()
    return DocumentFacts(
        language=language(result.language),
        published=_published(result, issue),
        authors=tuple(_authors(result.author_list)),
        container="" if is_preprint else line((issue.journal or _Journal()).title),
        publisher=line(book.publisher),
        volume=line(issue.volume),
        issue=line(issue.issue),
        pages=line(result.page_info),
        doi=doi,
        citations=result.cited_by_count,
        work_type="preprint" if is_preprint else _work_type(kinds),
        retracted=is_notice or bool(_RETRACTED & kinds) or _is_retracted(result, title),
        signals=("retraction_notice",) if is_notice else (),
    )


def _work_type(kinds: set[str]) -> str:
    return next((_KINDS[each] for each in _KINDS if each in kinds), "journal-article")


def _is_retracted(result: _Result, title: str) -> bool:
    notes = (result.comment_correction_list or _Comments()).items or ()
    return is_retracted_title(title) or any(
        line(each.type).lower() == "retraction in" for each in notes
    )


def _published(result: _Result, issue: _Issue) -> str:
    """Return the first day of publication, else the date in print, else the year."""
    dates = (result.first_publication_date, issue.printed, result.pub_year)
    return next((day for day in map(iso, dates) if day), "")


def _authors(people: _People | None) -> list[Author]:
    made = map(_author, (people or _People()).author or ())
    return [each for each in made if each.family or each.literal]


def _author(person: _Person) -> Author:
    family = line(person.last_name)
    if family:
        return Author(family=family, given=line(person.first_name) or line(person.initials))
    return Author(literal=line(person.collective_name) or line(person.full_name))
