"""What a type cannot say about a request: real dates in order, visible text, addresses that can be asked."""

import re
from collections.abc import Iterator
from datetime import date
from urllib.parse import urlsplit

from signal_search.contracts.query import MEMORY_SOURCE, RetrieveRequest
from signal_search.errors import Invalid

ADDRESSED = ("site:", "feed:")
# The category Cc of Unicode, which is closed: C0, DEL and C1.
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_CONTROLS_BUT_LAYOUT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def check_request(request: RetrieveRequest) -> None:
    """Refuse a request that cannot mean anything.

    Raises:
        Invalid: with the dotted path of the first field at fault.
    """
    _check_texts(request)
    check_freshness(request.constraints.freshness, "constraints.freshness")
    for position, entry in enumerate(request.constraints.source_prefs.only):
        field = f"constraints.source_prefs.only[{position}]"
        if entry.startswith(ADDRESSED):
            check_address(entry[5:], field)
        if entry == MEMORY_SOURCE and request.constraints.scope is None:
            raise Invalid("Research memory is asked by its scope.", field=field)


def check_text(field: str, text: str, *, layout: bool = False) -> None:
    """Refuse a text that is blank or has control characters; with `layout` tabs and line ends may be in it.

    Raises:
        Invalid: with the field.
    """
    if not text.strip():
        raise Invalid("This text is blank.", field=field)
    if (_CONTROLS_BUT_LAYOUT if layout else _CONTROLS).search(text):
        raise Invalid("This text contains control characters.", field=field)


def _check_texts(request: RetrieveRequest) -> None:
    for field, text in _texts(request):
        check_text(field, text, layout=field == "query")


def _texts(request: RetrieveRequest) -> Iterator[tuple[str, str]]:
    yield "query", request.query
    if request.constraints.domain is not None:
        yield "constraints.domain", request.constraints.domain
    prefs = request.constraints.source_prefs
    for name, entries in (("boost", prefs.boost), ("block", prefs.block), ("only", prefs.only)):
        for position, entry in enumerate(entries):
            yield f"constraints.source_prefs.{name}[{position}]", entry


def check_freshness(freshness: str | None, field: str) -> None:
    """Refuse a range of days that do not exist or run backwards.

    Raises:
        Invalid: with the field.
    """
    if freshness is None or ".." not in freshness:
        return
    first, _, last = freshness.partition("..")
    try:
        is_in_order = date.fromisoformat(first) <= date.fromisoformat(last)
    except ValueError:
        raise Invalid("This is not a date.", field=field) from None
    if not is_in_order:
        raise Invalid("The range ends before it begins.", field=field)


def check_address(url: str, field: str) -> None:
    """Refuse what is no plain address of the web.

    Raises:
        Invalid: with the field.
    """
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
