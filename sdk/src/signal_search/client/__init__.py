"""The client: `retrieve` for one question, `Client` and `AsyncClient` for more."""

from collections.abc import Callable, Sequence
from typing import Unpack

from signal_search.client.async_scoped_memory import AsyncScopedMemory
from signal_search.client.asynchronous import AsyncClient
from signal_search.client.blocking import Client
from signal_search.client.confirming import NeedsConfirm
from signal_search.client.delegates import Delegates
from signal_search.client.following import Update
from signal_search.client.http import AsyncHttpTransport, HttpTransport
from signal_search.client.request import BudgetLike, ConstraintsLike, build_request
from signal_search.client.scoped_memory import ScopedMemory
from signal_search.client.transport import AsyncTransport, Transport, open_transport
from signal_search.contracts.query import Depth
from signal_search.contracts.result import Result

__all__ = [
    "AsyncClient",
    "AsyncHttpTransport",
    "AsyncScopedMemory",
    "AsyncTransport",
    "Client",
    "Delegates",
    "HttpTransport",
    "NeedsConfirm",
    "ScopedMemory",
    "Transport",
    "Update",
    "build_request",
    "open_transport",
    "retrieve",
]


def retrieve(  # noqa: PLR0913 - the signature is public and fixed; all but three are keywords
    query: str,
    constraints: ConstraintsLike = None,
    budget: BudgetLike = None,
    *,
    depth: Depth | None = None,
    timeout: float | None = None,
    on_progress: Callable[[Update], object] | None = None,
    sources: Sequence[str] | None = None,
    gateway_url: str | None = None,
    redis_url: str | None = None,
    token: str | None = None,
    **delegates: Unpack[Delegates],
) -> Result:
    """Ask one question and return the result; see `Client.retrieve`.

    Without `gateway_url` or `redis_url` an embedded stack is started for the one question, or a running one is used.
    """
    with Client(gateway_url, redis_url=redis_url, token=token) as client:
        return client.retrieve(
            query,
            constraints,
            budget,
            depth=depth,
            timeout=timeout,
            on_progress=on_progress,
            sources=sources,
            **delegates,
        )
