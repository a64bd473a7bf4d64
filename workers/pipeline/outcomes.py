"""What became of every source, and what the reader should be warned of.

"No results", "failed" and "filtered out" are three different things here.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from signal_search.contracts.document import Document
from signal_search.contracts.job import JobSpec
from signal_search.contracts.plan import Plan
from signal_search.contracts.result import SourceOutcome
from signal_search.contracts.source import FetchState
from signal_search.contracts.trace import FetchFinished

from infra.clock import iso
from workers.pipeline.evidence import arrived_documents
from workers.pipeline.state import CallView, JobView


def outcomes_of(
    view: JobView, documents: Mapping[str, Document], evidence: Sequence[str]
) -> tuple[SourceOutcome, ...]:
    """Return one outcome per source that the plan named, in plan order."""
    by_source: dict[str, list[CallView]] = {}
    for call in view.calls.values():
        by_source.setdefault(call.call.source_id, []).append(call)
    counted = set(evidence)
    return tuple(
        _outcome(source_id, calls, documents, counted) for source_id, calls in by_source.items()
    )


def _outcome(
    source_id: str, calls: Sequence[CallView], documents: Mapping[str, Document], counted: set[str]
) -> SourceOutcome:
    fetches = [each for call in calls for each in call.in_order()]
    ends = [each.finished for each in fetches if each.finished is not None]
    arrived = arrived_documents(fetches, documents)
    state = _state(calls, ends, arrived, counted)
    worst = _first_trouble(calls, ends) if state in {"failed", "refused", "partly"} else None
    return SourceOutcome(
        source_id=source_id,
        state=state,
        reason=worst[0] if worst else "",
        detail=worst[1] if worst else "",
        until=worst[2] if worst else "",
        documents=len(arrived),
        fetches=sum(each.paid for each in ends),
    )


def _state(
    calls: Sequence[CallView],
    ends: Sequence[FetchFinished],
    arrived: Sequence[Document],
    counted: set[str],
) -> str:
    """Return answered, partly, filtered, no_results, refused, failed or not_asked."""
    if any(each.doc_id in counted for each in arrived):
        return "partly" if any(_is_trouble(each) for each in ends) else "answered"
    if arrived:
        return "filtered"
    if any(each.state == FetchState.FETCHED for each in ends):
        return "no_results"
    if any(each.state == FetchState.MISSED for each in ends):
        return "failed"
    if ends or any(each.refused for each in calls):
        return "refused"
    return "not_asked"


def _is_trouble(end: FetchFinished) -> bool:
    return end.state == FetchState.MISSED


def _first_trouble(
    calls: Sequence[CallView], ends: Sequence[FetchFinished]
) -> tuple[str, str, str] | None:
    for end in ends:
        if end.state in {FetchState.MISSED, FetchState.SKIPPED}:
            return end.reason, end.detail, iso(end.until_ms) if end.until_ms else ""
    for call in calls:
        if call.refused is not None:
            return call.refused.reason, call.refused.detail, ""
    return None


def warnings_of(
    plan: Plan, cited: Sequence[Document], evidence: Sequence[Document], spec: JobSpec
) -> tuple[str, ...]:
    """Return what the reader should know: constraints not honoured, retracted works, unknown dates."""
    found = [
        f"constraint not honoured by {use.source_id}: {name}"
        for use in plan.constraint_use
        for name in use.not_honoured
    ]
    found += [f"retracted or withdrawn: {each.url}" for each in cited if each.retracted]
    if spec.request.constraints.freshness:
        undated = sum(not each.published for each in evidence)
        found += [f"documents without a publication date: {undated}"] if undated else []
    return tuple(found)


def degradations_of(view: JobView) -> tuple[str, ...]:
    """Return what is missing although it was planned, counted by source and reason."""
    counts: Counter[tuple[str, str]] = Counter()
    for call in view.calls.values():
        source_id = call.call.source_id
        if call.refused is not None:
            counts[source_id, call.refused.reason] += 1
        for fetch in call.in_order():
            end = fetch.finished
            if end is not None and end.state in {FetchState.MISSED, FetchState.SKIPPED}:
                counts[source_id, end.reason] += 1
    return tuple(
        f"{source_id}: {reason}" + (f" ({number} times)" if number > 1 else "")
        for (source_id, reason), number in counts.items()
    )
