"""Progress is a fold: the same log in any repetition gives the same numbers."""

from collections import Counter
from typing import Any

from signal_search.contracts.plan import PlannedCall
from signal_search.contracts.result import Stop, StopReason
from signal_search.contracts.trace import (
    Assessed,
    CallRefused,
    CallStarted,
    Expanded,
    FetchFinished,
    FetchQueued,
    LogEntry,
    Planned,
    Stopped,
)

from api_gateway.progress import eta_ms, progress, tally
from tests.fakes.builders import NOW_MS, a_plan, a_request


def queued(fetch_id: str, host: str = "one.example") -> FetchQueued:
    return FetchQueued(
        at_ms=NOW_MS,
        key=f"{fetch_id}:queued",
        fetch_id=fetch_id,
        call_id=fetch_id.split("#", maxsplit=1)[0],
        request=a_request(),
        uid=f"u-{fetch_id}",
        host=host,
        disposition="queued",
    )


def finished(
    fetch_id: str, state: str = "fetched", documents: tuple[str, ...] = ()
) -> FetchFinished:
    return FetchFinished(
        at_ms=NOW_MS,
        key=f"{fetch_id}:finished",
        fetch_id=fetch_id,
        call_id=fetch_id.split("#", maxsplit=1)[0],
        url="https://example.org/",
        state=state,
        documents=documents,
    )


def started(call_id: str, *fetches: str) -> CallStarted:
    return CallStarted(
        at_ms=NOW_MS, key=f"{call_id}:s", call_id=call_id, source_id="one", fetches=fetches
    )


PLANNED = Planned(at_ms=NOW_MS, key="planned", plan=a_plan(), rules={})  # calls q1.one and q1.two
LOG: list[LogEntry] = [
    PLANNED,
    CallRefused(at_ms=NOW_MS, key="r", call_id="q1.two", source_id="two", reason="budget"),
    started("q1.one", "q1.one#0"),
    queued("q1.one#0"),
    finished("q1.one#0", documents=("d1", "d2")),
    queued("q1.one#1", "two.example"),
    queued("q1.one#2", "two.example"),
    queued("q1.one#3"),
    finished("q1.one#3", state="skipped"),
]


def show(log: list[LogEntry], **more: Any) -> Any:
    state = tally(log)
    given = {"used": {}, "left": {}, "hosts": state.open_hosts(), "eta_ms": None, **more}
    return progress(state, **given)


def test_what_is_planned_done_refused_and_open():
    seen = show(LOG)
    assert (seen.calls_planned, seen.calls_done) == (2, 1)  # q1.one still has two open fetches
    assert (seen.fetches_queued, seen.fetches_done, seen.fetches_refused) == (4, 1, 1)
    assert seen.documents == 2
    assert seen.waiting_on == ("two.example",)


def test_a_call_is_done_with_its_last_fetch():
    assert show([*LOG, finished("q1.one#1"), finished("q1.one#2", state="missed")]).calls_done == 2
    assert show([PLANNED, started("q1.one", "q1.one#0")]).calls_done == 0
    assert show([PLANNED, started("q1.one")]).calls_done == 1


def test_a_log_read_twice_counts_once():
    assert show([*LOG, *LOG]) == show(LOG)


def test_more_calls_come_with_an_expansion():
    more = (PlannedCall(id="q1.three", source_id="three", question_id="q1", round=2),)
    expanded = Expanded(at_ms=NOW_MS, key="e", round=2, calls=more, why="thin")
    assert show([PLANNED, expanded]).calls_planned == 3


def test_the_latest_assessment_and_the_decision_are_shown():
    def assessed(number: int, coverage: float) -> Assessed:
        return Assessed(
            at_ms=NOW_MS, key=f"a{number}", round=number, documents=2, coverage=coverage,
            saturation=0.5, tokens=9, verdict="go_on",
        )  # fmt: skip

    assert show([PLANNED]).coverage is None
    seen = show([PLANNED, assessed(1, 0.25), assessed(2, 0.75)])
    assert (seen.round, seen.coverage, seen.saturation, seen.verdict) == (2, 0.75, 0.5, "go_on")
    assert seen.stop is None
    stop = Stop(
        reason=StopReason.SATURATED,
        text="",
        exhausted=False,
        coverage=1.0,
        saturation=1.0,
        rounds=2,
    )
    entry = Stopped(at_ms=NOW_MS, key="stopped", stop=stop, evidence=())
    assert show([PLANNED, entry]).stop == stop


def test_the_purse_is_shown_as_given():
    seen = show(LOG, used={"tokens": 7}, left={"tokens": 3}, eta_ms=5)
    assert (seen.used, seen.left, seen.eta_ms) == ({"tokens": 7}, {"tokens": 3}, 5)


def test_the_estimate_is_the_slowest_host():
    # a: its turn in 5 s and two more pauses of 14 s; b: its turn in 20 s.
    hosts = Counter({"a": 3, "b": 1})
    turns = {"a": 5_000, "b": 20_000}
    assert eta_ms(hosts, turns.__getitem__, lambda _host: 14_000) == 33_000
    assert eta_ms(Counter({"b": 1}), lambda _host: -1, lambda _host: 14_000) == 0
    assert eta_ms(Counter(), turns.__getitem__, lambda _host: 14_000) is None
