"""How long the fetch loop waits after a turn that brought no claim."""

import pytest

from workers.fetch_loop import patience_s


@pytest.mark.parametrize(
    ("next_in_ms", "want", "expected"),
    [
        (-1, 5, 1.0),  # nothing is queued: news will say
        (400, 5, 0.4),
        (9_000, 5, 1.0),
        (0, 5, 0.001),  # another worker was faster; perhaps more is due
        (0, 0, 1.0),  # everything is in flight: a host that is due must wait for an end
        (400, 0, 1.0),
    ],
)
def test_who_can_take_no_more_does_not_ask_again_for_what_is_due(
    next_in_ms: int, want: int, expected: float
) -> None:
    assert patience_s(next_in_ms, want) == expected
