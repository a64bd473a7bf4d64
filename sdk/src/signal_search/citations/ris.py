"""Result -> RIS: CRLF lines, TY first and once, ER last, one AU per author, no value over two lines."""

from collections.abc import Iterator

from signal_search.citations.names import authors_of, family_first
from signal_search.citations.works import (
    Kind,
    date_parts,
    doi_of,
    kind_of,
    one_line,
    page_range,
    url_of,
)
from signal_search.contracts.result import CitedSource, Result

_TYPES: dict[Kind, str] = {
    "article": "JOUR",
    "conference": "CPAPER",
    "chapter": "CHAP",
    "book": "BOOK",
    "thesis": "THES",
    "report": "RPRT",
    "preprint": "UNPB",
    "dataset": "DATA",
    "software": "COMP",
    "standard": "STAND",
    "patent": "PAT",
    "web": "ELEC",
    "other": "GEN",
}


def write(result: Result) -> str:
    """Return one record per cited source, in order; "" without sources."""
    return "".join(
        f"{tag}  - {value}\r\n" for source in result.sources for tag, value in _record(source)
    )


def _record(source: CitedSource) -> Iterator[tuple[str, str]]:
    yield "TY", _TYPES[kind_of(source)]
    for author in authors_of(source.authors):
        yield "AU", family_first(author)
    yield from ((tag, value) for tag, value in _fields(source) if value)
    yield "ER", ""


def _fields(source: CitedSource) -> Iterator[tuple[str, str]]:
    parts = date_parts(source.published)
    first, last = page_range(source.pages)
    yield "TI", one_line(source.title)
    yield "T2", one_line(source.container)
    yield "PY", f"{parts[0]:04d}" if parts else ""
    yield "DA", _date(parts)
    yield "VL", one_line(source.volume)
    yield "IS", one_line(source.issue)
    yield "SP", first
    yield "EP", last
    yield "PB", one_line(source.publisher)
    yield "DO", doi_of(source)
    yield "UR", url_of(source)
    yield "Y2", _date(date_parts(source.fetched_at))
    yield "LA", one_line(source.language)
    yield "N1", "Retracted" if source.retracted else ""


def _date(parts: tuple[int, ...]) -> str:
    """Return yyyy/mm/dd, or yyyy/mm// and yyyy///: where a part is missing, all slashes of the format stay."""
    if not parts:
        return ""
    known = "/".join([f"{parts[0]:04d}", *(f"{part:02d}" for part in parts[1:])])
    return known if len(parts) == 3 else known + "/" * (4 - len(parts))
