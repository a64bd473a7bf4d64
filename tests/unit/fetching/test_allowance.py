"""Rate-limit headers in the dialects that APIs speak; expectations worked out by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.settings import load
from workers.fetching.allowance import allowance_reset_s, is_used_up, stated_pace_s
from workers.fetching.backoff import pacing_of, suspension_ms

NOW_MS = 1_790_000_000_000
HEADERS = (
    "x-rate-limit-limit",
    "x-rate-limit-interval",
    "ratelimit-policy",
    "ratelimit",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
    "ratelimit-remaining",
)


@pytest.mark.parametrize(
    ("headers", "expected_s"),
    [
        ({"x-rate-limit-limit": "50", "x-rate-limit-interval": "1s"}, 0.02),  # Crossref
        ({"x-rate-limit-limit": "5", "x-rate-limit-interval": "1m"}, 12.0),
        ({"x-rate-limit-limit": "2", "x-rate-limit-interval": "30"}, 15.0),
        ({"x-rate-limit-limit": "50"}, None),
        ({"x-rate-limit-limit": "0", "x-rate-limit-interval": "1s"}, None),
        ({"x-rate-limit-limit": "many", "x-rate-limit-interval": "1s"}, None),
        ({"ratelimit-policy": "100;w=60"}, 0.6),
        ({"ratelimit-policy": "10;w=1, 1000;w=86400"}, 86.4),  # the longest counts
        ({"ratelimit-policy": '"burst";q=100;w=60,"daily";q=960;w=86400'}, 90.0),
        ({"ratelimit-policy": '"default";q=10'}, None),
        ({}, None),
    ],
)
def test_stated_pace(headers: dict[str, str], expected_s: float | None) -> None:
    assert stated_pace_s(headers) == pytest.approx(expected_s)


@pytest.mark.parametrize(
    ("headers", "used_up", "expected_s"),
    [
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1790000060"}, True, 60.0),  # GitHub
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "30"}, True, 30.0),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1789999990"}, True, None),  # past
        ({"x-ratelimit-remaining": "7", "x-ratelimit-reset": "30"}, False, None),
        ({"x-ratelimit-remaining": "0, 14523", "x-ratelimit-reset": "1, 1419704"}, True, 1.0),
        ({"x-ratelimit-remaining": "1, 0", "x-ratelimit-reset": "1, 1419704"}, True, 1_419_704.0),
        ({"ratelimit-remaining": "0", "ratelimit-reset": "5"}, True, 5.0),
        ({"ratelimit": "limit=100, remaining=0, reset=50"}, True, 50.0),
        ({"ratelimit": '"default";r=0;t=9'}, True, 9.0),
        ({"ratelimit": '"default";r=3;t=9'}, False, None),
        ({"x-ratelimit-remaining": "0"}, True, None),
        ({"x-ratelimit-remaining": "none"}, False, None),
        ({}, False, None),
    ],
)
def test_used_up_allowance(
    headers: dict[str, str], used_up: bool, expected_s: float | None
) -> None:
    assert is_used_up(headers) == used_up
    assert allowance_reset_s(headers, NOW_MS) == pytest.approx(expected_s)


@given(
    st.dictionaries(
        st.sampled_from(HEADERS),
        st.text(max_size=40),
    )
)
def test_any_header_is_read_without_raising(headers: dict[str, str]) -> None:
    pace_s = stated_pace_s(headers)
    assert pace_s is None or pace_s > 0
    reset_s = allowance_reset_s(headers, NOW_MS)
    assert reset_s is None or reset_s > 0


def test_a_refusal_without_retry_after_is_left_alone_until_the_reset() -> None:
    pacing = pacing_of(429, {"x-ratelimit-reset": "1790000120"}, NOW_MS)
    assert (pacing.verdict, pacing.retry_after_s) == ("limited", 120.0)


def test_retry_after_wins_over_the_reset() -> None:
    headers = {"retry-after": "7", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "120"}
    assert pacing_of(429, headers, NOW_MS).retry_after_s == 7.0


def test_an_answer_that_says_the_next_one_would_be_refused_suspends_its_host() -> None:
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "120"}
    pacing = pacing_of(200, headers, NOW_MS)
    assert pacing.verdict == "fine"
    assert suspension_ms(pacing, 0, load().politeness) == 120_000
