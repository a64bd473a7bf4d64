"""RFCs by the IETF Datatracker's API: title and abstract, then the text at the RFC Editor for those asked by number.

The record's `time` is its last change in the database, not a publication, so records have no date; the text states it.
"""

import re

from msgspec import Struct, field
from signal_search.contracts.document import Document
from signal_search.contracts.source import Parsed, Reply, Request, SourceQuery

from workers.adapter import DocumentFacts, SourceConfig, make_document
from workers.asking import address, call, page
from workers.records import (
    NO_WORDS,
    left_out,
    line,
    read_json,
    readable,
    refuse,
    refuse_error,
    size_of,
)

_MAX_LIMIT = 100
_MAX_RFCS = 3
_MAX_QUERY_CHARS = 100
_FIRST_HTML = 8650  # the first RFC published as RFC 7991 XML; earlier ones are plain text
_RFC = re.compile(r"(?<![A-Za-z0-9])RFC[ -]?0{0,4}([1-9][0-9]{0,4})(?![0-9A-Za-z])", re.IGNORECASE)
_NAME = re.compile(r"rfc[1-9][0-9]{0,4}")
_LEVELS = {
    "std": "Internet Standard",
    "ds": "Draft Standard",
    "ps": "Proposed Standard",
    "bcp": "Best Current Practice",
    "inf": "Informational",
    "exp": "Experimental",
    "hist": "Historic",
}


class _Rfc(Struct):
    name: str
    title: str
    abstract: str | None = None
    pages: int | None = None
    std_level: str | None = None


class _Meta(Struct):
    total: int | None = field(name="total_count", default=None)


class _Body(Struct):
    objects: list[object] | None = None
    meta: _Meta = field(default_factory=_Meta)
    error: object = None


class Datatracker:
    """The Internet's own specifications."""

    name: str = "datatracker"
    pushes_down: frozenset[str] = frozenset()
    shared: bool = False

    def __init__(self, config: SourceConfig) -> None:
        """Remember the row."""
        self._config = config

    def build(self, ask: SourceQuery) -> tuple[Request, ...]:
        """Return one request per RFC named by number, else the search for the first search word in titles."""
        numbers = list(dict.fromkeys(_RFC.findall(ask.text)))[:_MAX_RFCS]
        if numbers:
            return tuple(self._list({"name": f"rfc{number}"}, 1) for number in numbers)
        words = " ".join((next(iter(ask.terms), "") or ask.text).split())[:_MAX_QUERY_CHARS]
        return (
            self._list({"title__icontains": words.strip() or NO_WORDS}, size_of(ask, _MAX_LIMIT)),
        )

    def parse(self, request: Request, reply: Reply) -> Parsed:
        """Turn records into documents, and one asked for by number into a request for its text.

        Raises:
            BadReply: HTML, truncated or wrong-shaped JSON, an error sent with 200.
        """
        body = read_json(reply, _Body)
        if body.error:
            refuse_error(reply, body.error)
        objects = body.objects if body.objects is not None else refuse("JSON of another shape")
        found = [each for each in readable(objects, _Rfc) if _is_rfc(each)]
        by_number = "?name=rfc" in request.url
        return Parsed(
            documents=tuple(self._document(each, reply) for each in found),
            requests=tuple(self._text(each) for each in found[:1]) if by_number else (),
            total=body.meta.total,
            note=left_out(len(objects), len(found), "unreadable or of other kinds"),
        )

    def _list(self, fields: dict[str, str], limit: int) -> Request:
        fixed = {"type": "rfc", "limit": str(limit), "format": "json"}
        url = address(self._config, self._config.endpoint, fields | fixed)
        return call(self._config, self.name, url)

    def _text(self, rfc: _Rfc) -> Request:
        form = "html" if int(rfc.name[3:]) >= _FIRST_HTML else "txt"
        return page(self._config, self.name, f"https://www.rfc-editor.org/rfc/{rfc.name}.{form}")

    def _document(self, rfc: _Rfc, reply: Reply) -> Document:
        number, title = rfc.name[3:], line(rfc.title)
        return make_document(
            url=f"https://www.rfc-editor.org/info/{rfc.name}",
            title=f"RFC {number}: {title}",
            text=_described(rfc, f"RFC {number}", title),
            source_id=self._config.id,
            fetched_at_ms=reply.fetched_at_ms,
            facts=DocumentFacts(
                language="en",
                container="Request for Comments",
                publisher="RFC Editor",
                issue=number,
                pages=str(rfc.pages) if rfc.pages else "",
                doi=f"10.17487/rfc{int(number):04}",
                work_type="techreport",
                source_type=self._config.source_type,
            ),
        )


def _described(rfc: _Rfc, name: str, title: str) -> str:
    level = _LEVELS.get((rfc.std_level or "").rstrip("/").rpartition("/")[2], "")
    status = f"The status of {name} is {level}." if level else ""
    paragraphs = re.split(r"\n[ \t]*\n", rfc.abstract or "")
    abstract = (" ".join(paragraph.split()) for paragraph in paragraphs)
    return "\n\n".join(part for part in (f"{name}: {title}", status, *abstract) if part)


def _is_rfc(rfc: _Rfc) -> bool:
    return bool(_NAME.fullmatch(rfc.name) and line(rfc.title))
