"""Counts requests and times the first byte of each answer, by route template so that ids make no series."""

from functools import lru_cache

from prometheus_client import Counter, Histogram

from api_gateway.asgi import App, Message, Receive, Scope, Send
from infra.clock import Clock
from infra.metrics import HTTP_REQUESTS, HTTP_SECONDS

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_NO_ROUTE = "none"  # refused at the door, or no such address


class Counting:
    """The outermost layer. Gives the layers within a copy of the scope that is theirs to write to."""

    def __init__(self, app: App, clock: Clock) -> None:
        """Count what `app` answers."""
        self._app = app
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        own = {**scope}
        began = self._clock.monotonic()

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._count(scope["method"], own, message["status"], began)
            await send(message)

        await self._app(own, receive, counted)

    def _count(self, method: str, scope: Scope, status: int, began: float) -> None:
        route = scope.get("path_template") or _NO_ROUTE
        known = method if method in _METHODS else "other"
        _requests(known, route, status).inc()
        _seconds(route).observe(self._clock.monotonic() - began)


@lru_cache(
    maxsize=1024
)  # looking a series up costs more than counting in it; routes and statuses are few
def _requests(method: str, route: str, status: int) -> Counter:
    return HTTP_REQUESTS.labels(method=method, route=route, status=str(status))


@lru_cache(maxsize=256)
def _seconds(route: str) -> Histogram:
    return HTTP_SECONDS.labels(route=route)
