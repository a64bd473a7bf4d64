"""The port of a source adapter: build requests, parse replies. Both are pure; neither opens a connection."""

from typing import Protocol, runtime_checkable

from msgspec import Struct, structs
from signal_search.contracts.document import Author, DateKind, Document, SourceType
from signal_search.contracts.source import FetchOutcome, Parsed, Reply, Request, SourceQuery

from scoring.identity import document_id, site_of


class SourceConfig(Struct, frozen=True, kw_only=True):
    """A registry row as an adapter sees it.

    endpoint: the API's address or the site's start URL; params: fixed query parameters; mailto: for polite pools.
    auth: the name of the variable that holds the operator's key, never the key; auth_place: where it goes in a request.
    json_items, item_map: of a generic JSON source, where its results are and which field is what.
    """

    id: str
    name: str = ""
    endpoint: str
    language: str = ""
    params: dict[str, str] = {}
    mailto: str = ""
    source_type: SourceType = "unknown"
    auth: str = ""
    auth_place: str = "bearer"
    json_items: str = ""
    item_map: dict[str, str] = {}


class Adapter(Protocol):
    """One kind of source.

    pushes_down: the constraints (language, freshness, domain) that `build` puts into the request itself.
    shared: true when a call does not depend on the sub-question (a site, a feed): one call serves them all.
    """

    name: str
    pushes_down: frozenset[str]
    shared: bool

    def __init__(self, config: SourceConfig) -> None:
        """Remember the row."""
        ...

    def build(self, ask: SourceQuery) -> tuple[Request, ...]:
        """Return the first requests for a question, all on the source's own host."""
        ...

    def parse(self, request: Request, reply: Reply) -> Parsed:
        """Return documents and follow-up requests of an api, feed or sitemap reply with status 200.

        Pages are not parsed here but by the extractor.

        Raises:
            BadReply: HTML instead of data, truncated or wrong-shaped data, an error sent with 200.
        """
        ...


@runtime_checkable
class PageReader(Protocol):
    """What an adapter has besides when its pages are more than documents."""

    def read_page(self, request: Request, outcome: FetchOutcome) -> FetchOutcome:
        """Return what the extractor's outcome of a page means for this source. Pure, raises nothing."""
        ...


class DocumentFacts(Struct, frozen=True, kw_only=True):
    """The optional facts of a document, so that adapters name only what they know."""

    language: str = ""
    published: str = ""
    date_kind: DateKind = "none"
    authors: tuple[Author, ...] = ()
    container: str = ""
    publisher: str = ""
    volume: str = ""
    issue: str = ""
    pages: str = ""
    doi: str = ""
    arxiv_id: str = ""
    work_type: str = ""
    source_type: SourceType = "unknown"
    retracted: bool = False
    citations: int | None = None
    record: bool = True
    extraction_ratio: float = 1.0
    signals: tuple[str, ...] = ()


def make_document(
    *,
    url: str,
    title: str,
    text: str,
    source_id: str,
    fetched_at_ms: int,
    facts: DocumentFacts,
) -> Document:
    """Return a document with its content id and registrable site worked out."""
    return Document(
        doc_id=document_id(url, text),
        url=url,
        title=title,
        text=text,
        source_id=source_id,
        site=site_of(url),
        fetched_at_ms=fetched_at_ms,
        **{name: getattr(facts, name) for name in DocumentFacts.__struct_fields__},
    )


def make_record(
    config: SourceConfig,
    reply: Reply,
    *,
    url: str,
    title: str,
    abstract: str,
    facts: DocumentFacts,
) -> Document:
    """Return the document of a register's record: title and abstract, or title, place, year and publisher.

    The source type is the row's; a date is the record's.
    """
    place = ", ".join(filter(None, (facts.container, facts.published[:4])))
    parts = (part.rstrip(".") for part in (title, place, facts.publisher) if part)
    return make_document(
        url=url,
        title=title,
        text=f"{title}\n\n{abstract}" if abstract else ". ".join(parts) + ".",
        source_id=config.id,
        fetched_at_ms=reply.fetched_at_ms,
        facts=structs.replace(
            facts,
            source_type=config.source_type,
            date_kind="record" if facts.published else "none",
        ),
    )
