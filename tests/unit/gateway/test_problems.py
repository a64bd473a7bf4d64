"""One error shape: what is ours is told, what is a fault of ours is not."""

import msgspec
import pytest
from litestar.exceptions import HTTPException, MethodNotAllowedException
from signal_search.errors import (
    Broken,
    Busy,
    HeadersTooLarge,
    Invalid,
    Position,
    ProgramError,
    ProgramTooLarge,
    SignalSearchError,
    StoreFailed,
    TooLarge,
    Unauthorized,
    all_error_classes,
)

from api_gateway.problems import _known, answer


def body(error: SignalSearchError) -> dict[str, object]:
    found: dict[str, object] = msgspec.json.decode(answer(error, "req_1").body)
    return found


def test_what_is_absent_is_left_out():
    assert body(Unauthorized()) == {
        "detail": {"code": "unauthorized", "message": "A valid bearer token is required."},
        "request_id": "req_1",
    }


def test_field_and_position_are_told():
    error = Invalid("Too deep.", code="request_nesting_limit", field="a.b", position=0)
    assert body(error)["detail"] == {
        "code": "request_nesting_limit", "message": "Too deep.", "field": "a.b", "position": 0,
    }  # fmt: skip


def test_a_place_in_a_program_is_an_object_of_whole_numbers():
    place = Position(line=1, column=2, end_line=1, end_column=3)
    error = ProgramError("Division by zero", code="division_by_zero", field="score", position=place)
    error.candidate_index = 0
    assert answer(error, "r").status == 422
    assert body(error)["detail"] == {
        "code": "division_by_zero", "message": "Division by zero", "field": "score", "candidate_index": 0,
        "position": {"line": 1, "column": 2, "end_line": 1, "end_column": 3},
    }  # fmt: skip
    assert answer(ProgramTooLarge(), "r").status == 413


@pytest.mark.parametrize(("seconds", "header"), [(0.0, "1"), (0.2, "1"), (4.1, "5"), (30.0, "30")])
def test_retry_after_is_whole_seconds_rounded_up(seconds: float, header: str):
    assert answer(Busy(retry_after_s=seconds), "r").headers["retry-after"] == header


def test_our_own_faults_say_nothing():
    ready = answer(Broken("the secret invariant"), "r")
    assert ready.status == 500
    assert b"secret" not in ready.body


def test_the_status_is_the_classs_own():
    assert answer(HeadersTooLarge(), "r").status == 431
    assert answer(TooLarge(), "r").status == 413
    assert answer(StoreFailed(), "r").status == 503


@pytest.mark.parametrize("kind", all_error_classes())
def test_every_error_has_an_answer(kind: type[SignalSearchError]):
    ready = answer(kind(), "r")
    assert 400 <= ready.status <= 599
    assert msgspec.json.decode(ready.body)["detail"]["code"] == kind.code


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (404, "not_found"),
        (405, "method_not_allowed"),
        (400, "request_encoding"),
        (413, "request_too_large"),
        (418, "internal"),
    ],
)
def test_the_frameworks_errors_become_ours(status: int, code: str):
    known = _known(HTTPException("what it says", status_code=status))
    assert known.code == code
    assert "what it says" not in known.message


def test_any_other_exception_is_a_fault_of_ours():
    assert _known(KeyError("secret")).code == "internal"
    assert _known(MethodNotAllowedException()).status == 405
