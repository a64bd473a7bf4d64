"""What became of every source: seven ends that must not be mixed up."""

from typing import Any

import pytest
from signal_search.contracts.plan import ConstraintUse, PlannedCall
from signal_search.contracts.query import Constraints, RetrieveRequest
from signal_search.contracts.result import SourceOutcome
from signal_search.contracts.trace import Entry

from tests.fakes.builders import (
    a_document,
    a_job,
    a_log,
    a_plan,
    a_request,
    call_refused,
    finished,
    queued,
    started,
    stopped,
)
from workers.pipeline.outcomes import degradations_of, outcomes_of, warnings_of
from workers.pipeline.state import fold

DOCUMENTS = {name: a_document(doc_id=name) for name in ("in", "out")}
ASKED = [started("q1.one", 1, 2)]
MISSED: dict[str, Any] = {
    "state": "missed",
    "status": 503,
    "reason": "server_fault",
    "detail": "status 503 Service Unavailable",
}
SKIPPED: dict[str, Any] = {
    "state": "skipped",
    "status": 0,
    "reason": "robots",
    "detail": "Disallow: /",
    "paid": False,
}

LED_ON = finished("q1.one#1", requests=(a_request(url="https://example.org/found"),))


def outcome(*entries: Entry) -> SourceOutcome:
    """That of source `one`; `in` is evidence, `out` was filtered out by a constraint."""
    return outcomes_of(fold(a_log(*entries)), DOCUMENTS, ["in"])[0]


@pytest.mark.parametrize(
    ("entries", "state"),
    [
        ([finished("q1.one#1", "in"), finished("q1.one#2")], "answered"),
        ([finished("q1.one#1", "in"), finished("q1.one#2", **MISSED)], "partly"),
        ([finished("q1.one#1", "in"), finished("q1.one#2", **SKIPPED)], "answered"),
        ([finished("q1.one#1", "in", reason="stale")], "partly"),
        ([finished("q1.one#1", reason="stale")], "failed"),
        ([finished("q1.one#1", "out"), finished("q1.one#2", **MISSED)], "filtered"),
        ([finished("q1.one#1"), finished("q1.one#2")], "no_results"),
        ([finished("q1.one#1"), finished("q1.one#2", **MISSED)], "failed"),
        ([finished("q1.one#1"), finished("q1.one#2", **SKIPPED)], "no_results"),
        ([LED_ON, finished("q1.one#1.1", **MISSED)], "failed"),
        ([LED_ON, finished("q1.one#1.1", **SKIPPED)], "refused"),
        ([LED_ON, finished("q1.one#1.1")], "no_results"),
        ([LED_ON, queued("q1.one#1.1")], "not_asked"),
        ([finished("q1.one#1", **MISSED), finished("q1.one#2", **SKIPPED)], "failed"),
        ([finished("q1.one#1", **SKIPPED)], "refused"),
    ],
)
def test_the_states_of_a_source_that_was_asked(entries: list[Entry], state: str) -> None:
    assert outcome(*ASKED, *entries).state == state


def test_a_refused_call_is_refused_and_one_without_an_answer_was_not_asked() -> None:
    assert outcome(call_refused("q1.one")).state == "refused"
    assert outcome(call_refused("q1.one")).reason == "budget"
    assert outcome().state == "not_asked"
    assert outcome(*ASKED, queued("q1.one#1")).state == "not_asked"


def test_an_outcome_says_why_and_until_when() -> None:
    limited = finished(
        "q1.one#1",
        state="missed",
        status=429,
        reason="too_many_requests",
        detail="status 429 Too Many Requests",
        until_ms=1_790_003_600_000,
    )
    assert outcome(*ASKED, limited) == SourceOutcome(
        source_id="one",
        state="failed",
        reason="too_many_requests",
        detail="status 429 Too Many Requests",
        until="2026-09-21T15:13:20Z",
        documents=0,
        fetches=1,
    )


def test_what_was_answered_has_no_reason() -> None:
    entries = [finished("q1.one#1", "in", "out"), finished("q1.one#2", **SKIPPED)]
    assert outcome(*ASKED, *entries) == SourceOutcome(
        source_id="one", state="answered", documents=2, fetches=1
    )


