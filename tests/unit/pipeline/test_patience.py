"""How long the fetch loop waits after a turn that brought no claim."""

import pytest

from budget.frontier import Completion
from workers.fetch_loop import patience_s, rested


@pytest.mark.parametrize(
    ("next_in_ms", "want", "expected"),
    [
        (-1, 5, 1.0),  # nothing is queued: news will say
        (400, 5, 0.398),
        (9_000, 5, 1.0),
        (2, 5, 0.0),  # it takes as long to wake
        (0, 5, 0.0),  # another worker was faster; perhaps more is due
        (0, 0, 1.0),  # everything is in flight: a host that is due must wait for an end
        (400, 0, 1.0),
    ],
)
def test_who_can_take_no_more_does_not_ask_again_for_what_is_due(
    next_in_ms: int, want: int, expected: float
) -> None:
    assert patience_s(next_in_ms, want) == expected


@pytest.mark.parametrize(
    ("now_s", "expected_ms"), [(100.0, 14_001), (100.0009, 14_001), (103.5, 10_501), (200.0, 0)]
)
def test_a_host_rests_from_the_end_of_its_reply_not_from_that_of_the_parser(
    now_s: float, expected_ms: int
) -> None:
    """Whole milliseconds that passed are taken off, none that did not."""
    done = Completion(
        uid="u",
        host="h",
        fence=1,
        reply=b"",
        fresh_ms=0,
        keep_ms=0,
        pause_ms=14_001,
        suspend_ms=60_000,
    )
    left = rested(done, 100.0, now_s)
    assert (left.pause_ms, left.suspend_ms) == (expected_ms, 60_000)
