"""How the adapters of APIs ask: one request, with the row's fixed parameters and the operator's key if it names one.

Whether a key is sent is the row's decision alone, so no adapter can forget it: a place that needs none takes a row of
the operator's own with one. Pages that an answer leads to are asked for as by anyone, and never get the key.
"""

from collections.abc import Iterable, Mapping
from typing import Any, TypedDict
from urllib.parse import quote, quote_plus, urlencode

import msgspec
from signal_search.contracts.source import Request, RequestKind
from typing_extensions import Unpack

from workers.adapter import SourceConfig

Fields = Mapping[str, str] | Iterable[tuple[str, str]]


class Extras(TypedDict, total=False):
    """What a request may say besides where it goes (the fields of `Request`)."""

    kind: RequestKind
    accept_language: str
    depth: int
    headers: dict[str, str]
    meanings: dict[int, str]
    answers: tuple[int, ...]
    words: str


def address(
    config: SourceConfig, url: str, fields: Fields, *, safe: str = "", blank: str = "+"
) -> str:
    """Return `url` with the fields and the row's parameters, which count for more than a field of the same name.

    safe: signs that are sent as they are; blank: how a blank is written, `+` or `%20`.
    """
    given = fields.items() if isinstance(fields, Mapping) else fields
    pairs = [(name, config.params.get(name, value)) for name, value in given]
    named = {name for name, _value in pairs}
    more = [(name, value) for name, value in config.params.items() if name not in named]
    query = urlencode(
        [*pairs, *more],
        safe=safe,
        errors="replace",
        quote_via=quote_plus if blank == "+" else quote,
    )
    join = "&" if "?" in url else "?"
    return f"{url}{join}{query}" if query else url


def call(config: SourceConfig, adapter: str, url: str, **extras: Unpack[Extras]) -> Request:
    """Return a GET of an API's address, with the key that the row names."""
    extras.setdefault("kind", "api")
    return Request(
        url=url,
        adapter=adapter,
        source_id=config.id,
        auth=config.auth,
        auth_place=config.auth_place,
        **extras,
    )


def post(
    config: SourceConfig, adapter: str, body: Mapping[str, Any] | str, **extras: Unpack[Extras]
) -> Request:
    """Return a POST of JSON to the row's endpoint, with the key that the row names. body: an object, or its JSON."""
    text = body if isinstance(body, str) else msgspec.json.encode(body).decode()
    extras.setdefault("headers", {"content-type": "application/json"})
    asked = call(config, adapter, config.endpoint, **extras)
    return msgspec.structs.replace(asked, method="POST", body=text)


def page(config: SourceConfig, adapter: str, url: str, *, depth: int = 1) -> Request:
    """Return the request for a page that an answer leads to: robots.txt and pace as for any page, and no key."""
    return Request(url=url, adapter=adapter, source_id=config.id, kind="page", depth=depth)
