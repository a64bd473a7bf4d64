"""In front of admission: what other APIs' callers do differently from ours, put right before anyone looks.

A key that stands in the body (Tavily's older callers) or in a password (a SearXNG behind one) becomes the bearer token
that it is. Firecrawl's Python client drops the path of the address it is given, so that `/v2/...` is that face too.
Nothing of a key is kept or logged.
"""

import asyncio
import base64
import binascii
from typing import Final

import msgspec
from msgspec import Struct
from signal_search.errors import BadEncoding, SignalSearchError, TooLarge

from api_gateway.asgi import App, Receive, Scope, Send, header
from api_gateway.body import read_body, replay
from api_gateway.paths import FIRECRAWL, TAVILY_SEARCH, face_of, plain
from api_gateway.problems import send_problem
from infra import ids

_ALIAS: Final = "/v2/"
_AUTHORIZATION: Final = b"authorization"


class _Keyed(Struct):
    """The part of a body that says who asks."""

    api_key: str = ""


class Faces:
    """Hands every connection on. It writes into the scope, which must be this request's own copy."""

    def __init__(self, app: App, *, body_bytes: int, body_s: float = 30.0) -> None:
        """Stand before `app`; a body that is looked into for a key has at most `body_bytes` within `body_s`."""
        self._app = app
        self._body_bytes = body_bytes
        self._body_s = body_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] == "http":
            if plain(scope["path"]).startswith(_ALIAS):
                scope["path"] = FIRECRAWL + plain(scope["path"])
            if face_of(scope) == "searxng":
                _take_password(scope)
            if _has_key_in_body(scope):
                await self._with_key(scope, receive, send)
                return
        await self._app(scope, receive, send)

    async def _with_key(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            async with asyncio.timeout(self._body_s):
                body = await read_body(scope, receive, limit=self._body_bytes)
        except (TooLarge, TimeoutError) as error:
            known: SignalSearchError = BadEncoding("The body did not arrive in time.")
            known = error if isinstance(error, TooLarge) else known
            await send_problem(send, known, ids.request_id(), scope)
            return
        if body is not None:
            _set_bearer(scope, _key_in(body))
            await self._app(scope, replay(body, receive), send)


def _has_key_in_body(scope: Scope) -> bool:
    is_search = scope["method"] == "POST" and plain(scope["path"]) == TAVILY_SEARCH
    return is_search and header(scope, _AUTHORIZATION) is None


def _key_in(body: bytes) -> str:
    try:
        return msgspec.json.decode(body, type=_Keyed).api_key
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return ""  # admission says what is wrong with it


def _take_password(scope: Scope) -> None:
    scheme, _, packed = (header(scope, _AUTHORIZATION) or "").partition(" ")
    if scheme.lower() != "basic":
        return
    try:
        pair = base64.b64decode(packed.strip(), validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return
    _set_bearer(scope, pair.partition(":")[2])


def _set_bearer(scope: Scope, token: str) -> None:
    if not token or not token.isascii() or not token.isprintable():
        return
    others = [pair for pair in scope["headers"] if pair[0].lower() != _AUTHORIZATION]
    scope["headers"] = [*others, (_AUTHORIZATION, b"Bearer " + token.encode())]
