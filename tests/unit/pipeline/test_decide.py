"""What to do next: stop at the deadline, at an empty purse, when nothing is left; else fetch, or open a round."""

import itertools
from typing import Any

import pytest
from signal_search.contracts.document import Document
from signal_search.contracts.plan import PlannedCall, SubQuestion
from signal_search.contracts.query import Tier
from signal_search.contracts.result import StopReason
from signal_search.contracts.source import Link
from signal_search.contracts.trace import Entry, Expanded

from infra.settings import load
from tests.fakes.builders import (
    NOW_MS,
    a_document,
    a_log,
    a_request,
    call_refused,
    finished,
    queued,
    started,
)
from workers.pipeline.decide import Decision, decide
from workers.pipeline.rules import snapshot
from workers.pipeline.state import fold

RULES = snapshot(load())
DEADLINE_MS = NOW_MS + 60_000  # that of the builders' plan
OFF_TOPIC = a_document(doc_id="x", title="Tea", text="Green tea is grown on terraces.")
TWO_ROUNDS: dict[str, Any] = {
    "tier": Tier.L2,
    "max_rounds": 2,
    "questions": (
        SubQuestion(id="q1", text="How high is Mount Ansel?"),
        SubQuestion(id="q2", text="Who climbed it first?", depends_on=("q1",)),
    ),
    "calls": (
        PlannedCall(id="q1.one", source_id="one", question_id="q1"),
        PlannedCall(id="q2.one", source_id="one", question_id="q2", round=2),
    ),
}


def decided(*entries: Entry, at_ms: int = NOW_MS + 10, documents: dict[str, Document] | None = None, **plan: Any) -> Decision:  # fmt: skip
    return decide(fold(a_log(*entries, **plan)), documents or {}, RULES, now_ms=at_ms)


def reason(decision: Decision) -> StopReason | None:
    return decision.stop.reason if decision.stop else None


# --- the deadline -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("at_ms", "expected"),
    [(DEADLINE_MS - 1, None), (DEADLINE_MS, StopReason.DEADLINE), (DEADLINE_MS + 1, StopReason.DEADLINE)],
)  # fmt: skip
def test_it_stops_at_the_deadline_whatever_is_open(at_ms: int, expected: StopReason | None) -> None:
    decision = decided(started("q1.one", 1), queued("q1.one#1"), at_ms=at_ms)
    assert reason(decision) is expected


def test_at_the_deadline_all_that_arrived_counts_and_nothing_is_asked_any_more() -> None:
    log = [
        started("q1.one", 1),
        queued("q1.one#1"),
        started("q1.two", 1),
        queued("q1.two#1"),
        finished("q1.two#1", "d1", requests=(a_request(),)),
    ]
    documents = {"d1": a_document()}
    before = decided(*log, documents=documents)
    assert (before.evidence.sites, before.evidence.arrivals) == (0, ())
    assert [each.fetch_id for each in before.fetches] == ["q1.two#1.1"]
    after = decided(*log, documents=documents, at_ms=DEADLINE_MS)
    assert (after.evidence.sites, len(after.evidence.arrivals)) == (1, 1)
    assert after.fetches == []


@pytest.mark.parametrize(("tier", "cut"), [(Tier.L1, False), (Tier.L2, True)])
def test_a_deadline_cuts_coverage_tiers_only(tier: Tier, cut: bool) -> None:
    decision = decided(started("q1.one", 1), at_ms=DEADLINE_MS, tier=tier)
    assert decision.stop is not None
    assert decision.stop.exhausted is cut


# --- the purse --------------------------------------------------------------------------------------------------------

REFUSED_CALL = [call_refused("q1.one", "budget")]
REFUSED_FETCH = [
    started("q1.one", 1),
    finished("q1.one#1", state="skipped", status=0, reason="budget", paid=False),
]


