"""Replies of the gateway -> contracts or errors, without any I/O."""

from email.utils import parsedate_to_datetime
from typing import TypeVar

import msgspec
from msgspec import Struct

from signal_search import errors
from signal_search.contracts.job import Job, JobState
from signal_search.contracts.outcome import AnyResult, decode_result
from signal_search.errors import Busy, Failed, Refused, SignalSearchError

T = TypeVar("T")

UNREACHABLE = "gateway_unreachable"
TIMED_OUT = "gateway_timed_out"
_RETRY_AFTER_MOST_S = 86_400.0


class _Detail(Struct, frozen=True):
    code: str
    message: str
    field: str | None = None
    position: int | errors.Position | None = None
    candidate_index: int | None = None


class _Stateful(Struct, frozen=True):
    state: str | None = None


class _Problem(Struct, frozen=True):
    detail: _Detail


def _own_classes() -> tuple[type[SignalSearchError], ...]:
    every = errors.all_error_classes()
    return tuple(each for each in every if each.__module__ == errors.__name__)


# Later classes are deeper in the tree: a code that a child inherits means the child.
_BY_CODE = {each.code: each for each in _own_classes()} | {
    "ranking_conflict": errors.ModeConflict,
    "candidate_limit": errors.ProgramError,
}
_BY_STATUS = {
    each.status: each for each in reversed(_own_classes()) if each is not SignalSearchError
} | {
    422: errors.Invalid,
    431: errors.TooLarge,
    500: errors.Broken,
    502: Failed,
    503: errors.StoreFailed,
    504: Failed,
}


def read(body: bytes, kind: type[T]) -> T:
    """Decode a reply's JSON.

    Raises:
        Failed: gateway_bad_reply, when it is not what was promised.
    """
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Failed(
            "the gateway's reply could not be understood", code="gateway_bad_reply"
        ) from error


def is_job(body: bytes) -> bool:
    """Say whether a reply is a job, which has a state; a result of any kind has none. Raises as `read`."""
    return read(body, _Stateful).state is not None


def read_result(body: bytes) -> AnyResult:
    """Decode a result of any kind; raises as `read`."""
    try:
        return decode_result(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Failed(
            "the gateway's reply could not be understood", code="gateway_bad_reply"
        ) from error


def error_of(
    status: int, body: bytes, retry_after: str | None, date: str | None
) -> SignalSearchError:
    """Return the error that a reply with a status from 300 on stands for, by its code, else by its status."""
    wait_s = retry_after_s(retry_after, date)
    try:
        detail = msgspec.json.decode(body, type=_Problem).detail
    except (msgspec.DecodeError, UnicodeDecodeError):
        return class_of("", status)(
            f"the gateway answered with status {status}", retry_after_s=wait_s
        )
    # A span of an expression is a program's; its codes are the language's own and many.
    is_program = isinstance(detail.position, errors.Position)
    kind = errors.ProgramError if is_program else class_of(detail.code, status)
    error = kind(
        detail.message,
        code=detail.code,
        field=detail.field,
        position=detail.position,
        retry_after_s=wait_s,
    )
    error.candidate_index = detail.candidate_index
    return error


def class_of(code: str, status: int = 0) -> type[SignalSearchError]:
    """Return the class with this code, else the one of this status, else the family (4xx refused, rest failed)."""
    known = _BY_CODE.get(code) or _BY_STATUS.get(status)
    return known or (Refused if 400 <= status < 500 else Failed)


def retry_after_s(value: str | None, date: str | None = None) -> float | None:
    """Return the seconds of a Retry-After field (RFC 9110, 10.2.3), 0 to a day; None when absent or malformed.

    A moment is counted from the reply's own `Date`, so that the clocks of both sides need not agree.
    """
    if value is None:
        return None
    if value.strip().isdecimal():
        return min(float(value), _RETRY_AFTER_MOST_S)
    try:
        then, now = parsedate_to_datetime(value), parsedate_to_datetime(date or "")
        return min(max((then - now).total_seconds(), 0.0), _RETRY_AFTER_MOST_S)
    except (ValueError, TypeError):
        return None


def failure_of(job: Job) -> SignalSearchError:
    """Return the error that a job without a result stands for."""
    if job.state is JobState.CANCELLED:
        return Failed("the job was cancelled", code="job_cancelled")
    if job.state is JobState.EXPIRED:
        return Failed("the job's deadline passed before it could answer", code="job_expired")
    return class_of(job.error_code)(
        job.error_message or "the job failed", code=job.error_code or "job_failed"
    )


def backoff_s(error: SignalSearchError, attempt: int) -> float | None:
    """Return how long to wait before asking again after `attempt` failures (from 0); None when it is no use."""
    connection = error.code in {UNREACHABLE, TIMED_OUT}
    if not (connection or isinstance(error, Busy | errors.StoreFailed)):
        return None
    return max(error.retry_after_s or 0.0, min(0.25 * 2.0**attempt, 5.0))
