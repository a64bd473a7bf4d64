"""What an API says of its pace in the body of a refusal, and what becomes of it."""

import pytest

from tests.fakes.fetching import NOW_MS, a_reply, a_request
from workers.fetching.backoff import pacing_of
from workers.fetching.outcomes import outcome_of_status
from workers.fetching.stated_limits import heed

THROTTLED = (
    b'{"error_id":502,"error_message":"too many requests from this IP, more requests available in 73 seconds",'
    b'"error_name":"throttle_violation"}'
)
SECONDARY = b'{"message":"You have exceeded a secondary rate limit. Please wait a few minutes."}'
REQUEST = a_request("https://api.test/search", "api")


@pytest.mark.parametrize(
    ("status", "body", "headers", "wait_s"),
    [
        (400, THROTTLED, {}, 73.0),
        (403, SECONDARY, {}, None),
        (403, SECONDARY, {"retry_after": "60"}, 60.0),
        (400, THROTTLED, {"retry_after": "5"}, 5.0),
        (403, b'{"message":"API rate limit exceeded for 127.0.0.1."}', {"x_ratelimit_reset": str(NOW_MS // 1000 + 45)}, 45.0),
    ],
)  # fmt: skip
def test_a_throttle_told_in_words_is_a_limit(
    status: int, body: bytes, headers: dict[str, str], wait_s: float | None
) -> None:
    raw = heed(a_reply(body, "application/json", status=status, **headers))
    pacing = pacing_of(raw.status, raw.headers, raw.fetched_at_ms)
    assert (pacing.verdict, pacing.retry_after_s) == ("limited", wait_s)
    outcome = outcome_of_status(REQUEST, raw)
    assert outcome is not None
    assert (outcome.reason, outcome.status) == ("source_rate_limited", status)
    assert outcome.until_ms == (None if wait_s is None else NOW_MS + wait_s * 1000)


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (400, b'{"error_id":400,"error_name":"bad_parameter","error_message":"site"}', "source_bad_reply"),
        (403, b'{"message":"Resource not accessible"}', "source_denied"),
        (403, b"<html>too many requests</html>", "source_denied"),
        (403, b'{"x":"' + b" " * 5000 + b'too many requests"}', "source_denied"),
        (404, b'{"message":"too many requests in 5 seconds"}', "source_not_found"),
    ],
)  # fmt: skip
def test_everything_else_is_left_as_it_is(status: int, body: bytes, reason: str) -> None:
    raw = a_reply(body, "application/json", status=status)
    assert heed(raw) == raw
    outcome = outcome_of_status(REQUEST, raw)
    assert outcome is not None
    assert (outcome.reason, outcome.until_ms) == (reason, None)
    assert pacing_of(status, heed(raw).headers, NOW_MS).verdict == "fine"
