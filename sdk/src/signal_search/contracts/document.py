"""A fetched, extracted, redacted text with its provenance."""

from typing import Literal

from msgspec import Struct

DateKind = Literal[
    "none", "record", "jsonld", "meta", "time", "url", "text", "header", "updated", "modified"
]
SourceType = Literal[
    "gov", "academic", "media", "vendor", "reference", "forum", "selfmedia", "internal", "unknown"
]


class Author(Struct, frozen=True, kw_only=True):
    """A person (family, given) or a body (literal)."""

    family: str = ""
    given: str = ""
    literal: str = ""


class Document(Struct, frozen=True, kw_only=True):
    """Evidence text. `doc_id` is the BLAKE2b-128 hex digest of url and text; spans are byte offsets into `text`.

    published is an ISO date (year, year-month or day) and never the fetch time; date_kind says where it is from: of
    research memory `updated` (a memory was published) or `modified` (a file was changed).
    citations: how often the work is cited, as the register counts; None where it does not say.
    site is the registrable domain (host and port on loopback); record marks an API's metadata record.
    """

    doc_id: str
    url: str
    title: str
    text: str
    source_id: str
    site: str
    fetched_at_ms: int
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
    record: bool = False
    extraction_ratio: float = 1.0
    signals: tuple[str, ...] = ()
