"""What an adaptive search does next: fetch what a source's answer leads to, open a round, ask the judge, or stop."""

from collections.abc import Mapping
from dataclasses import replace

from signal_search.contracts.adaptive_result import AdaptiveStop
from signal_search.contracts.document import Document
from signal_search.contracts.plan import PlannedCall
from signal_search.contracts.query import Tier
from signal_search.contracts.result import Stop, StopReason

from scoring.stop_rule import Continue, Evidence
from scoring.stop_texts import TEXTS
from workers.pipeline.adaptive_fold import Run, run_of
from workers.pipeline.adaptive_rows import call_id
from workers.pipeline.assess import Moment, outstanding
from workers.pipeline.decide import Decision
from workers.pipeline.follow_ups import follow_ups
from workers.pipeline.rules import Rules
from workers.pipeline.state import JobView, call_of
from workers.screening.actions import Judge, Search, Searches
from workers.screening.material import standings

_BY_TIME = frozenset({"jev_unavailable", "no_action"})
"""Ends that at the deadline are its doing: a judge that had no time left, a search that could not be finished."""


def decide_adaptive(
    view: JobView, documents: Mapping[str, Document], rules: Rules, *, now_ms: int
) -> Decision:
    """Return what to do next for a planned job that has not stopped."""
    plan, _spec = view.require()
    wanted = [each for each in follow_ups(view, rules) if each.request.kind != "page"]
    run = run_of(view, documents, {call_of(each.fetch_id) for each in wanted})
    is_last = now_ms >= plan.deadline_ms
    at = Moment(now_ms, is_last)
    stop = _stop_of(run, plan.deadline_ms - now_ms)
    evidence = Evidence(tier=Tier.L0, outstanding=outstanding(view), unmade=len(wanted))
    if stop is not None:
        return Decision(as_stop(stop, run, plan.language), evidence, at)
    going = Continue(coverage=_satisfied(run), saturation=0.0, basis="keywords that are satisfied")
    return _action(view, run, Decision(going, evidence, at, wanted))


def _stop_of(run: Run, left_ms: int) -> AdaptiveStop | None:
    is_over = left_ms <= 0
    if run.stop is not None:
        return "deadline" if is_over and run.stop in _BY_TIME else run.stop
    is_too_late = run.begins_round and left_ms < run.frame.limits.least_left_ms
    return "deadline" if is_over or is_too_late else None


def _action(view: JobView, run: Run, going: Decision) -> Decision:
    action = run.waits_for
    if isinstance(action, Judge):
        return replace(going, judge=action)
    if isinstance(action, Searches):
        calls = _calls(view, run, action)
        return replace(going, calls=calls, why="searches of the adaptive loop")
    return going


def _calls(view: JobView, run: Run, action: Searches) -> tuple[PlannedCall, ...]:
    """Return the calls of the searches that are not opened yet: a round of their own in the log."""
    return tuple(
        _call(run, search, source, view.round + 1)
        for search in action.searches
        for source in search.sources
        if call_id(search, source) not in view.calls
    )


def _call(run: Run, search: Search, source: str, number: int) -> PlannedCall:
    return PlannedCall(
        id=call_id(search, source),
        source_id=source,
        question_id=search.id,
        round=number,
        text=search.query,
        limit=run.frame.hits.get(search.depth, 0),
        freshness="pd" if search.recency else None,
    )


def _satisfied(run: Run) -> float:
    statuses = [each.status for one in run.state.targets for each in standings(run.state, one)]
    return statuses.count("satisfied") / len(statuses) if statuses else 0.0


def as_stop(stop: AdaptiveStop, run: Run, language: str) -> Stop:
    """Return a stop in the words of all jobs; coverage is the share of keywords that are satisfied."""
    reason = StopReason(stop)
    return Stop(
        reason=reason,
        text=TEXTS[reason]["zh" if language == "zh" else "en"],
        exhausted=stop.startswith("budget") or stop == "deadline",
        coverage=round(_satisfied(run), 3),
        saturation=0.0,
        rounds=run.state.round,
        basis="keywords that are satisfied",
    )
