"""May you come in: identity, then size, then form, all before the framework or a parser sees the request.

Plain ASGI around the application, so that nothing can be reached past it.
"""

import asyncio
import re
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass

from signal_search.errors import BadEncoding, HeadersTooLarge, SignalSearchError

from api_gateway.asgi import App, Message, Receive, Scope, Send, header
from api_gateway.auth import Gate
from api_gateway.body import FORM, JSON, check_media_type, check_text, read_body, replay
from api_gateway.paths import is_form_search, kind_of
from api_gateway.problems import send_problem
from api_gateway.request_slots import RequestSlots
from infra import ids
from infra.logging import bound
from infra.tokens import Principal

PUBLIC_PATHS = frozenset({"/", "/healthz", "/readyz", "/openapi.json", "/docs"})
NOBODY = Principal(tenant="", scopes=frozenset())

_POLICY = (
    1008  # RFC 6455, 7.4.1: closed for a reason of policy; before the handshake it becomes a 403
)
_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


@dataclass(frozen=True)
class Limits:
    """What a request may weigh: bytes of body and headers, depth of containers, seconds until the body is there.

    admin_text: errors below /v1/admin have a text for a detail.
    """

    body_bytes: int
    nesting: int
    header_bytes: int = 32_768
    body_s: float = 30.0
    admin_text: bool = False


class Admission:
    """Refuses what must not come in; hands on the rest with its caller, its id and its whole body.

    It writes these into the scope, which must be this request's own copy (`Counting` makes it).
    """

    def __init__(
        self,
        app: App,
        gate: Gate,
        limits: Limits,
        slots: Callable[[], RequestSlots] | None = None,
    ) -> None:
        """Stand before `app`; `slots` gives the slots of the addresses that need one, once they are open."""
        self._app = app
        self._gate = gate
        self._limits = limits
        self._slots = slots

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection. There are no web sockets here; the server's own start and stop go straight on."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": _POLICY})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = _request_id(scope)
        with bound(request_id=request_id):
            await self._answer(scope, receive, _tag(send, request_id), request_id)

    async def _answer(self, scope: Scope, receive: Receive, tagged: Send, request_id: str) -> None:
        scope["state"] = {**scope.get("state", {}), "admin_text": self._limits.admin_text}
        try:
            caller = self._caller(scope)
            kind = kind_of(scope)
            if kind is None or self._slots is None:
                await self._pass_on(scope, receive, tagged, request_id, caller)
                return
            # The slot that the request needs: before its body is read, and until it is answered.
            async with AsyncExitStack() as held:
                await held.enter_async_context(self._slots().taken(kind))
                freeing = _freeing(tagged, held)
                await self._pass_on(scope, receive, freeing, request_id, caller)
        except SignalSearchError as refusal:
            await send_problem(tagged, refusal, request_id, scope)

    async def _pass_on(
        self, scope: Scope, receive: Receive, send: Send, request_id: str, caller: Principal
    ) -> None:
        body = await self._body(scope, receive)
        if body is not None:
            _mark(scope, request_id, caller)
            await self._app(scope, replay(body, receive), send)

    def _caller(self, scope: Scope) -> Principal:
        size = sum(len(name) + len(value) for name, value in scope["headers"])
        if size > self._limits.header_bytes:
            raise HeadersTooLarge
        return NOBODY if scope["path"] in PUBLIC_PATHS else self._gate.admit(scope)

    async def _body(self, scope: Scope, receive: Receive) -> bytes | None:
        if scope["method"] not in _WITH_BODY:
            return b""
        check_media_type(scope, FORM if is_form_search(scope) else JSON)
        try:
            async with asyncio.timeout(self._limits.body_s):
                body = await read_body(scope, receive, limit=self._limits.body_bytes)
        except TimeoutError:
            raise BadEncoding("The body did not arrive in time.") from None
        if body is not None:
            check_text(body, max_nesting=self._limits.nesting)
        return body


def _request_id(scope: Scope) -> str:
    given = header(scope, b"x-request-id")
    return given if given and _REQUEST_ID.fullmatch(given) else ids.request_id()


def _mark(scope: Scope, request_id: str, caller: Principal) -> None:
    # A HEAD is answered as its GET; the server leaves the body out, and a stream ends before its first event.
    is_head = scope["method"] == "HEAD"
    marks = {"request_id": request_id, "principal": caller, "is_head": is_head}
    scope["state"] = {**scope.get("state", {}), **marks}
    if is_head:
        scope["method"] = "GET"


def _freeing(send: Send, held: AsyncExitStack) -> Send:
    """Give back what is held before the last byte leaves: who has the answer may ask the next thing at once."""

    async def freeing(message: Message) -> None:
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            await held.aclose()
        await send(message)

    return freeing


def _tag(send: Send, request_id: str) -> Send:
    async def tagged(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = [*message.get("headers", []), (b"x-request-id", request_id.encode())]
            message = {**message, "headers": headers}
        await send(message)

    return tagged
