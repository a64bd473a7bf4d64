"""A request body, taken in within limits and looked over before anything parses it."""

import re

from signal_search.errors import BadEncoding, BadMediaType, Invalid, TooLarge

from api_gateway.asgi import Message, Receive, Scope, header

# A whole string literal, or one bracket: brackets inside strings do not nest.
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', re.DOTALL)
_OPENING = b"[{"
_OPENING_EACH = (b"[", b"{")
_CLOSING = b"]}"


JSON = "application/json"
FORM = "application/x-www-form-urlencoded"


def check_media_type(scope: Scope, expected: str = JSON) -> None:
    """Refuse what is not plain JSON, or whatever else is expected.

    Raises:
        BadMediaType: another media type, another charset or a compressed body.
    """
    media_type, _, parameters = (header(scope, b"content-type") or "").partition(";")
    charset = parameters.replace(" ", "").replace('"', "").lower()
    encoding = (header(scope, b"content-encoding") or "identity").strip().lower()
    if media_type.strip().lower() != expected or encoding != "identity":
        raise BadMediaType
    if charset not in {"", "charset=utf-8", "charset=utf8"}:
        raise BadMediaType


async def read_body(scope: Scope, receive: Receive, *, limit: int) -> bytes | None:
    """Return the body, counted as received whatever its declared length; None when the caller left.

    Raises:
        TooLarge: as soon as more than `limit` bytes are declared or received.
    """
    declared = header(scope, b"content-length")
    if declared is not None and declared.isdecimal() and int(declared) > limit:
        raise TooLarge
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        if len(body) > limit:
            raise TooLarge
        if not message.get("more_body", False):
            return bytes(body)


def check_text(body: bytes, *, max_nesting: int) -> None:
    """Refuse what is not text, and containers nested deeper than `max_nesting`.

    Raises:
        BadEncoding: not UTF-8, or a literal NUL; `position` is its byte.
        Invalid: `request_nesting_limit`; `position` is the bracket that is one too many.
    """
    nul = body.find(0)
    if nul >= 0:
        raise BadEncoding("The body contains a NUL byte.", position=nul)
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadEncoding("The body is not UTF-8.", position=error.start) from None
    # Fewer brackets than may be nested cannot be nested too deeply, wherever they stand.
    if sum(map(body.count, _OPENING_EACH)) > max_nesting:
        _check_nesting(body, max_nesting)


def _check_nesting(body: bytes, limit: int) -> None:
    depth = 0
    for token in _TOKEN.finditer(body):
        kind = token[0]
        if kind in _OPENING:
            depth += 1
        elif kind in _CLOSING:
            depth -= 1
        if depth > limit:
            raise Invalid(
                "Containers are nested too deeply.",
                code="request_nesting_limit",
                position=token.start(),
            )


def replay(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives the body once and then what the connection has to say."""
    is_given = False

    async def again() -> Message:
        nonlocal is_given
        if is_given:
            return await receive()
        is_given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
