"""The fold: what a log says, whatever the order in which replies came."""

import itertools

import pytest
from signal_search.contracts.plan import PlannedCall
from signal_search.contracts.trace import Expanded, FetchFinished
from signal_search.errors import Broken

from tests.fakes.builders import (
    NOW_MS,
    a_log,
    a_plan,
    call_refused,
    finished,
    queued,
    started,
    stopped,
)
from workers.pipeline.state import fold, number_of

LATER = (
    PlannedCall(id="q1.one", source_id="one", question_id="q1"),
    PlannedCall(id="q2.one", source_id="one", question_id="q2", round=2),
)
ARRIVALS = [
    finished("q1.one#1", "a"),
    finished("q1.one#2", "b"),
    finished("q1.two#1", "c"),
    finished("q1.two#1.1", "d"),
]
ASKED = [
    started("q1.one", 1, 2),
    started("q1.two", 1),
    queued("q1.one#1"),
    queued("q1.one#2"),
    queued("q1.two#1"),
    queued("q1.two#1.1"),
]


def expanded(number: int, *calls: PlannedCall) -> Expanded:
    return Expanded(at_ms=NOW_MS, key=f"round:{number}", round=number, calls=calls, why="open")


@pytest.mark.parametrize("order", list(itertools.permutations(ARRIVALS)))
def test_the_order_of_arrival_does_not_matter_once_all_have_come(
    order: tuple[FetchFinished, ...],
) -> None:
    settled = fold(a_log(*ASKED, *order)).settled_fetches()
    assert [each.fetch_id for each in settled] == ["q1.one#1", "q1.one#2", "q1.two#1", "q1.two#1.1"]
    assert [each.finished.documents for each in settled if each.finished] == [
        ("a",),
        ("b",),
        ("c",),
        ("d",),
    ]


@pytest.mark.parametrize(
    ("arrived", "settled"),
    [
        ([], []),
        (["q1.one#1"], ["q1.one#1"]),
        (["q1.one#2"], []),
        (["q1.one#2", "q1.two#1"], []),
        (["q1.one#1", "q1.two#1"], ["q1.one#1"]),
        (["q1.one#1", "q1.one#2"], ["q1.one#1", "q1.one#2"]),
    ],
)
def test_only_what_stands_before_the_first_open_fetch_is_settled(
    arrived: list[str], settled: list[str]
) -> None:
    view = fold(a_log(*ASKED, *map(finished, arrived)))
    assert [each.fetch_id for each in view.settled_fetches()] == settled


def test_a_call_that_was_not_asked_yet_holds_back_what_comes_after_it() -> None:
    view = fold(a_log(started("q1.two", 1), finished("q1.two#1")))
    assert view.settled_fetches() == []
    refused = fold(a_log(started("q1.two", 1), finished("q1.two#1"), call_refused("q1.one")))
    assert [each.fetch_id for each in refused.settled_fetches()] == ["q1.two#1"]


def test_a_fetch_is_open_until_it_ended() -> None:
    view = fold(a_log(*ASKED, finished("q1.one#2")))
    assert [each.fetch_id for each in view.open_fetches()] == ["q1.one#1", "q1.two#1", "q1.two#1.1"]


def test_a_started_call_is_open_while_one_of_its_fetches_is_unknown() -> None:
    asked = [started("q1.one", 1, 2), queued("q1.one#1"), finished("q1.one#1")]
    assert fold(a_log(*asked)).calls["q1.one"].is_open
    told = [*asked, finished("q1.one#2")]
    assert fold(a_log(*told)).calls["q1.one"].is_open  # its step has yet to note what it asked
    assert not fold(a_log(*told, queued("q1.one#2"))).calls["q1.one"].is_open


def test_a_call_is_open_before_it_starts_and_closed_once_refused() -> None:
    assert fold(a_log()).calls["q1.one"].is_open
    assert not fold(a_log(call_refused("q1.one"))).calls["q1.one"].is_open


def test_a_follow_up_opens_its_call_again() -> None:
    asked = [started("q1.one", 1), queued("q1.one#1"), finished("q1.one#1")]
    assert fold(a_log(*asked, queued("q1.one#1.1"))).calls["q1.one"].is_open


def test_a_call_that_asks_nothing_is_over_at_once() -> None:
    assert not fold(a_log(started("q1.one"))).calls["q1.one"].is_open


def test_calls_of_later_rounds_count_when_their_round_is_opened() -> None:
    first = a_log(started("q1.one", 1), queued("q1.one#1"), finished("q1.one#1"), calls=LATER)
    assert [each.call.id for each in fold(first).active_calls()] == ["q1.one"]
    assert [each.fetch_id for each in fold(first).settled_fetches()] == ["q1.one#1"]
    new = PlannedCall(id="r2.q1.one", source_id="one", question_id="q1", round=2)
    view = fold([*first, expanded(2, LATER[1], new)])
    assert view.round == 2
    assert [each.call.id for each in view.active_calls()] == ["q1.one", "q2.one", "r2.q1.one"]
    assert [each.is_open for each in view.active_calls()] == [False, True, True]


def test_opening_a_round_twice_forgets_nothing() -> None:
    log = a_log(expanded(2, LATER[1]), started("q2.one", 1), expanded(2, LATER[1]), calls=LATER)
    assert list(fold(log).calls["q2.one"].fetches) == ["q2.one#1"]


def test_fetches_stand_in_the_order_of_their_numbers_not_of_their_text() -> None:
    numbers = ["q1.one#10", "q1.one#2", "q1.one#1.2", "q1.one#1.10", "q1.one#1", "q1.one#1.0"]
    view = fold(a_log(*map(queued, numbers)))
    assert [each.fetch_id for each in view.calls["q1.one"].in_order()] == [
        "q1.one#1",
        "q1.one#1.0",
        "q1.one#1.2",
        "q1.one#1.10",
        "q1.one#2",
        "q1.one#10",
    ]


def test_a_source_with_a_hash_sign_in_its_name_keeps_its_number() -> None:
    assert number_of("all.feed#x#3.0") == (3, 0)


def test_entries_of_unknown_calls_are_left_out() -> None:
    view = fold(a_log(started("q9.one", 1), queued("q9.one#1"), finished("q9.one#1")))
    assert list(view.fetches()) == []


def test_what_nobody_may_ask_of_an_unplanned_job() -> None:
    with pytest.raises(Broken):
        fold(a_log()[:1]).require()
    plan, spec = fold(a_log()).require()
    assert (plan, spec.id) == (a_plan(), "job_1")


def test_stopping_is_remembered() -> None:
    assert fold(a_log()).stopped is None
    assert fold(a_log(stopped("a"))).stopped == stopped("a")


def test_a_call_with_follow_ups_to_ask_for_holds_back_what_stands_behind_it() -> None:
    view = fold(a_log(*ASKED, *ARRIVALS))
    busy = view.settled_fetches({"q1.one"})
    assert [each.fetch_id for each in busy] == ["q1.one#1", "q1.one#2"]
    assert len(view.settled_fetches({"q1.two"})) == 4
