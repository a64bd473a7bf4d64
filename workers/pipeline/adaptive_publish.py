"""From a stopped adaptive search to its result set and its first page. Pure: a log gives the same bytes."""

from collections.abc import Mapping
from uuid import UUID

from msgspec.structs import replace
from signal_search.contracts.adaptive_result import (
    AdaptiveResult,
    AdaptiveStop,
    JudgeUse,
    Waiting,
)
from signal_search.contracts.budget import Dimension, Usage
from signal_search.contracts.document import Document
from signal_search.contracts.result import SourceOutcome
from signal_search.contracts.trace import Expanded, FetchFinished, Stopped
from signal_search.errors import Broken

from infra.clock import iso
from infra.ids import digest
from scoring.screening.pages import ResultSet, page_of
from workers.pipeline.adaptive_decide import as_stop
from workers.pipeline.adaptive_fold import Run, finished_run
from workers.pipeline.evidence import usage_of
from workers.pipeline.judge_cost import cost_of_judging
from workers.pipeline.outcomes import Trouble, troubles_of
from workers.pipeline.search_decide import has_answered
from workers.pipeline.search_publish import until_stopped
from workers.pipeline.state import CallView, JobView, fold
from workers.pipeline.trace import trace_of
from workers.screening.actions import Judge
from workers.screening.report import judge_use, page_base, results_of

_STOPS: dict[str, AdaptiveStop] = {
    "keyword_queue_empty": "keyword_queue_empty",
    "no_action": "no_action",
    "budget_rounds": "budget_rounds",
    "budget_calls": "budget_calls",
    "budget_tokens": "budget_tokens",
    "deadline": "deadline",
    "cancelled": "cancelled",
    "jev_unavailable": "jev_unavailable",
    "not_configured": "not_configured",
    "no_engines": "no_engines",
}


def set_of(view: JobView, documents: Mapping[str, Document], *, ttl_s: int) -> ResultSet:
    """Return all results of a stopped search; raises as `publish_adaptive`."""
    return _set(view, finished_run(until_stopped(view), documents), ttl_s)


def _set(view: JobView, run: Run, ttl_s: int) -> ResultSet:
    _plan, spec = view.require()
    stopped = view.stopped
    if stopped is None:
        raise Broken
    base = page_base(run.state, _STOPS[stopped.stop.reason.value])
    rows = results_of(run.state)
    expires_at = iso(stopped.at_ms + ttl_s * 1000) if rows else None
    return ResultSet(
        id=str(UUID(digest(spec.id, "result set"))),
        rows=rows,
        page=replace(base, expires_at=expires_at),
    )


def publish_adaptive(
    view: JobView, documents: Mapping[str, Document], *, ttl_s: int
) -> AdaptiveResult:
    """Return the first page of a stopped search, with what every job's result tells.

    Raises:
        Broken: the job has not stopped, or is no adaptive search.
    """
    plan, spec = view.require()
    seen = until_stopped(view)
    run = finished_run(seen, documents)
    size = plan.adaptive.page_size if plan.adaptive is not None else 0
    page = page_of(_set(view, run, ttl_s), 0, size)
    return replace(
        page,
        job_id=spec.id,
        rounds=run.state.round,
        judge=_judge_use(run),
        waiting=waiting_of(seen),
        usage=_usage(seen, run),
        source_outcomes=outcomes_of(seen),
        stop=view.stopped.stop if view.stopped is not None else None,
        trace=trace_of(seen),
    )


def _usage(view: JobView, run: Run) -> Usage:
    """Return what the sources cost, and what the judge did: as the purse was charged, or as the caller reported."""
    own = usage_of(view)
    costs = [cost_of_judging(each) for each in view.screened.values()]
    return replace(
        own,
        rounds=run.state.round,
        judge_requests=own.judge_requests + sum(each[Dimension.JUDGE_REQUESTS] for each in costs),
        model_tokens=own.model_tokens + sum(each[Dimension.MODEL_TOKENS] for each in costs),
    )


def cancelled(view: JobView, documents: Mapping[str, Document]) -> JobView | None:
    """Return a cancelled job's state as one that stopped for that reason; None where it never got to a plan."""
    if view.planned is None or view.ended is None or view.stopped is not None:
        return None
    run = finished_run(view, documents)
    stop = as_stop("cancelled", run, view.planned.plan.language)
    ids = tuple(documents)
    stopped = Stopped(at_ms=view.ended.at_ms, key="stopped", stop=stop, evidence=ids)
    return fold([*(each for each in view.entries if each is not view.ended), stopped])


def _judge_use(run: Run) -> JudgeUse:
    """Return what the judge cost; a request that the end came before was never sent."""
    use, unsent = judge_use(run.state), run.waits_for
    if not isinstance(unsent, Judge):
        return use
    return replace(use, calls=use.calls - 1, estimated_tokens=use.estimated_tokens - unsent.tokens)


def waiting_of(view: JobView) -> Waiting:
    """Return how long the job waited for a worker, and for its turns at hosts beside the time it was at work itself."""
    _plan, spec = view.require()
    planned_ms = view.planned.at_ms if view.planned is not None else spec.created_at_ms
    began_ms: int | None = None
    last_ms, slots_ms = 0, 0
    for entry in view.entries:
        if isinstance(entry, Expanded):
            slots_ms += last_ms - began_ms if began_ms is not None else 0
            began_ms = last_ms = entry.at_ms
        elif isinstance(entry, FetchFinished):
            last_ms = max(last_ms, entry.at_ms)
    slots_ms += last_ms - began_ms if began_ms is not None else 0
    return Waiting(queue_ms=max(0, planned_ms - spec.created_at_ms), slots_ms=max(0, slots_ms))


def outcomes_of(view: JobView) -> tuple[SourceOutcome, ...]:
    """Return what became of each source that was asked."""
    calls: dict[str, list[CallView]] = {}
    for call in view.active_calls():
        calls.setdefault(call.call.source_id, []).append(call)
    return tuple(_outcome(view, name, each) for name, each in calls.items())


def _outcome(view: JobView, source_id: str, calls: list[CallView]) -> SourceOutcome:
    troubles: list[Trouble] = [each for call in calls for each in troubles_of(view, call)]
    worst = troubles[0] if troubles else None
    is_answered = any(has_answered(each) for each in calls)
    ends = [each.finished for call in calls for each in call.in_order() if each.finished]
    state = ("partly" if worst else "answered") if is_answered else "failed"
    return SourceOutcome(
        source_id=source_id,
        state=state,
        reason=worst.reason if worst else "",
        detail=worst.detail if worst else "",
        documents=sum(len(each.documents) + len(each.hits) for each in ends),
        fetches=sum(each.paid for each in ends),
    )
