"""One error shape for everything: ours, the framework's and our own bugs. Nothing of a fault but its code leaves."""

import logging
import math
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

import msgspec
from litestar import Request, Response
from litestar.exceptions import HTTPException
from msgspec import UNSET, Struct, UnsetType
from signal_search.errors import (
    BadEncoding,
    BadMediaType,
    Broken,
    Busy,
    Forbidden,
    Invalid,
    MethodNotAllowed,
    NotFound,
    Position,
    SignalSearchError,
    TooLarge,
    Unauthorized,
)

from api_gateway.asgi import Send

Result = TypeVar("Result")

_LOG = logging.getLogger(__name__)

_FRAMEWORK: dict[int, type[SignalSearchError]] = {
    400: BadEncoding,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    405: MethodNotAllowed,
    413: TooLarge,
    415: BadMediaType,
    422: Invalid,
    429: Busy,
}
_INTERNAL = 500


class Detail(Struct, frozen=True, kw_only=True):
    """What is wrong. `field` is a dotted path in the request, `position` a byte offset in the body.

    For a scoring program `position` is a span of the expression in `field`, and `candidate_index` says for which
    candidate it failed.
    """

    code: str
    message: str
    field: str | UnsetType = UNSET
    position: int | Position | UnsetType = UNSET
    candidate_index: int | UnsetType = UNSET


class Problem(Struct, frozen=True, kw_only=True):
    """The body of every answer that is not a success."""

    detail: Detail
    request_id: str


class Answer(Struct, frozen=True, kw_only=True):
    """An answer ready to be sent."""

    status: int
    headers: dict[str, str]
    body: bytes


def answer(error: SignalSearchError, request_id: str) -> Answer:
    """Return the answer for an error. What our own bugs say stays in the log."""
    message = (Broken() if error.status == _INTERNAL else error).message
    detail = Detail(
        code=error.code,
        message=message,
        field=error.field if error.field is not None else UNSET,
        position=error.position if error.position is not None else UNSET,
        candidate_index=error.candidate_index if error.candidate_index is not None else UNSET,
    )
    body = msgspec.json.encode(Problem(detail=detail, request_id=request_id))
    return Answer(status=error.status, headers=_headers(error), body=body)


def _headers(error: SignalSearchError) -> dict[str, str]:
    headers = {"content-type": "application/json"}
    if error.retry_after_s is not None:
        headers["retry-after"] = str(max(1, math.ceil(error.retry_after_s)))
    if isinstance(error, Unauthorized):
        headers["www-authenticate"] = "Bearer"
    return headers


def on_error(request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
    """Answer any exception that reaches the framework."""
    ready = problem(error, request.scope["state"]["request_id"])
    return Response(
        ready.body, status_code=ready.status, headers={**_allow(error), **ready.headers}
    )


def problem(error: Exception, request_id: str) -> Answer:
    """Return the answer for any exception; what failed is logged."""
    known = _known(error)
    if known.status >= _INTERNAL:
        trace = error if known.status == _INTERNAL else None
        _LOG.error("request failed: %s", known.code, exc_info=trace)
    return answer(known, request_id)


async def answered(ready: Awaitable[Answer], request_id: str) -> Answer:
    """Return the answer that is awaited, or that of whatever went wrong."""
    try:
        return await ready
    except Exception as error:  # noqa: BLE001  nothing but answers leaves
        return problem(error, request_id)


def attempted(call: Callable[[], Result]) -> Result | Exception:
    """Return what a call returns, or what it raises: for work that is done in another thread than it is answered in."""
    try:
        return call()
    except Exception as error:  # noqa: BLE001  it is raised again where it is answered
        return error


def _known(error: Exception) -> SignalSearchError:
    if isinstance(error, SignalSearchError):
        return error
    if isinstance(error, HTTPException):
        return _FRAMEWORK.get(error.status_code, Broken)()
    return Broken()


def _allow(error: Exception) -> Mapping[str, str]:
    headers = error.headers if isinstance(error, HTTPException) else None
    return {key.lower(): value for key, value in (headers or {}).items() if key.lower() == "allow"}


async def send_problem(send: Send, error: SignalSearchError, request_id: str) -> None:
    """Answer before the framework was reached."""
    await send_answer(send, answer(error, request_id))


async def send_answer(send: Send, ready: Answer) -> None:
    """Send an answer that is whole."""
    headers = [(key.encode(), value.encode()) for key, value in ready.headers.items()]
    headers.append((b"content-length", str(len(ready.body)).encode()))
    await send({"type": "http.response.start", "status": ready.status, "headers": headers})
    await send({"type": "http.response.body", "body": ready.body, "more_body": False})
