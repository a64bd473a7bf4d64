"""Arrival order is luck: what a job decides, once all have arrived, is not."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from signal_search.contracts.document import Document
from signal_search.contracts.job import JobState
from signal_search.contracts.plan import PlannedCall, SubQuestion
from signal_search.contracts.query import Tier
from signal_search.contracts.source import FetchState, Link
from signal_search.contracts.trace import Ended, FetchFinished, LogEntry
from signal_search.errors import Conflict

from infra.bundle import VERSION, Bundle
from infra.settings import load
from tests.fakes.builders import (
    NOW_MS,
    a_document,
    a_job,
    a_log,
    a_request,
    finished,
    queued,
    started,
    stopped,
)
from workers.pipeline.decide import decide
from workers.pipeline.follow_ups import follow_ups
from workers.pipeline.replay import replay
from workers.pipeline.rules import snapshot
from workers.pipeline.state import fold

RULES = snapshot(load())
SITE = "https://example.org/"
SOURCES = ("one", "two", "three")
CALLS = tuple(PlannedCall(id=f"q1.{each}", source_id=each, question_id="q1") for each in SOURCES)
TEXTS = (
    "Mount Ansel is 2,114 metres high. It was first climbed in 1903.",
    "Surveyors found that Mount Ansel is 2,114 metres high. Goats live there.",
    "Mount Ansel is 1,870 metres high, says an old map of the valley.",
    "Green tea is grown on terraces. The harvest begins in April.",
)
DOCUMENTS: dict[str, Document] = {
    f"d{at}": a_document(doc_id=f"d{at}", text=text, url=f"https://s{at}.org/", site=f"s{at}.org")
    for at, text in enumerate(TEXTS)
}
ENDS: list[dict[str, Any]] = [
    {"state": FetchState.FETCHED},
    {"state": FetchState.FETCHED, "requests": (a_request(url=SITE + "next"),)},
    {"state": FetchState.FETCHED, "links": (Link(url=SITE + "x", text="Ansel"),)},
    {"state": FetchState.REDIRECTED, "redirect_to": SITE + "moved"},
    {"state": FetchState.MISSED, "status": 503, "reason": "source_server_fault", "paid": False},
    {"state": FetchState.SKIPPED, "status": 0, "reason": "robots", "paid": False},
    {"state": FetchState.SKIPPED, "status": 0, "reason": "budget", "paid": False},
]
IDS = [f"q1.{source}#{number}" for source in SOURCES for number in (1, 2)]
ASKED: list[LogEntry] = [
    *(started(f"q1.{source}", 1, 2, source_id=source) for source in SOURCES),
    *(queued(each, f"{SITE}{at}", kind="page", site=SITE) for at, each in enumerate(IDS)),
]


@st.composite
def arrivals(draw: st.DrawFn) -> list[FetchFinished]:
    """One end per fetch."""
    found = []
    for fetch_id in IDS:
        end = draw(st.sampled_from(ENDS))
        doc_ids = draw(st.lists(st.sampled_from(sorted(DOCUMENTS)), max_size=2, unique=True))
        kept = doc_ids if end["state"] is FetchState.FETCHED else []
        found.append(finished(fetch_id, *kept, **end, tokens=10 * len(kept)))
    return found


def a_plan_of(tier: Tier) -> dict[str, Any]:
    questions = (
        SubQuestion(id="q1", text="How high is Mount Ansel?"),
        SubQuestion(id="q2", text="Who climbed Mount Ansel first?"),
    )
    return {"calls": CALLS, "tier": tier, "questions": questions, "max_rounds": 2}


@given(ends=arrivals(), data=st.data(), tier=st.sampled_from(list(Tier)))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_the_same_replies_in_any_order_give_the_same_decision(
    ends: list[FetchFinished], data: st.DataObject, tier: Tier
) -> None:
    shuffled = data.draw(st.permutations(ends))
    views = [fold(a_log(*ASKED, *each, **a_plan_of(tier))) for each in (ends, shuffled)]
    settled = [[each.finished for each in view.settled_fetches()] for view in views]
    assert settled[0] == settled[1]
    assert len(settled[0]) == len(IDS)
    first, second = (decide(view, DOCUMENTS, RULES, now_ms=NOW_MS + 10) for view in views)
    assert first == second


@given(ends=arrivals(), data=st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_is_settled_only_grows_and_never_depends_on_what_came_early(
    ends: list[FetchFinished], data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(ends))
    whole = [each.fetch_id for each in fold(a_log(*ASKED, *ends, calls=CALLS)).settled_fetches()]
    before: list[str] = []
    for length in range(len(shuffled) + 1):
        view = fold(a_log(*ASKED, *shuffled[:length], calls=CALLS))
        now = [each.fetch_id for each in view.settled_fetches()]
        assert now == whole[: len(now)]
        assert now[: len(before)] == before
        before = now


@given(ends=arrivals(), data=st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_was_decided_is_not_decided_again(
    ends: list[FetchFinished], data: st.DataObject
) -> None:
    """Queueing what a state calls for leaves that state with nothing new to fetch: no fetch is made twice."""
    came = ends[: data.draw(st.integers(0, len(ends)))]
    log = a_log(*ASKED, *came, calls=CALLS)
    wanted = follow_ups(fold(log), RULES)
    assert len({each.fetch_id for each in wanted}) == len(wanted)
    taken = [
        queued(each.fetch_id, each.request.url, kind=each.request.kind, site=each.request.site)
        for each in wanted
    ]
    assert follow_ups(fold([*log, *taken]), RULES) == []


@given(ends=arrivals(), data=st.data())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_prefix_of_a_log_can_be_read_and_replayed_or_is_refused_as_unfinished(
    ends: list[FetchFinished], data: st.DataObject
) -> None:
    body = data.draw(st.permutations([*ASKED, *ends]))
    ended = Ended(at_ms=NOW_MS + 10, key="ended", state=JobState.SUCCEEDED)
    log = [*a_log(*body, calls=CALLS), stopped(*DOCUMENTS), ended]
    length = data.draw(st.integers(0, len(log)))
    view = fold(log[:length])
    if view.planned is not None and view.stopped is None:
        decide(view, DOCUMENTS, RULES, now_ms=NOW_MS + 10)
    bundle = Bundle(
        version=VERSION,
        spec=a_job(),
        entries=tuple((f"{at}-0", entry) for at, entry in enumerate(log[:length], 1)),
        documents=tuple(DOCUMENTS.values()),
    )
    if length < len(log) - 1:
        with pytest.raises(Conflict):
            replay(bundle)
    else:
        assert replay(bundle).result.stop == stopped().stop
