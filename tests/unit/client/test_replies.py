"""Error replies: classes by code and status, Retry-After in both forms, and how long to wait."""

import pytest
from signal_search.client.replies import backoff_s, class_of, error_of, retry_after_s
from signal_search.errors import (
    AddressRefused,
    BadReply,
    Broken,
    Busy,
    Conflict,
    Failed,
    Forbidden,
    HeadersTooLarge,
    Invalid,
    NotFound,
    Position,
    ProgramError,
    ProgramTooLarge,
    Refused,
    SignalSearchError,
    StoreFailed,
    all_error_classes,
)


@pytest.mark.parametrize(
    "known", [each for each in all_error_classes() if each.__module__ == "signal_search.errors"]
)
def test_every_error_comes_back_as_itself_or_a_kind_of_it(known: type[SignalSearchError]) -> None:
    assert issubclass(class_of(known.code, known.status), known)


@pytest.mark.parametrize(
    ("code", "status", "kind"),
    [
        ("", 403, Forbidden),
        ("address_refused", 403, AddressRefused),
        ("", 404, NotFound),
        ("job_failed", 409, Conflict),
        ("header_too_large", 431, HeadersTooLarge),
        ("", 418, Refused),
        ("", 422, Invalid),
        ("", 500, Broken),
        ("", 502, Failed),
        ("", 503, StoreFailed),
        ("", 599, Failed),
        ("source_bad_reply", 0, BadReply),
        ("unheard_of", 0, Failed),
    ],
)
def test_code_first_then_status_then_family(
    code: str, status: int, kind: type[SignalSearchError]
) -> None:
    assert class_of(code, status) is kind


@pytest.mark.parametrize(
    ("value", "date", "seconds"),
    [
        ("7", None, 7.0),
        (" 0 ", None, 0.0),
        ("99999999", None, 86_400.0),
        ("Wed, 21 Oct 2026 07:28:30 GMT", "Wed, 21 Oct 2026 07:28:00 GMT", 30.0),
        ("Wed, 21 Oct 2026 07:27:00 GMT", "Wed, 21 Oct 2026 07:28:00 GMT", 0.0),
        ("Wed, 21 Oct 2026 07:28:30 GMT", None, None),
        ("-3", None, None),
        ("soon", None, None),
        ("²", None, None),
        (None, None, None),
    ],
)
def test_retry_after(value: str | None, date: str | None, seconds: float | None) -> None:
    assert retry_after_s(value, date) == seconds


def test_an_error_of_a_program_is_carried_whole() -> None:
    body = (
        b'{"detail": {"code": "domain", "message": "m", "field": "score", "candidate_index": 7, '
        b'"position": {"line": 1, "column": 2, "end_line": 3, "end_column": 4}}, "request_id": "r"}'
    )
    error = error_of(422, body, None, None)
    place = Position(line=1, column=2, end_line=3, end_column=4)
    assert type(error) is ProgramError
    assert (error.code, error.field, error.position, error.candidate_index) == (
        "domain",
        "score",
        place,
        7,
    )
    too_large = error_of(
        413, b'{"detail": {"code": "scorer_too_large", "message": "m"}}', None, None
    )
    assert type(too_large) is ProgramTooLarge


def test_position_and_field_are_carried() -> None:
    body = b'{"detail": {"code": "invalid_request", "message": "m", "field": "query", "position": 3}, "request_id": "r"}'
    error = error_of(422, body, None, None)
    assert (type(error), error.field, error.position, error.message) == (Invalid, "query", 3, "m")


@pytest.mark.parametrize(
    "body", [b"", b"\xff", b"[]", b'{"detail": "text"}', b'{"detail": {"code": 3}}']
)
def test_any_other_body_is_told_by_status(body: bytes) -> None:
    error = error_of(429, body, "5", None)
    assert (type(error), error.retry_after_s) == (Busy, 5.0)


@pytest.mark.parametrize(
    ("error", "attempt", "wait"),
    [
        (Busy(retry_after_s=3.0), 0, 3.0),
        (Busy(), 0, 0.25),
        (StoreFailed(), 2, 1.0),
        (StoreFailed(), 20, 5.0),
        (Failed(code="gateway_unreachable"), 1, 0.5),
        (Failed(), 0, None),
        (Invalid(), 0, None),
    ],
)
def test_only_what_may_pass_is_asked_again(
    error: SignalSearchError, attempt: int, wait: float | None
) -> None:
    assert backoff_s(error, attempt) == wait
