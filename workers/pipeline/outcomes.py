"""What became of every source, and what the reader should be warned of.

"No results", "failed" and "filtered out" are three different things here.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from signal_search.contracts.document import Document
from signal_search.contracts.job import AnySpec
from signal_search.contracts.plan import Plan
from signal_search.contracts.result import SourceOutcome
from signal_search.contracts.source import FetchState, SkipReason
from signal_search.contracts.trace import DelegationLapsed, FetchFinished, Recalled
from signal_search.errors import BadReply

from infra.clock import iso_until
from workers.fetching.stored_reply import STALE
from workers.pipeline.evidence import arrived_documents
from workers.pipeline.follow_ups import leads_on, redirect_of, site_after
from workers.pipeline.rules import from_log
from workers.pipeline.state import CallView, FetchView, JobView, retrieve_request


class Trouble(NamedTuple):
    """Why something of a source is missing: missed (the world's doing) or skipped (ours)."""

    state: FetchState
    reason: str
    detail: str
    until_ms: int | None = None


def outcomes_of(
    view: JobView, documents: Mapping[str, Document], evidence: Sequence[str]
) -> tuple[SourceOutcome, ...]:
    """Return one outcome per source that the plan named, in plan order."""
    by_source: dict[str, list[CallView]] = {}
    for call in view.calls.values():
        by_source.setdefault(call.call.source_id, []).append(call)
    counted = set(evidence)
    return tuple(
        _outcome(view, source_id, calls, documents, counted)
        for source_id, calls in by_source.items()
    )


def _outcome(
    view: JobView,
    source_id: str,
    calls: Sequence[CallView],
    documents: Mapping[str, Document],
    counted: set[str],
) -> SourceOutcome:
    fetches = [each for call in calls for each in call.in_order()]
    ends = [each.finished for each in fetches if each.finished is not None]
    arrived = arrived_documents(fetches, documents)
    troubles = [each for call in calls for each in troubles_of(view, call)]
    state = _state(ends, arrived, troubles, counted)
    worst = troubles[0] if troubles and state in {"failed", "refused", "partly"} else None
    return SourceOutcome(
        source_id=source_id,
        state=state,
        reason=worst.reason if worst else "",
        detail=worst.detail if worst else "",
        until=iso_until(worst.until_ms) if worst and worst.until_ms else "",
        documents=len(arrived),
        fetches=sum(each.paid for each in ends),
    )


def _state(
    ends: Sequence[FetchFinished],
    arrived: Sequence[Document],
    troubles: Sequence[Trouble],
    counted: set[str],
) -> str:
    """Return answered, partly, filtered, failed, no_results, refused or not_asked.

    "No results" is what the source itself said to everything: a reply that only led on says nothing yet.
    """
    missed = any(each.state == FetchState.MISSED for each in troubles)
    if any(each.doc_id in counted for each in arrived):
        return "partly" if missed else "answered"
    if arrived:
        return "filtered"
    if missed:
        return "failed"
    if any(each.state == FetchState.FETCHED and not each.requests for each in ends):
        return "no_results"
    return "refused" if troubles else "not_asked"


def troubles_of(view: JobView, call: CallView) -> Iterator[Trouble]:
    """Yield what is missing of a call, in its order; the first missed one, if any, before what we skipped."""
    found = [each for fetch in call.in_order() if (each := _trouble(view, call, fetch))]
    yield from sorted(found, key=lambda each: each.state != FetchState.MISSED)
    yield from _channels_lost(view.recalled.get(call.call.id))
    if call.refused is not None:
        yield Trouble(FetchState.SKIPPED, call.refused.reason, call.refused.detail)


def _trouble(view: JobView, call: CallView, fetch: FetchView) -> Trouble | None:
    end = fetch.finished
    if end is None:
        return None
    if end.state == FetchState.FETCHED:
        return _stood_in_for(end)
    if end.state == FetchState.REDIRECTED:
        return _lost_redirect(view, call, fetch)
    return Trouble(FetchState(end.state), end.reason, end.detail, end.until_ms)


def _channels_lost(recalled: Recalled | None) -> Iterator[Trouble]:
    """Yield the channels of research memory that were planned and did not answer, or were not asked, and why."""
    if recalled is None:
        return
    for each in recalled.degradations:
        if ":" in each:
            yield Trouble(FetchState.MISSED, each, "")
    for each in recalled.rejections:
        channel, _, reason = each.partition(":")
        yield Trouble(FetchState.SKIPPED, f"{reason}:{channel}", "")


def _stood_in_for(end: FetchFinished) -> Trouble | None:
    """Return what failed where an older reply was served in its place, None where the reply is its origin's."""
    if end.reason != STALE:
        return None
    return Trouble(FetchState.MISSED, STALE, end.detail, end.until_ms)


def _lost_redirect(view: JobView, call: CallView, fetch: FetchView) -> Trouble | None:
    """Return why a redirect was not followed, None when it was or when the job stopped before its turn."""
    if redirect_of(fetch.fetch_id) in call.fetches or fetch.queued is None:
        return None
    if fetch.finished and site_after(fetch.queued.request, fetch.finished.redirect_to) is None:
        return Trouble(FetchState.SKIPPED, SkipReason.ADDRESS, "the redirect leaves the site")
    if view.stopped is None or view.planned is None:
        return None
    if leads_on(call, fetch, from_log(view.planned.rules)):  # where others had said enough before
        return None
    return Trouble(FetchState.MISSED, BadReply.code, "redirected too often")


def warnings_of(
    plan: Plan, cited: Sequence[Document], evidence: Sequence[Document], spec: AnySpec
) -> tuple[str, ...]:
    """Return what the reader should know: constraints not honoured, retracted works, unknown dates."""
    found = [
        f"constraint not honoured by {use.source_id}: {name}"
        for use in plan.constraint_use
        for name in use.not_honoured
    ]
    found += [f"retracted or withdrawn: {each.url}" for each in cited if each.retracted]
    if retrieve_request(spec).constraints.freshness:
        undated = sum(not each.published for each in evidence)
        found += [f"documents without a publication date: {undated}"] if undated else []
    return tuple(found)


def degradations_of(view: JobView) -> tuple[str, ...]:
    """Return what is missing although it was planned or offered, counted by source or delegation and reason."""
    counts: Counter[tuple[str, str]] = Counter()
    for call in view.calls.values():
        counts.update((call.call.source_id, each.reason) for each in troubles_of(view, call))
    for each in view.delegations.values():
        if isinstance(each.closed, DelegationLapsed):
            counts[f"delegation {each.closed.kind}", each.closed.reason] += 1
    if view.judged is not None and view.judged.error:
        counts["judge of the operator", view.judged.error] += 1
    return tuple(
        f"{source_id}: {reason}" + (f" ({number} times)" if number > 1 else "")
        for (source_id, reason), number in counts.items()
    )
