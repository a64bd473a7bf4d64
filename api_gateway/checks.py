"""What a type cannot say about a request: real dates in order, visible text, addresses that can be asked."""

import unicodedata
from collections.abc import Iterator
from datetime import date
from urllib.parse import urlsplit

from signal_search.contracts.query import RetrieveRequest
from signal_search.errors import Invalid

_ADDRESSED = ("site:", "feed:")
_LAYOUT = frozenset("\t\n\r")


def check_request(request: RetrieveRequest) -> None:
    """Refuse a request that cannot mean anything.

    Raises:
        Invalid: with the dotted path of the first field at fault.
    """
    _check_texts(request)
    _check_freshness(request.constraints.freshness)
    for position, entry in enumerate(request.constraints.source_prefs.only):
        if entry.startswith(_ADDRESSED):
            _check_address(entry[5:], f"constraints.source_prefs.only[{position}]")


def _check_texts(request: RetrieveRequest) -> None:
    for field, text in _texts(request):
        if not text.strip():
            raise Invalid("This text is blank.", field=field)
        allowed = _LAYOUT if field == "query" else frozenset()
        if any(unicodedata.category(each) == "Cc" and each not in allowed for each in text):
            raise Invalid("This text contains control characters.", field=field)


def _texts(request: RetrieveRequest) -> Iterator[tuple[str, str]]:
    yield "query", request.query
    if request.constraints.domain is not None:
        yield "constraints.domain", request.constraints.domain
    prefs = request.constraints.source_prefs
    for name, entries in (("boost", prefs.boost), ("block", prefs.block), ("only", prefs.only)):
        for position, entry in enumerate(entries):
            yield f"constraints.source_prefs.{name}[{position}]", entry


def _check_freshness(freshness: str | None) -> None:
    if freshness is None or ".." not in freshness:
        return
    first, _, last = freshness.partition("..")
    try:
        is_in_order = date.fromisoformat(first) <= date.fromisoformat(last)
    except ValueError:
        raise Invalid("This is not a date.", field="constraints.freshness") from None
    if not is_in_order:
        raise Invalid("The range ends before it begins.", field="constraints.freshness")


def _check_address(url: str, field: str) -> None:
    try:
        parts = urlsplit(url)
        is_web = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_web = False
    else:
        is_web = is_web and "@" not in parts.netloc
    if not is_web or any(each.isspace() for each in url):
        message = "An http or https address with a host and without credentials is expected."
        raise Invalid(message, field=field)