@pytest.mark.parametrize("refusal", [REFUSED_CALL, REFUSED_FETCH], ids=["call", "fetch"])
def test_a_refusal_for_lack_of_money_ends_the_search_when_nothing_is_outstanding(
    refusal: list[Entry],
) -> None:
    """What is on its way may cost less than was held for it, and what it does not use comes back."""
    on_its_way = [*refusal, started("q1.two", 1), queued("q1.two#1")]
    assert reason(decided(*on_its_way)) is None
    assert reason(decided(*refusal)) is None  # the second call has not started
    assert reason(decided(*on_its_way, finished("q1.two#1"))) is StopReason.BUDGET_NARROW


def test_another_refusal_does_not_empty_the_purse() -> None:
    log = [call_refused("q1.one", "not_configured"), started("q1.two", 1)]
    log += [queued("q1.two#1"), finished("q1.two#1")]
    assert reason(decided(*log)) is StopReason.NO_EVIDENCE


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [(7999, None), (8000, StopReason.BUDGET_NARROW), (8001, StopReason.BUDGET_NARROW)],
)
def test_a_purse_is_empty_when_all_of_it_is_spent(tokens: int, expected: StopReason | None) -> None:
    log = [
        started("q1.one", 1),
        finished("q1.one#1", "x", tokens=tokens),
        started("q1.two", 1),
        queued("q1.two#1"),
    ]
    assert reason(decided(*log, documents={"x": OFF_TOPIC})) is expected


def test_an_empty_purse_leaves_a_coverage_tier_short() -> None:
    stop = decided(*REFUSED_CALL, call_refused("q1.two", "budget"), tier=Tier.L2).stop
    assert stop is not None
    assert (stop.reason, stop.exhausted) == (StopReason.BUDGET_COVERAGE, True)


# --- rounds -----------------------------------------------------------------------------------------------------------


def test_the_next_round_is_opened_only_when_this_one_is_over() -> None:
    documents = {"x": OFF_TOPIC}
    log: list[Entry] = []
    for entry in (started("q1.one", 1), queued("q1.one#1")):
        log.append(entry)
        decision = decided(*log, documents=documents, **TWO_ROUNDS)
        assert (reason(decision), decision.calls) == (None, ())
    log.append(finished("q1.one#1", "x"))
    decision = decided(*log, documents=documents, **TWO_ROUNDS)
    assert reason(decision) is None
    assert "q2.one" in [each.id for each in decision.calls]
    assert {each.round for each in decision.calls} == {2}


def test_a_follow_up_comes_before_the_next_round() -> None:
    log = [
        started("q1.one", 1),
        queued("q1.one#1"),
        finished("q1.one#1", requests=(a_request(url="https://example.org/b"),)),
    ]
    decision = decided(*log, **TWO_ROUNDS)
    assert [each.fetch_id for each in decision.fetches] == ["q1.one#1.1"]
    assert decision.calls == ()


def test_no_round_beyond_the_last() -> None:
    log = [started("q1.one", 1), queued("q1.one#1"), finished("q1.one#1", "x")]
    documents = {"x": OFF_TOPIC}
    opened = decided(*log, documents=documents, **TWO_ROUNDS).calls
    log += [Expanded(at_ms=NOW_MS, key="round:2", round=2, calls=opened, why="open")]
    for each in opened:
        log += [started(each.id, 1), queued(f"{each.id}#1"), finished(f"{each.id}#1", "x")]
    decision = decided(*log, documents=documents, **TWO_ROUNDS)
    assert decision.calls == ()
    assert reason(decision) is StopReason.NO_EVIDENCE


# --- nothing left -----------------------------------------------------------------------------------------------------


def test_a_plan_without_calls_reaches_no_source() -> None:
    assert reason(decided(calls=())) is StopReason.NO_SOURCE_REACHED


def test_all_sources_failing_is_not_the_same_as_finding_nothing() -> None:
    missed = {"state": "missed", "status": 503, "reason": "server_fault"}
    ends = [
        [finished("q1.one#1", **missed), finished("q1.two#1", **missed)],
        [finished("q1.one#1", **missed), finished("q1.two#1", "x")],
    ]
    asked = [started("q1.one", 1), started("q1.two", 1), queued("q1.one#1"), queued("q1.two#1")]
    got = [reason(decided(*asked, *each, documents={"x": OFF_TOPIC})) for each in ends]
    assert got == [StopReason.NO_SOURCE_REACHED, StopReason.NO_EVIDENCE]


