"""Pages of a result set by hand: sizes, the budget of bytes, and what every page repeats."""

from typing import Any

import msgspec
import pytest
from signal_search.contracts.adaptive_result import AdaptiveResult, ScreenedResult
from signal_search.errors import Invalid

from scoring.screening.pages import MOST_BYTES, ResultSet, page_of, read_cursor

NAME = "01234567-89ab-cdef-0123-456789abcdef"


def a_result(number: int, text: str = "text") -> ScreenedResult:
    return ScreenedResult(
        url=f"https://e.test/{number}",
        title="t",
        description=text,
        value_score=0.9,
        direction_match=None,
        kind="lead",
        matches=(),
    )


def a_set(*rows: ScreenedResult, **changes: Any) -> ResultSet:
    values: dict[str, Any] = {
        "results": (),
        "total_results": 0,
        "next_cursor": None,
        "expires_at": "2026-01-01T00:30:00Z",
        "retrieval_sufficient": True,
        "keyword_progress": (),
        "pending_assessments": 2,
        "stop_reason": "keyword_queue_empty",
        "warnings": ("one",),
        **changes,
    }
    return ResultSet(id=NAME, rows=rows, page=AdaptiveResult(**values))


def test_pages_follow_each_other_and_repeat_the_same() -> None:
    found = a_set(*map(a_result, range(5)))
    first = page_of(found, 0, 2)
    assert first.next_cursor == f"{NAME}.2"
    second = page_of(found, read_cursor(first.next_cursor).offset, 2)
    third = page_of(found, 4, 2)
    assert [each.url[-1] for each in (*first.results, *second.results, *third.results)] == list(
        "01234"
    )
    assert third.next_cursor is None
    assert {each.total_results for each in (first, second, third)} == {5}
    assert {each.warnings for each in (first, second, third)} == {("one",)}


def test_a_page_ends_with_its_bytes_not_only_with_its_size() -> None:
    found = a_set(*(a_result(number, "x" * 10_000) for number in range(10)))
    page = page_of(found, 0, 50)
    assert len(page.results) == 4  # four of about 10,100 bytes; a fifth would pass 45,000
    assert len(msgspec.json.encode(page)) < MOST_BYTES
    assert page.warnings == ("one",)


def test_one_result_that_is_larger_than_a_page_is_given_whole_with_a_warning() -> None:
    found = a_set(a_result(0, "x" * 50_000), a_result(1))
    page = page_of(found, 0, 20)
    assert [each.url[-1] for each in page.results] == ["0"]
    assert len(page.warnings) == 2
    assert page.next_cursor == f"{NAME}.1"
    assert page_of(found, 1, 20).warnings == ("one",)


def test_metadata_takes_its_part_of_the_bytes_and_the_first_result_comes_all_the_same() -> None:
    found = a_set(a_result(0), a_result(1), warnings=("w" * 46_000,))
    page = page_of(found, 0, 20)
    assert len(page.results) == 1
    assert page.next_cursor == f"{NAME}.1"


def test_the_end_is_an_empty_page_and_what_lies_behind_is_refused() -> None:
    found = a_set(a_result(0))
    assert page_of(found, 1, 20).results == ()
    with pytest.raises(Invalid):
        page_of(found, 2, 20)


def test_no_result_is_an_empty_page() -> None:
    page = page_of(a_set(), 0, 20)
    assert (page.results, page.next_cursor, page.total_results) == ((), None, 0)
