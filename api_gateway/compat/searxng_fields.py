"""The parameters of a SearXNG search, read: a value that SearXNG would refuse is refused in its words. Pure."""

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct
from signal_search.errors import Forbidden, Invalid

from api_gateway.compat.asked import PAST
from api_gateway.compat.refusals import FORMAT

_CATEGORIES: Final = frozenset({"general", "news", "science", "it"})
_ANY_LANGUAGE: Final = frozenset({"", "all", "auto"})
_TIME_RANGES: Final = frozenset({"", "day", "week", "month", "year"})
_SAFE_SEARCH: Final = frozenset({"", "0", "1", "2"})
_LANGUAGE: Final = re.compile(r"[a-z]{2}(?:-[A-Za-z]{2,4})?")
_MAX_SIGNS: Final = 4000  # of a query, as everywhere at this door
_PAGE: Final = re.compile(r"[1-9][0-9]{0,3}")


class SearxngSearch(Struct, frozen=True, kw_only=True):
    """A search as read from its parameters; time_range is in the engine's words, page counts from 1."""

    query: str
    category: str = "general"
    engines: tuple[str, ...] = ()
    language: str | None = None
    freshness: str | None = None
    page: int = 1
    is_filtered: bool = False


def read(fields: Mapping[str, str]) -> SearxngSearch:
    """Return the search that parameters ask for.

    Raises:
        Forbidden: another format than json.
        Invalid: no query, or a value that SearXNG would refuse or this engine has nothing for.
    """
    if fields.get("format", "html") != "json":
        raise Forbidden("Of the formats only json is enabled here.", field=FORMAT)
    query = fields.get("q", "").strip()
    if not query:
        raise Invalid("No query", field="q")
    if len(query) > _MAX_SIGNS:
        raise Invalid("The query is too long.", field="q")
    safe = _one_of(fields, "safesearch", _SAFE_SEARCH)
    return SearxngSearch(
        query=query,
        category=_category(fields),
        engines=_names(fields, "engines"),
        language=_language(fields),
        freshness=PAST.get(_one_of(fields, "time_range", _TIME_RANGES)),
        page=_page(fields),
        is_filtered=safe in {"1", "2"},
    )


def _one_of(fields: Mapping[str, str], name: str, known: frozenset[str]) -> str:
    value = fields.get(name, "")
    if value not in known:
        raise _invalid(name)
    return value


def _names(fields: Mapping[str, str], name: str) -> tuple[str, ...]:
    """Return names in lower case without blanks: "semantic scholar" is semanticscholar here."""
    names = ("".join(each.lower().split()) for each in fields.get(name, "").split(","))
    return tuple(dict.fromkeys(each for each in names if each))


def _category(fields: Mapping[str, str]) -> str:
    names = _names(fields, "categories") or ("general",)
    if len(names) > 1 or names[0] not in _CATEGORIES:
        raise _invalid("categories")
    return names[0]


def _language(fields: Mapping[str, str]) -> str | None:
    value = fields.get("language", "")
    if value in _ANY_LANGUAGE:
        return None
    if not _LANGUAGE.fullmatch(value):
        raise _invalid("language")
    return value


def _page(fields: Mapping[str, str]) -> int:
    value = fields.get("pageno", "") or "1"
    if not _PAGE.fullmatch(value):
        raise _invalid("pageno")
    return int(value)


def _invalid(name: str) -> Invalid:
    return Invalid("Invalid value for this parameter.", field=name)
