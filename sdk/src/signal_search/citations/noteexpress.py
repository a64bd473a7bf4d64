"""Result -> NoteExpress import text: `{Field}: value` lines, one author per line, an empty line after a record.

There is no public specification; this is the dialect of Wanfang's exports, where a field may repeat, because the
other one (CNKI, values joined by semicolons) cannot tell a semicolon in a name from a separator.
"""

from collections.abc import Iterator

from signal_search.citations.names import authors_of, family_first
from signal_search.citations.works import (
    Kind,
    date_parts,
    doi_of,
    iso_date,
    kind_of,
    one_line,
    url_of,
)
from signal_search.contracts.result import CitedSource, Result

_TYPES: dict[Kind, str] = {
    "article": "Journal Article",
    "conference": "Conference Proceedings",
    "chapter": "Book Section",
    "book": "Book",
    "thesis": "Thesis",
    "report": "Report",
    "standard": "Standard",
    "patent": "Patent",
}


def write(result: Result) -> str:
    """Return one record per cited source, in order; "" without sources."""
    return "".join(_record(source) for source in result.sources)


def _record(source: CitedSource) -> str:
    lines = (f"{{{name}}}: {value}\n" for name, value in _fields(source) if value)
    return "".join(lines) + "\n"


def _fields(source: CitedSource) -> Iterator[tuple[str, str]]:
    kind = kind_of(source)
    parts = date_parts(source.published)
    yield "Reference Type", _TYPES.get(kind, "Generic")
    yield "Title", one_line(source.title)
    for author in authors_of(source.authors):
        yield "Author", family_first(author)
    yield "Tertiary Title" if kind == "conference" else "Journal", one_line(source.container)
    yield "Publisher", one_line(source.publisher)
    yield "Year", iso_date(parts[:1])
    yield "Date", iso_date(parts) if len(parts) > 1 else ""
    yield "Volume", one_line(source.volume)
    yield "Issue", one_line(source.issue)
    yield "Pages", one_line(source.pages)
    yield "URL", url_of(source)
    yield "DOI", doi_of(source)
    yield "Language", one_line(source.language)
    yield "Notes", "Retracted" if source.retracted else ""
