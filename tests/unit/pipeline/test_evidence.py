"""Which documents count, and what was spent."""

import pytest
from signal_search.contracts.query import Constraints

from tests.fakes.builders import (
    NOW_MS,
    a_document,
    a_log,
    call_refused,
    finished,
    queued,
    started,
)
from workers.pipeline.evidence import (
    arrived_documents,
    as_range,
    is_fresh,
    usage_of,
    within_constraints,
)
from workers.pipeline.state import fold

# NOW_MS is 2026-09-21T14:13:20Z.


@pytest.mark.parametrize(
    ("freshness", "wanted"),
    [
        ("pd", "2026-09-20..2026-09-22"),
        ("pw", "2026-09-14..2026-09-22"),
        ("pm", "2026-08-21..2026-09-22"),
        ("py", "2025-09-20..2026-09-22"),
        ("2024-01-01..2024-12-31", "2024-01-01..2024-12-31"),
        (None, None),
    ],
)
def test_a_freshness_is_a_range_of_days(freshness: str | None, wanted: str | None) -> None:
    assert as_range(freshness, NOW_MS) == wanted


@pytest.mark.parametrize(
    ("freshness", "published", "fresh"),
    [
        ("2024-03-10..2024-05-20", "2024-03-09", False),
        ("2024-03-10..2024-05-20", "2024-03-10", True),
        ("2024-03-10..2024-05-20", "2024-05-20", True),
        ("2024-03-10..2024-05-20", "2024-05-21", False),
        ("2024-03-10..2024-05-20", "2024-03", True),
        ("2024-03-10..2024-05-20", "2024-02", False),
        ("2024-03-10..2024-05-20", "2024", True),
        ("2024-03-10..2024-05-20", "2023", False),
        ("2024-03-10..2024-05-20", "2025", False),
        ("2023-11-01..2024-02-01", "2023", True),
        ("2023-11-01..2024-02-01", "2024", True),
        ("pd", "2026-09-20", True),
        ("pd", "2026-09-19", False),
        ("py", "2025", True),
        ("py", "2024", False),
        ("pd", "", True),
        (None, "1903-01-01", True),
    ],
)
def test_what_is_fresh(freshness: str | None, published: str, fresh: bool) -> None:
    assert is_fresh(a_document(published=published), freshness, NOW_MS) is fresh


@pytest.mark.parametrize(
    ("domain", "site", "kept"),
    [
        ("example.org", "example.org", True),
        ("www.example.org", "example.org", True),
        ("example.org", "example.com", False),
        ("example.org", "notexample.org", False),
        (None, "example.com", True),
    ],
)
def test_a_domain_is_the_registrable_one(domain: str | None, site: str, kept: bool) -> None:
    found = within_constraints([a_document(site=site)], Constraints(domain=domain), NOW_MS)
    assert bool(found) is kept


@pytest.mark.parametrize(
    ("wanted", "language", "kept"),
    [
        ("en", "en", True),
        ("en", "en-GB", True),
        ("en-US", "en", True),
        ("en", "zh", False),
        ("zh-TW", "zh", True),
        ("en", "", True),
        (None, "zh", True),
    ],
)
def test_a_language_is_compared_without_its_region(
    wanted: str | None, language: str, kept: bool
) -> None:
    constraints = Constraints(language=wanted)
    assert bool(within_constraints([a_document(language=language)], constraints, NOW_MS)) is kept


def test_documents_come_in_plan_order_each_once_and_unknown_ones_are_left_out() -> None:
    view = fold(
        a_log(
            started("q1.one", 1),
            started("q1.two", 1),
            finished("q1.two#1", "b", "a", "gone"),
            finished("q1.one#1", "a", "c"),
        )
    )
    stored = {name: a_document(doc_id=name) for name in "abc"}
    found = arrived_documents(list(view.fetches()), stored)
    assert [each.doc_id for each in found] == ["a", "c", "b"]


def test_usage_is_counted_from_the_log_and_only_what_was_paid() -> None:
    view = fold(
        a_log(
            started("q1.one", 1, 2),
            started("q1.two", 1),
            finished("q1.one#1", "a", bytes=1000, tokens=40),
            finished("q1.one#2", "b", bytes=500, tokens=7, paid=False),
            finished("q1.two#1", "c", "d", bytes=30, tokens=2),
        )
    )
    usage = usage_of(view)
    assert (usage.tokens, usage.calls, usage.fetches, usage.bytes, usage.rounds) == (
        49,
        2,
        2,
        1030,
        1,
    )
    assert usage.counting == "estimated"
    assert usage.by_source == {
        "one": {"calls": 1, "fetches": 1, "bytes": 1000, "documents": 2},
        "two": {"calls": 1, "fetches": 1, "bytes": 30, "documents": 2},
    }


def test_a_refused_call_and_an_open_fetch_cost_nothing() -> None:
    usage = usage_of(fold(a_log(call_refused("q1.one"), started("q1.two", 1), queued("q1.two#1"))))
    assert (usage.tokens, usage.calls, usage.fetches, usage.bytes) == (0, 1, 0, 0)
