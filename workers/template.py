"""Addresses with blanks: the template of a row and a question become one URL.

The blanks are `{q}`, `{limit}`, `{from}`, `{to}` and `{lang}`, and OpenSearch's names for them (OpenSearch 1.1, "URL
template syntax"). A query parameter whose blanks are all that it says and are empty is left out, so that a template may
name dates although most questions have none.
"""

import re
from typing import Final
from urllib.parse import quote

import msgspec
from signal_search.contracts.source import SourceQuery
from signal_search.errors import BadReply

MAX_QUERY_CHARS = 300
MAX_LIMIT = 50

_BLANK = re.compile(r"\{([A-Za-z:]{1,40})\??\}")
_REQUIRED = re.compile(r"\{([A-Za-z:]{1,40})\}")
_RANGE = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})\.\.([0-9]{4}-[0-9]{2}-[0-9]{2})")
_NUMBER = re.compile(r"[0-9]{1,6}")
_LANGUAGE = re.compile(r"[a-z]{2,3}")
# Quotation marks are operators nearly everywhere, and inside OData's own they would end a string.
_QUOTES = re.compile("[\"'“”«»]+")
_OPENSEARCH: Final = {"searchTerms": "q", "count": "limit", "language": "lang"}
_FIXED: Final = {
    "startIndex": "1",
    "startPage": "1",
    "inputEncoding": "UTF-8",
    "outputEncoding": "UTF-8",
}
BLANKS: Final = frozenset({"q", "limit", "from", "to", "lang", "language"})


def fill(template: str, ask: SourceQuery, *, words: int = 0) -> str:
    """Return the address that asks `ask`.

    words: how many of the search words `{q}` takes, best first; 0 means all. Sources that want every word to occur are
    asked with few.

    Raises:
        BadReply: a blank that is required has no meaning here; only a template from outside can have one.
    """
    values = {name: quote(text, safe="", errors="replace") for name, text in _values(ask, words)}
    unknown = {name for name in _REQUIRED.findall(template) if name not in values}
    if unknown:
        raise BadReply("The source's search description asks for what is not known.")
    place, mark, query = template.partition("?")
    kept = [part for part in query.split("&") if not _says_nothing(part, values)]
    return _filled(place + mark + "&".join(kept), values).rstrip("?")


def fill_body(template: str, ask: SourceQuery, *, words: int = 0) -> str:
    """Return the JSON object of `name={blank}` pairs, those without a value left out; empty for an empty template.

    `{limit}` and fixed digits are numbers; a question is text though it may be all digits.
    """
    values = dict(_values(ask, words))
    pairs = [pair.partition("=")[::2] for pair in template.split()]
    said = {name: _typed(text, _filled(text, values)) for name, text in pairs}
    kept = {name: value for name, value in said.items() if value != ""}
    return msgspec.json.encode(kept).decode() if kept else ""


def _typed(blank: str, value: str) -> str | int:
    is_number = blank == "{limit}" or _NUMBER.fullmatch(blank)
    return int(value) if is_number else value


def blanks_of(template: str) -> frozenset[str]:
    """Return the names of the blanks in a template, OpenSearch's names as ours."""
    return frozenset(_OPENSEARCH.get(name, name) for name in _BLANK.findall(template))


def pushed_down(template: str) -> frozenset[str]:
    """Return which of the caller's constraints (language, freshness) a template carries."""
    blanks = blanks_of(template)
    return frozenset(
        name
        for name, needed in (("language", {"lang", "language"}), ("freshness", {"from", "to"}))
        if blanks & needed
    )


def words_of(ask: SourceQuery, most: int = 0) -> str:
    """Return the search words as one line without quotation marks; the sentence when there are no words."""
    chosen = ask.terms[:most] if most else ask.terms
    text = " ".join(chosen) or ask.text
    return " ".join(_QUOTES.sub(" ", text).split())[:MAX_QUERY_CHARS].strip()


def _values(ask: SourceQuery, words: int) -> tuple[tuple[str, str], ...]:
    span = _RANGE.fullmatch(ask.freshness or "")
    ours = {
        "q": words_of(ask, words),
        "limit": str(min(max(ask.limit, 1), MAX_LIMIT)),
        "from": span[1] if span else "",
        "to": span[2] if span else "",
        "lang": _primary(ask.language),
        "language": _primary(ask.language),
    }
    theirs = {name: ours[mine] for name, mine in _OPENSEARCH.items()}
    return tuple({**_FIXED, **theirs, **ours}.items())


def _primary(language: str) -> str:
    primary = language.partition("-")[0].lower()
    return primary if _LANGUAGE.fullmatch(primary) else ""


def _says_nothing(part: str, values: dict[str, str]) -> bool:
    blanks = _BLANK.findall(part)
    return bool(blanks) and not any(values.get(name) for name in blanks)


def _filled(text: str, values: dict[str, str]) -> str:
    return _BLANK.sub(lambda blank: values.get(blank[1], ""), text)
