"""Every error of Signal Search, told apart by what its reader can do.

SignalSearchError
├── Refused                  we said no; the caller can change the request        retry: no
│   ├── Unauthorized         401 unauthorized
│   ├── Forbidden            403 forbidden
│   ├── AddressRefused       403 address_refused
│   ├── NotFound             404 not_found, job_not_found, delegation_not_found
│   ├── MethodNotAllowed     405 method_not_allowed
│   ├── Conflict             409 job_unfinished, job_finished, job_failed, job_cancelled, job_expired,
│   │                            idempotency_conflict, without_citations, delegation_answered,
│   │                            delegation_late
│   ├── Gone                 410 result_expired
│   ├── BadEncoding          400 request_encoding
│   ├── TooLarge             413 request_too_large, token_budget_exceeded
│   │   └── HeadersTooLarge  431 header_too_large
│   ├── ModeConflict         400 mode_conflict, ranking_conflict
│   ├── BadMediaType         415 unsupported_media_type
│   ├── Invalid (field)      422 invalid_request, request_nesting_limit
│   ├── ProgramError         422 syntax, type, ... (field, position, candidate_index; scorer guide, section 7)
│   │   └── ProgramTooLarge  413 scorer_too_large
│   └── Unsupported          422 unsupported_requirements, clarification, generation_invalid
├── Busy (retry_after_s)     429 rate_limited                                     retry: after
├── Failed                   the world did; never the caller's fault              retry: later or after
│   ├── SourceFailed (source)
│   │   ├── TimedOut         source_timed_out
│   │   ├── Unreachable      source_unreachable
│   │   │   └── Dropped      the same; may be sent again at once or later
│   │   ├── TooManyRequests  source_rate_limited (retry_after_s)
│   │   ├── ServerFault      source_server_fault
│   │   ├── Denied           source_denied (401, 402, 403, 407, 451)
│   │   ├── NotThere         source_not_found (404, 410)
│   │   ├── BadReply         source_bad_reply
│   │   └── BodyTooLarge     source_body_too_large
│   ├── JudgeFailed (tokens) 502 model_error, model_unavailable, model_response_invalid,
│   │   │                        model_response_too_large, generation_failed
│   │   ├── JudgeTimedOut    504 generation_timeout
│   │   └── NoJudge          503 generation_unavailable
│   └── StoreFailed          503 store_unavailable (Redis), memory_unavailable
└── Broken                   our own bug; an invariant did not hold               500 internal

Postpone                     control flow, not an error: a pace, or an answer that may come, says "not yet"

A message never repeats input, keys or configuration.
"""

from typing import ClassVar

# Handed on: whoever needs an error finds all of them here.
from signal_search.error_root import Position as Position  # noqa: PLC0414
from signal_search.error_root import Retry as Retry  # noqa: PLC0414
from signal_search.error_root import SignalSearchError as SignalSearchError  # noqa: PLC0414


class Refused(SignalSearchError):
    """The request was refused."""

    code = "invalid_request"
    status: ClassVar[int] = 422


class Unauthorized(Refused):
    """A valid bearer token is required."""

    code = "unauthorized"
    status: ClassVar[int] = 401


class Forbidden(Refused):
    """This token may not do that."""

    code = "forbidden"
    status: ClassVar[int] = 403


class AddressRefused(Refused):
    """That address may not be fetched."""

    code = "address_refused"
    status: ClassVar[int] = 403


class NotFound(Refused):
    """There is nothing at this address."""

    code = "not_found"
    status: ClassVar[int] = 404


class MethodNotAllowed(Refused):
    """This address does not answer that method."""

    code = "method_not_allowed"
    status: ClassVar[int] = 405


class Conflict(Refused):
    """The request does not fit the present state."""

    code = "conflict"
    status: ClassVar[int] = 409


class Gone(Refused):
    """The result has expired and was deleted."""

    code = "result_expired"
    status: ClassVar[int] = 410


class BadEncoding(Refused):
    """The body is not UTF-8 JSON."""

    code = "request_encoding"
    status: ClassVar[int] = 400


