"""What a virtual host sees of a request and what it answers: plain data, so that the hosts are functions."""

from collections.abc import Callable
from urllib.parse import parse_qsl

import msgspec
from msgspec import Struct

Fields = tuple[tuple[str, str], ...]


class Ask(Struct, frozen=True, kw_only=True):
    """A request. `host` has no port, header names are lower case, `active` counts requests in flight on this host."""

    host: str
    method: str
    path: str
    query: str = ""
    headers: dict[str, str] = {}
    body: bytes = b""
    now_ms: int = 0
    active: int = 1

    @property
    def fields(self) -> dict[str, str]:
        """Return the query parameters; of a repeated one the last, as most servers do."""
        return dict(parse_qsl(self.query, keep_blank_values=True))


class Answer(Struct, frozen=True, kw_only=True):
    """A reply. `delay_s` passes before it is sent; `complaint` is written to the log: what a strict host disliked.

    drip_s: passes before each of the body's bytes, which leave one by one.
    """

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = {}
    delay_s: float = 0.0
    drip_s: float = 0.0
    complaint: str = ""


JSON = "application/json; charset=utf-8"
Host = Callable[[Ask], Answer]


def text(
    body: str, *, status: int = 200, kind: str = "text/plain; charset=utf-8", **rest: str
) -> Answer:
    """Return a text answer; `rest` are further headers with `_` for `-`."""
    named = {name.replace("_", "-"): value for name, value in rest.items()}
    return Answer(status=status, body=body.encode(), headers={"content-type": kind, **named})


def page(body: str, *, status: int = 200, **rest: str) -> Answer:
    """Return an HTML answer."""
    return text(body, status=status, kind="text/html; charset=utf-8", **rest)


def json(value: object, *, status: int = 200, complaint: str = "", **rest: str) -> Answer:
    """Return a JSON answer."""
    named = {name.replace("_", "-"): value for name, value in rest.items()}
    headers = {"content-type": "application/json; charset=utf-8", **named}
    return Answer(
        status=status, body=msgspec.json.encode(value), headers=headers, complaint=complaint
    )


def method_not_allowed(*allowed: str) -> Answer:
    """Return 405 (RFC 9110, 15.5.6)."""
    return text("Method Not Allowed\n", status=405, allow=", ".join(allowed))
