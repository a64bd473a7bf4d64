"""What became of each source of a search, and the short form of it that goes beside the hits. Pure."""

from collections.abc import Sequence

from signal_search.contracts.plan import SearchFrame
from signal_search.contracts.result import SourceOutcome
from signal_search.contracts.source import FetchState, SkipReason

from infra.clock import iso_until
from workers.pipeline.outcomes import Trouble, troubles_of
from workers.pipeline.search_decide import has_answered
from workers.pipeline.search_hits import Answers
from workers.pipeline.state import CallView, FetchView, JobView


def search_outcomes(
    view: JobView, frame: SearchFrame, answers: Answers
) -> tuple[SourceOutcome, ...]:
    """Return one outcome per source that was wanted, those without their key last."""
    calls: dict[str, list[CallView]] = {}
    for call in view.active_calls():
        calls.setdefault(call.call.source_id, []).append(call)
    asked = [_outcome(view, each, calls[each], len(answers.get(each, ()))) for each in calls]
    absent = [
        SourceOutcome(source_id=each, state="refused", reason=SkipReason.NOT_CONFIGURED)
        for each in frame.plan.not_configured
    ]
    return (*asked, *absent)


def errors_of(outcomes: Sequence[SourceOutcome]) -> dict[str, str]:
    """Return for each source that gave nothing or not all: the reason's code, a sentence, and until when."""
    return {each.source_id: _sentence(each) for each in outcomes if each.reason}


def _sentence(outcome: SourceOutcome) -> str:
    detail = f": {outcome.detail}" if outcome.detail else ""
    until = f" (until {outcome.until})" if outcome.until else ""
    return f"{outcome.reason}{detail}{until}"


def _outcome(view: JobView, source_id: str, calls: Sequence[CallView], hits: int) -> SourceOutcome:
    troubles = [each for call in calls for each in _troubles(view, call)]
    worst = troubles[0] if troubles else None
    ends = [each.finished for call in calls for each in call.in_order() if each.finished]
    return SourceOutcome(
        source_id=source_id,
        state=_state(calls, hits, worst),
        reason=worst.reason if worst else "",
        detail=worst.detail if worst else "",
        until=iso_until(worst.until_ms) if worst and worst.until_ms else "",
        documents=hits,
        fetches=sum(each.paid for each in ends),
    )


def _state(calls: Sequence[CallView], hits: int, worst: Trouble | None) -> str:
    """Return answered, partly, no_results, failed (the world's doing) or refused (ours)."""
    if hits:
        return "partly" if worst else "answered"
    if worst is not None:
        return "failed" if worst.state == FetchState.MISSED else "refused"
    return "no_results" if any(has_answered(each) for each in calls) else "not_asked"


def _troubles(view: JobView, call: CallView) -> list[Trouble]:
    """Return what is missing of a call; what was still to come when the search ended is missing too."""
    plan, _spec = view.require()
    late = [_late(each, plan.deadline_ms) for each in call.in_order() if each.is_open]
    if call.refused is None and call.started is None:
        late = [Trouble(FetchState.SKIPPED, SkipReason.DEADLINE, "it was not asked in time")]
    return [*troubles_of(view, call), *late]


def _late(fetch: FetchView, deadline_ms: int) -> Trouble:
    """Return why an open fetch brought nothing: its turn lies beyond the deadline, or it was asked and is slow."""
    queued = fetch.queued
    turn_ms = queued.at_ms + queued.ready_in_ms if queued is not None else 0
    if turn_ms >= deadline_ms:
        return Trouble(FetchState.SKIPPED, SkipReason.DEADLINE, "its turn came too late", turn_ms)
    return Trouble(FetchState.MISSED, SkipReason.DEADLINE, "it did not answer in time")
