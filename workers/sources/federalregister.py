"""Federal Register API v1: rules, proposed rules, notices and presidential documents of the United States.

`fields[]` names what is wanted; without it a document brings its full history. The text is the abstract with the facts
of publication, effect and comment period as sentences.
"""

import re

from msgspec import Struct
from signal_search.contracts.document import Author, Document
from signal_search.contracts.source import Parsed, Reply, Request, SourceQuery

from workers.adapter import DocumentFacts, SourceConfig, make_document
from workers.asking import address, call
from workers.records import (
    days_of,
    iso,
    left_out,
    line,
    lines,
    read_json,
    readable,
    size_of,
    words_of,
)

_MAX_PER_PAGE = 1000
_MOST_WORDS = 6
_FIELDS = (
    "title",
    "type",
    "abstract",
    "action",
    "document_number",
    "citation",
    "html_url",
    "publication_date",
    "effective_on",
    "comments_close_on",
    "agencies",
    "excerpts",
)
_PAGE = re.compile(r"https://www\.federalregister\.gov/[A-Za-z0-9/_.%-]{1,400}")
_KINDS = {
    "Rule": "a rule",
    "Proposed Rule": "a proposed rule",
    "Notice": "a notice",
    "Presidential Document": "a presidential document",
}


class _Agency(Struct, frozen=True):
    name: str | None = None
    raw_name: str | None = None


class _Entry(Struct, frozen=True):
    title: str
    html_url: str
    type: str | None = None
    abstract: str | None = None
    action: str | None = None
    document_number: str | None = None
    citation: str | None = None
    publication_date: str | None = None
    effective_on: str | None = None
    comments_close_on: str | None = None
    agencies: list[_Agency] | None = None
    excerpts: str | None = None


class _Body(Struct, frozen=True):
    count: int
    results: list[object] | None = None


class FederalRegister:
    """The daily journal of the federal government of the United States."""

    name: str = "federalregister"
    pushes_down: frozenset[str] = frozenset({"freshness"})
    shared: bool = False

    def __init__(self, config: SourceConfig) -> None:
        """Remember the row."""
        self._config = config

    def build(self, ask: SourceQuery) -> tuple[Request, ...]:
        """Return one search, best matches first. A freshness `A..B` becomes a range of days of publication."""
        words = " ".join(words_of(ask, most=_MOST_WORDS)) or "rule"
        fields = [("conditions[term]", words), ("order", "relevance")]
        fields.append(("per_page", str(size_of(ask, _MAX_PER_PAGE))))
        days = days_of(ask.freshness)
        if days:
            fields.append(("conditions[publication_date][gte]", days[0]))
            fields.append(("conditions[publication_date][lte]", days[1]))
        fields += [("fields[]", name) for name in _FIELDS]
        url = address(self._config, self._config.endpoint, fields)
        return (call(self._config, self.name, url),)

    def parse(self, request: Request, reply: Reply) -> Parsed:
        """Turn entries into documents. A search without matches has no `results` at all.

        Raises:
            BadReply: HTML, truncated or wrong-shaped JSON, errors instead of a count.
        """
        del request
        body = read_json(reply, _Body)
        found = body.results or []
        entries = [each for each in readable(found, _Entry) if _PAGE.fullmatch(each.html_url)]
        return Parsed(
            documents=tuple(self._document(entry, reply) for entry in entries),
            total=body.count,
            note=left_out(len(found), len(entries)),
        )

    def _document(self, entry: _Entry, reply: Reply) -> Document:
        published, agencies = iso(entry.publication_date), _agencies(entry)
        summary = lines(entry.abstract) or lines(entry.excerpts)
        facts = "\n".join(_facts(entry, published, agencies))
        return make_document(
            url=entry.html_url,
            title=line(entry.title),
            text=f"{line(entry.title)}\n\n{facts}\n\n{summary}".strip(),
            source_id=self._config.id,
            fetched_at_ms=reply.fetched_at_ms,
            facts=DocumentFacts(
                language="en",
                published=published,
                date_kind="record" if published else "none",
                authors=tuple(Author(literal=each) for each in agencies),
                container="Federal Register",
                publisher="Office of the Federal Register",
                work_type="report",
                source_type=self._config.source_type,
            ),
        )


def _agencies(entry: _Entry) -> list[str]:
    names = (line(each.name or each.raw_name) for each in entry.agencies or ())
    return [name for name in dict.fromkeys(names) if name]


def _facts(entry: _Entry, published: str, agencies: list[str]) -> list[str]:
    kind = _KINDS.get(entry.type or "", "a document")
    by = f" of the {' and the '.join(agencies)}" if agencies else ""
    on = f" on {published}" if published else ""
    number = f" Its document number is {entry.document_number}." if entry.document_number else ""
    effective, close = iso(entry.effective_on), iso(entry.comments_close_on)
    told = [
        f"This is {kind}{by}, published in the Federal Register{on}.{number}",
        f"Its citation is {entry.citation}." if entry.citation else "",
        f"The action is: {line(entry.action).rstrip('.')}." if entry.action else "",
        f"It takes effect on {effective}." if effective else "",
        f"Comments close on {close}." if close else "",
    ]
    return [each for each in told if each]
