"""One error shape for everything: ours, the framework's and our own bugs. Nothing of a fault but its code leaves."""

import logging
import math
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar, cast

import msgspec
from litestar import Request, Response
from litestar.exceptions import HTTPException
from msgspec import UNSET, Struct, UnsetType
from signal_search.contracts.generation import ModelUsage
from signal_search.errors import (
    BadEncoding,
    BadMediaType,
    Broken,
    Busy,
    Forbidden,
    Invalid,
    JudgeFailed,
    MethodNotAllowed,
    NotFound,
    Position,
    SignalSearchError,
    TooLarge,
    Unauthorized,
)

from api_gateway.asgi import Scope, Send
from api_gateway.compat.refusals import told_by
from api_gateway.paths import face_of, is_admin, is_generation
from scoring.generation.allowance import Allowance

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
    """The body of every answer that is not a success.

    usage: where a model may have been asked. detail: a text below /v1/admin, where the operator wants it so.
    """

    detail: Detail | str
    request_id: str
    usage: ModelUsage | UnsetType = UNSET


class Answer(Struct, frozen=True, kw_only=True):
    """An answer ready to be sent."""

    status: int
    headers: dict[str, str]
    body: bytes


def answer(error: SignalSearchError, request_id: str, tokens: int | None = None) -> Answer:
    """Return the answer for an error, with the tokens a model used where one may have been asked.

    What our own bugs say stays in the log.
    """
    message = (Broken() if error.status == _INTERNAL else error).message
    detail = Detail(
        code=error.code,
        message=message,
        field=error.field if error.field is not None else UNSET,
        position=error.position if error.position is not None else UNSET,
        candidate_index=error.candidate_index if error.candidate_index is not None else UNSET,
    )
    usage = UNSET if tokens is None else ModelUsage(llm_tokens=tokens)
    body = msgspec.json.encode(Problem(detail=detail, request_id=request_id, usage=usage))
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
    scope = cast("Scope", request.scope)
    ready = problem(error, scope["state"]["request_id"], scope)
    return Response(
        ready.body, status_code=ready.status, headers={**_allow(error), **ready.headers}
    )


def problem(error: Exception, request_id: str, scope: Scope | None = None) -> Answer:
    """Return the answer for any exception, told as `scope` has it told; what failed is logged."""
    known = _known(error)
    if known.status >= _INTERNAL:
        trace = error if known.status == _INTERNAL else None
        _LOG.error("request failed: %s", known.code, exc_info=trace)
    return told(known, request_id, scope)


def told(error: SignalSearchError, request_id: str, scope: Scope | None = None) -> Answer:
    """Return the answer for an error at an address: generation tells its tokens and has a last error of its own."""
    face = face_of(scope) if scope is not None else None
    if face is not None:
        status, media_type, body = told_by(face, error)
        return Answer(
            status=status, headers={**_headers(error), "content-type": media_type}, body=body
        )
    if scope is not None and is_admin(scope) and scope.get("state", {}).get("admin_text"):
        return _in_words(error, request_id)
    if scope is None or not is_generation(scope):
        return answer(error, request_id)
    allowance: Allowance | None = scope.get("state", {}).get("allowance")
    if isinstance(error, Broken):
        error = JudgeFailed("The generation failed.", code="generation_failed")
    return answer(error, request_id, allowance.reported if allowance else 0)


def _in_words(error: SignalSearchError, request_id: str) -> Answer:
    ready = answer(error, request_id)
    message = (Broken() if error.status == _INTERNAL else error).message
    detail = f"{error.field}: {message}" if error.field else message
    body = msgspec.json.encode(Problem(detail=detail, request_id=request_id))
    return msgspec.structs.replace(ready, body=body)


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


async def send_problem(
    send: Send, error: SignalSearchError, request_id: str, scope: Scope | None = None
) -> None:
    """Answer before the framework was reached."""
    await send_answer(send, told(error, request_id, scope))


async def send_answer(send: Send, ready: Answer) -> None:
    """Send an answer that is whole."""
    headers = [(key.encode(), value.encode()) for key, value in ready.headers.items()]
    headers.append((b"content-length", str(len(ready.body)).encode()))
    await send({"type": "http.response.start", "status": ready.status, "headers": headers})
    await send({"type": "http.response.body", "body": ready.body, "more_body": False})