def test_two_sites_that_agree_end_a_narrow_search_while_others_are_open() -> None:
    calls = tuple(
        PlannedCall(id=f"q1.{name}", source_id=name, question_id="q1")
        for name in ("one", "two", "three")
    )
    texts = {
        "a": "Mount Ansel is 2114 metres high. Its slopes are steep. Its lakes are deep and cold.",
        "b": "Surveyors climbed the northern ridge. Mount Ansel is 2114 metres high. Goats live below.",
    }
    documents = {
        name: a_document(doc_id=name, text=text, site=f"{name}.org", url=f"https://{name}.org/")
        for name, text in texts.items()
    }
    log = [started(each.id, 1) for each in calls] + [queued(f"{each.id}#1") for each in calls]
    first = [*log, finished("q1.one#1", "a")]
    assert reason(decided(*first, documents=documents, calls=calls)) is None
    second = [*first, finished("q1.two#1", "b")]
    decision = decided(*second, documents=documents, calls=calls)
    assert reason(decision) is StopReason.AGREEMENT
    assert decision.evidence.outstanding == 1


ONE_ENGINE = (PlannedCall(id="q1.engine", source_id="engine", question_id="q1"),)
SAYS_IT = "Mount Ansel is 2114 metres high. Its slopes are steep. Its lakes are deep and cold."


def pages_of_one_engine(*urls: str, arrived: int) -> Decision:
    """One engine led on to pages at these addresses; the first `arrived` of them came, and all say the same height."""
    log = [started("q1.engine", 1), queued("q1.engine#1", "https://api.engine.net/", kind="api")]
    log.append(finished("q1.engine#1", requests=tuple(a_request(url=each) for each in urls)))
    log += [queued(f"q1.engine#1.{at}", url, kind="page") for at, url in enumerate(urls, 1)]
    log += [finished(f"q1.engine#1.{at}", f"d{at}") for at in range(1, arrived + 1)]
    documents = {
        f"d{at}": a_document(
            doc_id=f"d{at}", url=url, site=url.split("/")[2], text=SAYS_IT + f" Page {at}."
        )
        for at, url in enumerate(urls, 1)
    }
    return decided(*log, documents=documents, calls=ONE_ENGINE)


@pytest.mark.parametrize("arrived", [1, 2])
def test_the_pages_of_one_engine_are_as_many_voices_as_their_sites(arrived: int) -> None:
    """One engine is no single voice: two of the sites that it names have to agree, as two sources have to."""
    names = ("one", "two", "three")
    decision = pages_of_one_engine(*(f"https://{each}.org/" for each in names), arrived=arrived)
    assert decision.evidence.outstanding == 3 - arrived
    assert reason(decision) is (None, StopReason.AGREEMENT)[arrived - 1]


def test_pages_of_one_site_are_one_voice() -> None:
    """Nothing could agree with the first of them."""
    decision = pages_of_one_engine("https://one.org/a", "https://one.org/b", arrived=1)
    assert (reason(decision), decision.evidence.outstanding) == (StopReason.AGREEMENT, 1)


# --- the same for every order -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_the_order_of_arrival_changes_no_decision(order: tuple[int, ...]) -> None:
    site = "https://example.org/"
    asked = [
        started("q1.one", 1, 2),
        started("q1.two", 1),
        queued("q1.one#1", site, kind="page", site=site),
        queued("q1.one#2"),
        queued("q1.two#1"),
    ]
    ends = [
        finished("q1.one#1", "d1", links=(Link(url=site + "z", text="Ansel"),)),
        finished("q1.one#2", state="redirected", redirect_to="https://example.net/"),
        finished("q1.two#1", "x"),
    ]
    documents = {"d1": a_document(), "x": OFF_TOPIC}
    usual = decided(*asked, *ends, documents=documents)
    assert [each.fetch_id for each in usual.fetches] == ["q1.one#2.0"]
    assert decided(*asked, *[ends[at] for at in order], documents=documents) == usual
