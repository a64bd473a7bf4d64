"""The bounds of an adaptive search's input that the case file leaves out, and its cursor rules."""

from datetime import date
from typing import Any

import msgspec
import pytest
from signal_search.contracts.adaptive import AdaptiveRequest
from signal_search.errors import Invalid

from scoring.screening.dates import date_status, inferred_window, published_day
from scoring.screening.figures import Weights
from scoring.screening.groups import Text, source_groups
from scoring.screening.targets import check_page, targets_of

TODAY = date(2026, 8, 1)


def a_task(**changes: Any) -> dict[str, Any]:
    target = {"id": "a", "keywords": ["k"], "question": "q"}
    return {"context": "c", "targets": [{**target, **changes.pop("target", {})}], **changes}


def refused_field(given: dict[str, Any]) -> str | None:
    request = msgspec.convert(given, AdaptiveRequest)
    with pytest.raises(Invalid) as refused:
        targets_of(request, TODAY)
    assert refused.value.code == "invalid_input"
    return refused.value.field


@pytest.mark.parametrize(
    ("given_input", "field"),
    [
        ({"tasks": []}, "tasks"),
        ({"tasks": [a_task()] * 7}, "tasks"),
        ({"tasks": [{"context": "c", "targets": []}]}, "tasks[0].targets"),
        ({"tasks": [{"context": " ", "targets": a_task()["targets"]}]}, "tasks[0].context"),
        ({"tasks": [{"context": "c", "targets": a_task()["targets"] * 2}]}, "tasks[0].targets"),
        ({"tasks": [a_task(target={"keywords": []})]}, "tasks[0].targets[0].keywords"),
        ({"tasks": [a_task(target={"keywords": ["k"] * 5})]}, "tasks[0].targets[0].keywords"),
        ({"tasks": [a_task(target={"keywords": ["k" * 101]})]}, "tasks[0].targets[0].keywords[0]"),
        ({"tasks": [a_task(target={"intent": " "})]}, "tasks[0].targets[0].intent"),
        ({"tasks": [a_task(target={"facts": []})]}, "tasks[0].targets[0].facts"),
        (
            {"tasks": [a_task(target={"facts": [{"id": "!", "question": "x"}]})]},
            "tasks[0].targets[0].facts[0].id",
        ),
        (
            {"tasks": [a_task(target={"facts": [{"id": "f", "question": ""}]})]},
            "tasks[0].targets[0].facts[0].question",
        ),
        (
            {
                "tasks": [
                    a_task(),
                    a_task(
                        time_range={"start": "2026-02-01", "end": "2026-01-01", "basis": "event"}
                    ),
                ]
            },
            "tasks[1].time_range.end",
        ),
        ({"questions": ["q"], "keywords": []}, "keywords"),
        ({"questions": ["q"], "keywords": [[]]}, "keywords[0]"),
        ({"questions": ["q", "r"], "keywords": [["k"], []]}, "keywords[1]"),
    ],
)
def test_what_is_out_of_bounds_is_named(given_input: dict[str, Any], field: str) -> None:
    assert refused_field(given_input) == field


def test_more_than_twelve_targets_are_too_many_though_each_task_is_within_its_bound() -> None:
    targets = [{"id": f"i{at}", "keywords": ["k"], "question": "q"} for at in range(4)]
    tasks = [{"context": f"c{at}", "targets": targets} for at in range(4)]
    assert refused_field({"tasks": tasks}) == "tasks"
    kept = targets_of(msgspec.convert({"tasks": tasks[:3]}, AdaptiveRequest), TODAY)
    assert sum(len(each.origins) for each in kept) == 12


def test_texts_are_trimmed_before_they_are_counted_and_keywords_count_once() -> None:
    given = {"questions": [f"\ufeff {'q' * 400} \u3000"], "keywords": [" k ", "k", "m"]}
    [target] = targets_of(msgspec.convert(given, AdaptiveRequest), TODAY)
    assert (target.text, target.keywords) == ("q" * 400, ("k", "m"))


def test_a_window_that_words_ask_for_is_marked_as_such() -> None:
    asked = msgspec.convert({"questions": ["what was published yesterday"]}, AdaptiveRequest)
    [target] = targets_of(asked, TODAY)
    assert target.window is not None
    assert (target.window.start, target.window.basis, target.window.inferred) == (
        "2026-07-31",
        "published",
        True,
    )
    dated = msgspec.convert({"questions": ["released on 2026-01-20"]}, AdaptiveRequest)
    [without] = targets_of(dated, TODAY, by_dates=False)
    assert without.window is None
    assert inferred_window("released on 2026-01-20", TODAY) is not None


@pytest.mark.parametrize(
    ("given_input", "field"),
    [
        ({"cursor": "x", "questions": ["q"]}, "questions"),
        ({"cursor": "x", "keywords": []}, "keywords"),
        ({"cursor": "x", "tasks": []}, "tasks"),
        ({"cursor": "x", "intent": "i"}, "intent"),
        ({"cursor": "x", "sources": []}, "sources"),
        ({"cursor": ""}, "cursor"),
        ({"cursor": "x" * 101}, "cursor"),
    ],
)
def test_a_cursor_stands_alone(given_input: dict[str, Any], field: str) -> None:
    with pytest.raises(Invalid) as refused:
        check_page(msgspec.convert(given_input, AdaptiveRequest))
    assert refused.value.field == field
    check_page(msgspec.convert({"cursor": "x", "page_size": 50}, AdaptiveRequest))


@pytest.mark.parametrize(
    ("published", "day"),
    [
        ("2026-01-31T23:30:00-02:00", "2026-02-01"),
        ("2026-01-31T23:30:00Z", "2026-01-31"),
        ("2026-01-31 00:30:00+0900", "2026-01-30"),
        ("2026-01-31T23:30:00", ""),  # no zone: which day it was in UTC is not known
        ("2026-01-31T99:30:00Z", ""),
        ("0001-01-01T00:00:00+23:59", ""),
        ("31 January 2026", ""),
    ],
)
def test_days_of_publication(published: str, day: str) -> None:
    assert published_day(published) == day


def test_without_a_window_every_date_will_do() -> None:
    assert date_status(None, published=None, text="") == "not_required"


@pytest.mark.parametrize(
    "weights",
    [{"keyword": -0.1}, {"keyword": float("nan")}, {"repetition": 0.0}, {"repeated": 0.75}],
)
def test_weights_out_of_order_are_refused(weights: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"weights|repetition"):
        Weights(**weights)


def test_what_is_no_address_is_one_group() -> None:
    rows = [
        Text(url="nonsense", text="one and all"),
        Text(url="http://[bad", text="two of us"),
        Text(url="http://e.test/", text=""),
        Text(url="http://f.test/", text=""),
    ]
    assert source_groups(rows) == [0, 0, 2, 3]
