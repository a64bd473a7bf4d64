"""Every error in every face's words: its status, its body, and nothing of our own bugs."""

import msgspec
import pytest
from signal_search.errors import (
    BadEncoding,
    BadMediaType,
    Broken,
    Busy,
    Conflict,
    Failed,
    Forbidden,
    Gone,
    Invalid,
    NotFound,
    SignalSearchError,
    StoreFailed,
    TimedOut,
    TooLarge,
    Unauthorized,
    Unsupported,
    all_error_classes,
)

from api_gateway.compat.refusals import Face, told_by

QUOTA = Busy("The day's quota is used.", code="quota_exceeded")


@pytest.mark.parametrize(
    ("error", "tavily", "searxng", "firecrawl"),
    [
        (Invalid("no", field="x"), 400, 400, 400),
        (Unsupported("no", field="x"), 400, 400, 400),
        (BadEncoding(), 400, 400, 400),
        (Unauthorized(), 401, 401, 401),
        (Forbidden(), 403, 403, 403),
        (NotFound(), 404, 404, 404),
        (Gone(), 410, 410, 404),
        (Conflict(code="job_finished"), 409, 409, 409),
        (TooLarge(), 413, 413, 413),
        (BadMediaType(), 415, 415, 415),
        (Busy(), 429, 429, 429),
        (QUOTA, 432, 429, 402),
        (TimedOut(), 504, 504, 408),
        (Failed(), 502, 502, 503),
        (StoreFailed(), 503, 503, 503),
        (Broken(), 500, 500, 500),
    ],
)
def test_statuses(error: SignalSearchError, tavily: int, searxng: int, firecrawl: int) -> None:
    assert told_by("tavily", error).status == tavily
    assert told_by("searxng", error).status == searxng
    assert told_by("firecrawl", error).status == firecrawl


def test_bodies() -> None:
    wrong = Invalid("A whole number is expected.", field="max_results")
    words = "max_results: A whole number is expected."
    assert msgspec.json.decode(told_by("tavily", wrong).body) == {"detail": {"error": words}}
    assert msgspec.json.decode(told_by("searxng", wrong).body) == {"error": words}
    assert msgspec.json.decode(told_by("firecrawl", wrong).body) == {
        "success": False,
        "error": words,
        "code": "INVALID_REQUEST",
    }


@pytest.mark.parametrize(
    ("error", "words"),
    [(NotFound(code="job_not_found"), "Job not found"), (Gone(), "Job expired")],
)
def test_firecrawl_says_where_a_job_is(error: SignalSearchError, words: str) -> None:
    assert msgspec.json.decode(told_by("firecrawl", error).body)["error"] == words


def test_another_format_is_answered_with_a_page() -> None:
    told = told_by("searxng", Forbidden("no", field="format"))
    assert (told.status, told.media_type) == (403, "text/html; charset=utf-8")
    assert told.body.startswith(b"<!doctype html>")
    assert told_by("searxng", Forbidden()).media_type == "application/json"


@pytest.mark.parametrize("face", ["tavily", "searxng", "firecrawl"])
def test_a_bug_says_nothing_of_itself(face: Face) -> None:
    told = told_by(face, Broken("the invariant of SECRET did not hold"))
    assert told.status == 500
    assert b"SECRET" not in told.body


@pytest.mark.parametrize("face", ["tavily", "searxng", "firecrawl"])
def test_every_error_has_a_body(face: Face) -> None:
    for kind in all_error_classes():
        told = told_by(face, kind())
        assert 400 <= told.status < 600
        assert msgspec.json.decode(told.body)
