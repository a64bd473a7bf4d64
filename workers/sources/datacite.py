"""DataCite by its REST API: data sets, software, theses and preprints that have a DOI of this agency.

JSON:API: records stand under `data[].attributes`. Dates may be ranges and have one to three parts; a `Withdrawn` date
marks what was taken back. Ranges of publication can be asked for in years only; the days are left to whoever filters.
"""

from urllib.parse import quote

from msgspec import Struct, field
from signal_search.contracts.document import Author, Document
from signal_search.contracts.source import Parsed, Reply, Request, SourceQuery

from scoring.identity import normal_arxiv
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
_ARXIV = "10.48550/arxiv."
_KINDS = {
    "journalarticle": "journal-article",
    "conferencepaper": "proceedings-article",
    "bookchapter": "book-chapter",
    "computationalnotebook": "software",
    "datapaper": "journal-article",
}


class _Title(Struct):
    title: str | None = None
    kind: str | None = field(name="titleType", default=None)


class _Creator(Struct, rename="camel"):
    name: str | None = None
    name_type: str | None = None
    given_name: str | None = None
    family_name: str | None = None


class _Publisher(Struct):
    name: str | None = None


class _Date(Struct):
    date: str | None = None
    kind: str | None = field(name="dateType", default=None)


class _Description(Struct):
    text: str | None = field(name="description", default=None)
    kind: str | None = field(name="descriptionType", default=None)


class _Types(Struct):
    general: str | None = field(name="resourceTypeGeneral", default=None)


class _Container(Struct, rename="camel"):
    title: str | None = None
    volume: str | None = None
    issue: str | None = None
    first_page: str | None = None
    last_page: str | None = None


class _Attributes(Struct):
    doi: str
    titles: list[_Title] | None = None
    creators: list[_Creator] | None = None
    publisher: str | _Publisher | None = None
    year: int | None = field(name="publicationYear", default=None)
    dates: list[_Date] | None = None
    descriptions: list[_Description] | None = None
    types: _Types | None = None
    container: _Container | None = None
    language: str | None = None
    state: str | None = None


class _Item(Struct):
    attributes: _Attributes


class _Meta(Struct):
    total: int | None = None


class _Body(Struct):
    data: list[object] | dict[str, object] | None = None
    meta: _Meta | None = None
    errors: object = None


class DataCite:
    """Research data and grey literature by DOI or words."""

    name: str = "datacite"
    pushes_down: frozenset[str] = frozenset({"freshness"})
    shared: bool = False

    def __init__(self, config: SourceConfig) -> None:
        """Remember the row."""
        self._config = config

    def build(self, ask: SourceQuery) -> tuple[Request, ...]:
        """Return one request per DOI in the question, else a search ranked by relevance."""
        dois = dois_in(ask.text)
        paths = [f"/{quote(doi, safe='', errors='replace')}" for doi in dois]
        if paths:
            return tuple(self._request(path, {}) for path in paths)
        fields = {
            "query": _query(ask),
            "page[size]": str(size_of(ask, _MAX_PAGE)),
            "page[number]": "1",  # with a cursor the order would be that of creation
            "sort": "relevance",
        }
        return (self._request("", fields),)

    def parse(self, request: Request, reply: Reply) -> Parsed:
        """Turn records into documents of title and description, or of title, publisher and year.

        Raises:
            BadReply: HTML, plain text, truncated or wrong-shaped JSON, an error sent as an answer.
        """
        body = read_json(reply, _Body)
        if reply.status == 404 and body.errors:
            return Parsed(total=0)  # a DOI of another agency, or of none
        if body.errors is not None:
            refuse_error(reply, body.errors)
        data = body.data
        if data is None:
            refuse("JSON of another shape")
        items = data if isinstance(data, list) else [data]
        kept = [each.attributes for each in readable(items, _Item) if _is_kept(each.attributes)]
        return Parsed(
            documents=tuple(self._document(each, reply) for each in kept),
            total=body.meta.total if body.meta else len(items),
            note=left_out(len(items), len(kept)),
        )

    def _request(self, path: str, fields: dict[str, str]) -> Request:
        polite = {"mailto": self._config.mailto} if self._config.mailto else {}
        root = self._config.endpoint.rstrip("/")
        return call(
            self._config,
            self.name,
            address(self._config, f"{root}{path}", fields | polite),
            answers=(404,) if path else (),
        )

    def _document(self, record: _Attributes, reply: Reply) -> Document:
        return make_record(
            self._config,
            reply,
            url=doi_address(record.doi.lower()),
            title=_title(record),
            abstract=_abstract(record),
            facts=_facts(record),
        )


def _query(ask: SourceQuery) -> str:
    words = " AND ".join(words_of(ask, most=_MAX_WORDS)) or NO_WORDS
    days = days_of(ask.freshness)
    return f"({words}) AND publicationYear:[{days[0][:4]} TO {days[1][:4]}]" if days else words


def _is_kept(record: _Attributes) -> bool:
    return bool(_title(record) and record.doi) and record.state in {None, "findable"}


def _title(record: _Attributes) -> str:
    """Return the main title, which is the one without a kind; translations and subtitles have one."""
    titles = sorted(record.titles or (), key=lambda each: each.kind is not None)
    return next((found for each in titles if (found := line(each.title))), "")


def _abstract(record: _Attributes) -> str:
    told = [each for each in record.descriptions or () if each.kind == "Abstract"]
    return next((found for each in told if (found := lines(each.text))), "")


def _facts(record: _Attributes) -> DocumentFacts:
    kind, title = _work_type(record), _title(record)
    held = record.container or _Container()
    withdrawn = any(each.kind == "Withdrawn" for each in record.dates or ())
    return DocumentFacts(
        language=language(record.language),
        published=_published(record),
        authors=tuple(
            _author(each) for each in record.creators or () if each.family_name or line(each.name)
        ),
        container="" if kind == "preprint" else line(held.title),
        publisher=_publisher(record),
        volume=line(held.volume),
        issue=line(held.issue),
        pages="-".join(filter(None, (line(held.first_page), line(held.last_page)))),
        doi=record.doi.lower(),
        arxiv_id=_arxiv_id(record.doi.lower()),
        work_type=kind,
        retracted=withdrawn or is_retracted_title(title) or is_notice_title(title),
        signals=("retraction_notice",) if is_notice_title(title) else (),
    )


def _arxiv_id(doi: str) -> str:
    return normal_arxiv(doi.removeprefix(_ARXIV)) if doi.startswith(_ARXIV) else ""


def _publisher(record: _Attributes) -> str:
    told = record.publisher
    return line(told.name if isinstance(told, _Publisher) else told)


def _work_type(record: _Attributes) -> str:
    general = line((record.types or _Types()).general).lower()
    return _KINDS.get(general, general)


def _published(record: _Attributes) -> str:
    """Return the date of issue; of a range its first day. Without one, the year of publication."""
    issued = (iso(each.date) for each in record.dates or () if each.kind == "Issued")
    return next((day for day in issued if day), "") or iso(f"{record.year or 0:04d}")


def _author(creator: _Creator) -> Author:
    if creator.family_name:
        return Author(family=line(creator.family_name), given=line(creator.given_name))
    if creator.name_type == "Organizational":
        return Author(literal=line(creator.name))
    return person(creator.name)
