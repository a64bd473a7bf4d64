"""The shapes of ASGI that the door's own layers speak; the framework starts behind them."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


def header(scope: Scope, name: bytes) -> str | None:
    """Return a request header's value (lower-case `name`), None when absent; several are joined by commas."""
    found = [value.decode("latin-1") for key, value in scope["headers"] if key.lower() == name]
    return ", ".join(found) if found else None
