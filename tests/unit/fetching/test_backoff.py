"""Retry-After in both forms, and growing pauses without it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.settings import load
from workers.fetching.backoff import Pacing, backoff_s, pacing_of, retry_after_s, suspension_ms

NOW_MS = 784_111_777_000  # Sun, 06 Nov 1994 08:49:37 GMT, the example of RFC 9110, 5.6.7


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("7", 7.0),
        (" 120 ", 120.0),
        ("0", 0.0),
        ("Sun, 06 Nov 1994 08:50:37 GMT", 60.0),
        ("Sunday, 06-Nov-94 08:50:37 GMT", 60.0),
        ("Sun Nov  6 08:50:37 1994", 60.0),
        ("Sun, 06 Nov 1994 08:00:00 GMT", 0.0),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("", None),
        ("١٢", None),
    ],
)
def test_retry_after(value: str, expected: float | None) -> None:
    assert retry_after_s({"retry-after": value}, NOW_MS) == expected


def test_absent_header() -> None:
    assert retry_after_s({}, NOW_MS) is None


@given(st.text(max_size=60))
def test_any_header_is_read_without_raising(value: str) -> None:
    found = retry_after_s({"retry-after": value}, NOW_MS)
    assert found is None or found >= 0


@pytest.mark.parametrize(
    ("status", "headers", "verdict", "wait_s"),
    [
        (200, {"retry-after": "9"}, "fine", None),
        (301, {"retry-after": "9"}, "fine", 9.0),
        (404, {}, "fine", None),
        (429, {}, "limited", None),
        (503, {"retry-after": "9"}, "limited", 9.0),
        (403, {"x-ratelimit-remaining": "0", "retry-after": "60"}, "limited", 60.0),
        (403, {"x-ratelimit-remaining": "5"}, "fine", None),
        (403, {"ratelimit-remaining": "0"}, "limited", None),
        (500, {}, "fault", None),
    ],
)
def test_pacing(status: int, headers: dict[str, str], verdict: str, wait_s: float | None) -> None:
    pacing = pacing_of(status, headers, NOW_MS, 20.0)
    assert (pacing.verdict, pacing.retry_after_s, pacing.crawl_delay_s) == (verdict, wait_s, 20.0)


def test_backoff_doubles_to_its_cap() -> None:
    pauses = [backoff_s(n, base_s=30, cap_s=3600) for n in range(9)]
    assert pauses == [30, 60, 120, 240, 480, 960, 1920, 3600, 3600]
    assert backoff_s(10**9, base_s=30, cap_s=3600) == 3600
    assert backoff_s(-1, base_s=30, cap_s=3600) == 30


def test_suspension() -> None:
    politeness = load().politeness

    def rest(pacing: Pacing, failures: int = 0) -> int:
        return suspension_ms(pacing, failures, politeness)

    assert rest(Pacing(verdict="fine"), 5) == 0
    assert rest(Pacing(verdict="unsent"), 5) == 0
    assert rest(Pacing(verdict="limited")) == 30_000
    assert rest(Pacing(verdict="fault"), 2) == 120_000
    assert rest(Pacing(verdict="limited", retry_after_s=7.0), 5) == 7_000
    assert rest(Pacing(verdict="limited", retry_after_s=10**7)) == 86_400_000