class ModeConflict(Refused):
    """Two fields of the request contradict each other."""

    code = "mode_conflict"
    status: ClassVar[int] = 400


class TooLarge(Refused):
    """The request is larger than the limit."""

    code = "request_too_large"
    status: ClassVar[int] = 413


class HeadersTooLarge(TooLarge):
    """The headers are larger than the limit."""

    code = "header_too_large"
    status: ClassVar[int] = 431


class BadMediaType(Refused):
    """The body must be application/json."""

    code = "unsupported_media_type"
    status: ClassVar[int] = 415


class Invalid(Refused):
    """A field of the request is not valid."""


class ProgramError(Refused):
    """The scoring program is not valid, or failed on a candidate."""

    code = "syntax"


class ProgramTooLarge(ProgramError):
    """The scoring program is larger than the limit."""

    code = "scorer_too_large"
    status: ClassVar[int] = 413


class Unsupported(Refused):
    """This deployment cannot do what the request requires."""

    code = "unsupported_requirements"


class Busy(SignalSearchError):
    """Too many requests; try again later."""

    code = "rate_limited"
    status: ClassVar[int] = 429
    retry: ClassVar[Retry] = "after"


class Failed(SignalSearchError):
    """Something outside of this system failed."""

    code = "failed"
    status: ClassVar[int] = 502
    retry: ClassVar[Retry] = "later"


class SourceFailed(Failed):
    """A source did not answer as it should."""

    code = "source_failed"


class TimedOut(SourceFailed):
    """The source did not answer in time."""

    code = "source_timed_out"


class Unreachable(SourceFailed):
    """No connection to the source could be made."""

    code = "source_unreachable"


class Dropped(Unreachable):
    """The source closed an idle connection as a request went out on it."""


class TooManyRequests(SourceFailed):
    """The source asked to be called less often."""

    code = "source_rate_limited"
    retry: ClassVar[Retry] = "after"


class ServerFault(SourceFailed):
    """The source answered with a server error."""

    code = "source_server_fault"


class Denied(SourceFailed):
    """The source denied access."""

    code = "source_denied"


class NotThere(SourceFailed):
    """The source has nothing at this address."""

    code = "source_not_found"


class BadReply(SourceFailed):
    """The source's reply could not be understood."""

    code = "source_bad_reply"


class BodyTooLarge(SourceFailed):
    """The source's reply was larger than the limit."""

    code = "source_body_too_large"


class JudgeFailed(Failed):
    """The operator's model did not answer as it should."""

    code = "model_error"

    def __init__(self, message: str = "", *, code: str | None = None, tokens: int = 0) -> None:
        """Carry the tokens that the failed answer reported all the same."""
        super().__init__(message, code=code)
        self.tokens = tokens


class JudgeTimedOut(JudgeFailed):
    """The operator's model did not answer in time."""

    code = "generation_timeout"
    status: ClassVar[int] = 504


class NoJudge(JudgeFailed):
    """This deployment does not generate scorers: it is switched off, or no model is configured."""

    code = "generation_unavailable"
    status: ClassVar[int] = 503
    retry: ClassVar[Retry] = "no"


class StoreFailed(Failed):
    """The job store did not answer."""

    code = "store_unavailable"
    status: ClassVar[int] = 503


class Broken(SignalSearchError):
    """An internal error occurred."""

    code = "internal"
    status: ClassVar[int] = 500


class Postpone(Exception):
    """Not yet, said a pace or an answer that may still come: try again at `until_ms` (epoch milliseconds)."""

    def __init__(self, until_ms: int) -> None:
        """Remember when."""
        super().__init__(until_ms)
        self.until_ms = until_ms


def all_error_classes() -> tuple[type[SignalSearchError], ...]:
    """Return every error class, base first, for the reference page and its test."""
    found: list[type[SignalSearchError]] = [SignalSearchError]
    for each in found:
        found.extend(each.__subclasses__())
    return tuple(dict.fromkeys(found))