def test_what_failed_is_told_before_what_we_skipped() -> None:
    found = outcome(*ASKED, finished("q1.one#1", **SKIPPED), finished("q1.one#2", **MISSED))
    assert (found.state, found.reason) == ("failed", "server_fault")


HOP: dict[str, Any] = {"state": "redirected", "status": 302, "redirect_to": "https://example.org/b"}
CIRCLE = {**HOP, "redirect_to": "https://example.org/a"}
AWAY = {**HOP, "redirect_to": "https://elsewhere.test/"}
SITE = "https://example.org/"


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        (
            [queued("q1.one#1", site=SITE), finished("q1.one#1", **CIRCLE), stopped()],
            ("failed", "source_bad_reply", "redirected too often"),
        ),
        (
            [queued("q1.one#1", site=SITE), finished("q1.one#1", **HOP), stopped()],
            ("not_asked", "", ""),
        ),
        (
            [
                queued("q1.one#1"),
                queued("q1.one#2"),
                finished("q1.one#1", "in"),
                finished("q1.one#2", **HOP),
                stopped("in", reason="agreement"),
            ],
            ("answered", "", ""),
        ),
        (
            [queued("q1.one#1", site=SITE), finished("q1.one#1", **AWAY), stopped()],
            ("refused", "address", "the redirect leaves the site"),
        ),
        (
            [queued("q1.one#1"), finished("q1.one#1", **HOP), stopped(reason="deadline")],
            ("not_asked", "", ""),
        ),
        (
            [
                queued("q1.one#1"),
                finished("q1.one#1", **HOP),
                queued("q1.one#1.0"),
                finished("q1.one#1.0", **MISSED),
                stopped(),
            ],
            ("failed", "server_fault", "status 503 Service Unavailable"),
        ),
    ],
)
def test_a_redirect_that_is_not_followed_has_a_reason(
    entries: list[Entry], expected: tuple[str, str, str]
) -> None:
    """None of its own where the job had enough before its turn: whether it came before that is luck."""
    found = outcome(*ASKED, *entries)
    assert (found.state, found.reason, found.detail) == expected


def test_calls_of_one_source_are_one_outcome_in_plan_order() -> None:
    calls = tuple(
        PlannedCall(id=f"{question}.{source}", source_id=source, question_id=question)
        for source in ("two", "one")
        for question in ("q1", "q2")
    )
    log = a_log(
        started("q1.one", 1),
        finished("q1.one#1", **MISSED),
        started("q2.one", 1),
        finished("q2.one#1", "in"),
        calls=calls,
    )
    found = outcomes_of(fold(log), DOCUMENTS, ["in"])
    assert [(each.source_id, each.state) for each in found] == [
        ("two", "not_asked"),
        ("one", "partly"),
    ]


def test_degradations_are_counted_by_source_and_reason() -> None:
    view = fold(
        a_log(
            *ASKED,
            finished("q1.one#1", **MISSED),
            finished("q1.one#2", **MISSED),
            call_refused("q1.two", "not_configured"),
        )
    )
    assert degradations_of(view) == ("one: server_fault (2 times)", "two: not_configured")
    assert degradations_of(fold(a_log(*ASKED, finished("q1.one#1", "in")))) == ()


def test_warnings_name_what_the_reader_cannot_see() -> None:
    plan = a_plan(constraint_use=(ConstraintUse(source_id="one", not_honoured=("domain",)),))
    wanted = RetrieveRequest(query="How high?", constraints=Constraints(freshness="py"))
    retracted = a_document(url="https://example.org/r", retracted=True)
    undated = [a_document(doc_id="a"), a_document(doc_id="b", published="2026")]
    assert warnings_of(plan, [retracted], undated, a_job(request=wanted)) == (
        "constraint not honoured by one: domain",
        "retracted or withdrawn: https://example.org/r",
        "documents without a publication date: 1",
    )
    assert warnings_of(a_plan(), [], undated, a_job()) == ()
