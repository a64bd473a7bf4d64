"""Result -> CSL-JSON (schema 1.0.2): typed names and numeric date parts, for citeproc and reference managers."""

import msgspec

from signal_search.citations.keys import citation_keys
from signal_search.citations.names import authors_of, split_dropped, split_particle
from signal_search.citations.works import Kind, date_parts, doi_of, kind_of, one_line, url_of
from signal_search.contracts.document import Author
from signal_search.contracts.result import CitedSource, Result

_TYPES: dict[Kind, str] = {
    "article": "article-journal",
    "conference": "paper-conference",
    "chapter": "chapter",
    "book": "book",
    "thesis": "thesis",
    "report": "report",
    "preprint": "article",
    "dataset": "dataset",
    "software": "software",
    "standard": "standard",
    "patent": "patent",
    "web": "webpage",
    "other": "document",
}


def write(result: Result) -> str:
    """Return a JSON array with one item per cited source, in order."""
    keys = citation_keys(result.sources)
    items = [_item(key, source) for key, source in zip(keys, result.sources, strict=True)]
    return msgspec.json.format(msgspec.json.encode(items), indent=2).decode() + "\n"


def _item(key: str, source: CitedSource) -> dict[str, object]:
    fields: dict[str, object] = {
        "id": key,
        "type": _TYPES[kind_of(source)],
        "title": one_line(source.title),
        "author": [_name(author) for author in authors_of(source.authors)],
        "container-title": one_line(source.container),
        "publisher": one_line(source.publisher),
        "issued": _date(source.published),
        "accessed": _date(source.fetched_at),
        "volume": one_line(source.volume),
        "issue": one_line(source.issue),
        "page": one_line(source.pages),
        "number": f"arXiv:{one_line(source.arxiv_id)}" if source.arxiv_id else "",
        "DOI": doi_of(source),
        "URL": url_of(source),
        "language": one_line(source.language),
        "note": "Retracted" if source.retracted else "",
    }
    return {name: value for name, value in fields.items() if value}


def _date(published: str) -> dict[str, object]:
    parts = date_parts(published)
    return {"date-parts": [list(parts)]} if parts else {}


def _name(author: Author) -> dict[str, str]:
    if author.literal or not (author.family and author.given):
        return {"literal": author.literal or author.family or author.given}
    particle, family = split_particle(author.family)
    given, dropped = split_dropped(author.given)
    name = {
        "family": family,
        "given": given,
        "non-dropping-particle": particle,
        "dropping-particle": dropped,
    }
    return {part: value for part, value in name.items() if value}
