r"""Result -> BibTeX that BibTeX, biber and reference managers read alike.

Rules: text is escaped for LaTeX; `doi`, `url` and `eprint` are verbatim; a body's name and a name in Chinese
characters stand in braces of their own; capitals are protected; what is unknown is left out (no "n.d.").
A literal brace is `\{` only where braces balance, because BibTeX counts escaped braces too.
"""

import re

from signal_search.citations.keys import citation_keys
from signal_search.citations.names import authors_of, whole
from signal_search.citations.works import (
    Kind,
    date_parts,
    doi_of,
    iso_date,
    kind_of,
    one_line,
    page_range,
    quote_unsafe,
    url_of,
)
from signal_search.contracts.document import Author
from signal_search.contracts.result import CitedSource, Result

_ENTRY_TYPES: dict[Kind, str] = {
    "article": "article",
    "conference": "inproceedings",
    "chapter": "incollection",
    "book": "book",
    "thesis": "phdthesis",
    "report": "techreport",
}
_CONTAINER_FIELDS = {
    "article": "journal",
    "inproceedings": "booktitle",
    "incollection": "booktitle",
}
_PUBLISHER_FIELDS = {"phdthesis": "school", "techreport": "institution"}

_ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{each: f"\\{each}" for each in "$&#%_"},
}
_BALANCED = {"{": r"\{", "}": r"\}"}
_UNBALANCED = {"{": r"\textbraceleft{}", "}": r"\textbraceright{}"}
_AND = re.compile(r"(?<=\s)(and)(?=\s)", re.IGNORECASE)


def write(result: Result) -> str:
    """Return one entry per cited source, in order, with a blank line between; "" without sources."""
    keys = citation_keys(result.sources)
    entries = (_entry(key, source) for key, source in zip(keys, result.sources, strict=True))
    return "\n".join(entries)


def _entry(key: str, source: CitedSource) -> str:
    kind = _ENTRY_TYPES.get(kind_of(source), "misc")
    lines = [f"  {name} = {{{value}}}," for name, value in _fields(kind, source).items() if value]
    return "\n".join([f"@{kind}{{{key},", *lines, "}", ""])


def _fields(kind: str, source: CitedSource) -> dict[str, str]:
    parts = date_parts(source.published)
    return {
        "author": " and ".join(_name(author) for author in authors_of(source.authors)),
        "title": _title(source.title),
        _CONTAINER_FIELDS.get(kind, "howpublished"): escape(source.container),
        _PUBLISHER_FIELDS.get(kind, "publisher"): _protect_and(escape(source.publisher)),
        "year": iso_date(parts[:1]),
        "date": iso_date(parts) if len(parts) > 1 else "",
        "volume": escape(source.volume),
        "number": escape(source.issue),
        "pages": "--".join(filter(None, map(escape, page_range(source.pages)))),
        "doi": doi_of(source),
        **_eprint(source),
        "url": url_of(source),
        "urldate": iso_date(date_parts(source.fetched_at)),
        "langid": _langid(source.language),
        "note": "Retracted" if source.retracted else "",
    }


def _eprint(source: CitedSource) -> dict[str, str]:
    eprint = quote_unsafe(one_line(source.arxiv_id))
    return {"eprint": eprint, "eprinttype": "arxiv", "archiveprefix": "arXiv"} if eprint else {}


def _langid(language: str) -> str:
    return {"zh": "chinese", "en": "english"}.get(language[:2], "")


def escape(text: str) -> str:
    """Return the text on one line with every character that LaTeX reads as a command escaped."""
    line = one_line(text)
    table = _ESCAPES | (_BALANCED if _braces_balance(line) else _UNBALANCED)
    return "".join(table.get(each, each) for each in line)


def _braces_balance(text: str) -> bool:
    depth = 0
    for each in text:
        depth += (each == "{") - (each == "}")
        if depth < 0:
            return False
    return depth == 0


def _title(text: str) -> str:
    """Escape, and protect each word whose capitals a style would lower; with literal braces, the whole."""
    line = one_line(text)
    if "{" in line or "}" in line:
        return _group(escape(line))
    words = line.split(" ")
    return " ".join(_word(word, first=index == 0) for index, word in enumerate(words))


def _word(word: str, *, first: bool) -> str:
    tail = word[1:] if first else word
    escaped = escape(word)
    return _group(escaped) if any(each.isupper() for each in tail) else escaped


def _group(escaped: str) -> str:
    # BibTeX changes case inside a group that starts with a command ("special character"), not inside {{...}}.
    return f"{{{{{escaped}}}}}" if escaped.startswith("\\") else f"{{{escaped}}}"


def _protect_and(escaped: str) -> str:
    # Publishers are lists joined by "and" to biber: Simon {and} Schuster is one house.
    return _AND.sub(r"{\1}", escaped)


def _name(author: Author) -> str:
    undivided = whole(author)
    if undivided:
        return f"{{{escape(undivided)}}}"
    return f"{_part(author.family)}, {_part(author.given)}"


def _part(text: str) -> str:
    escaped = escape(text)
    return f"{{{escaped}}}" if "," in text or _AND.search(f" {text} ") else escaped
