"""From a stopped search to its result: merged, parted by age, ordered, cut. Pure: a log gives the same bytes."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import NamedTuple

from msgspec import UNSET
from msgspec.structs import replace
from signal_search.contracts.document import Document
from signal_search.contracts.hit import MergedHit
from signal_search.contracts.job import SearchSpec
from signal_search.contracts.plan import SearchFrame
from signal_search.contracts.result import SourceOutcome
from signal_search.contracts.search import SearchRequest
from signal_search.contracts.search_result import (
    Hits,
    SearchResult,
    SearchUsage,
)
from signal_search.contracts.trace import Stopped, Summarised
from signal_search.errors import Broken

from scoring.hit_freshness import FreshHits, by_freshness
from scoring.hit_merge import merge_hits
from workers.pipeline.evidence import usage_of
from workers.pipeline.rules import Rules
from workers.pipeline.search_hits import Answers, answer_of, answers_of
from workers.pipeline.search_outcomes import errors_of, search_outcomes
from workers.pipeline.search_ranking import Order, in_order, search_hit
from workers.pipeline.state import JobView, fold
from workers.pipeline.trace import trace_of
from workers.planning.search_reading import follows_intent
from workers.synthesis.hit_synthesis import synthesise


class Found(NamedTuple):
    """What a search comes to before it is told: the order, what has no date, how many are too old, what is missing."""

    order: Order
    undated: Hits
    stale: int
    freshness: str | None
    outcomes: tuple[SourceOutcome, ...]
    answers: Answers


def publish_search(view: JobView, documents: Mapping[str, Document], rules: Rules) -> SearchResult:
    """Return the result of a search from its log.

    Raises:
        ProgramError: the caller's program failed on a candidate; there is no partial ranking.
        Broken: the job has not stopped, or is no search.
    """
    _plan, spec = view.require()
    frame, stopped = frame_of(view), view.stopped
    if not isinstance(spec, SearchSpec) or stopped is None:
        raise Broken
    found = found_by(view, documents, rules)
    said, said_by_source = summary_of(view), answer_of(until_stopped(view))
    hits = found.order.hits
    return SearchResult(
        job_id=spec.id,
        mode=frame.plan.mode,
        intent=frame.plan.intent if follows_intent(spec.request) else None,
        queries=tuple(each.text for each in frame.plan.sub_queries),
        count=_count(found, frame),
        hits=hits,
        results=_by_source(found.answers, frame) if frame.plan.mode == "multi" else hits,
        ranking=found.order.ranking,
        conclusion=said.text or None,
        errors={**errors_of(found.outcomes), **_model_errors(spec.request, frame, said)},
        usage=search_usage(view, frame),
        synthesis=synthesise(
            found.order.shown, frame.plan, rules.verify, model_answer=said_by_source
        ),
        undated=found.undated,
        stale=found.stale,
        source_outcomes=found.outcomes,
        warnings=retracted_warnings(hits),
        stop=stopped.stop,
        trace=trace_of(view),
        answer=said_by_source or UNSET,
        freshness_filter=found.freshness or UNSET,
    )


def frame_of(view: JobView) -> SearchFrame:
    """Return how a job searches.

    Raises:
        Broken: it is no search.
    """
    plan, _spec = view.require()
    if plan.search is None:
        raise Broken
    return plan.search


def until_stopped(view: JobView) -> JobView:
    """Return the state as it was when the decision fell: replies that came later do not count."""
    entries = []
    for entry in view.entries:
        entries.append(entry)
        if isinstance(entry, Stopped):
            break
    return fold(entries)


def found_by(view: JobView, documents: Mapping[str, Document], rules: Rules) -> Found:
    """Return what a stopped search found; raises as `publish_search`."""
    view = until_stopped(view)
    _plan, spec = view.require()
    frame = frame_of(view)
    if not isinstance(spec, SearchSpec):
        raise Broken
    request = spec.request
    answers = answers_of(view, documents)
    outcomes = search_outcomes(view, frame, answers)
    fresh, freshness = _parted(merge_hits(tuple(answers.values())), frame)
    top = request.max_results or (rules.max_hits if frame.plan.mode == "fused" else None)
    if frame.plan.mode == "multi":
        fresh = FreshHits(within=())
    order = in_order(fresh.within, request, frame, boost=rules.domain_boost, top=top)
    order = replace(order, hits=marked(order.hits, documents))
    undated = tuple(search_hit(each) for each in fresh.undated)
    return Found(order, undated, fresh.outside, freshness, outcomes, answers)


def _parted(merged: Sequence[MergedHit], frame: SearchFrame) -> tuple[FreshHits, str | None]:
    """Return the hits by age; an age that only the intent chose gives way to a wider one when it leaves nothing."""
    plan, today = frame.plan, date.fromisoformat(frame.plan.today)
    wanted = plan.freshness
    if wanted is None:
        return FreshHits(within=tuple(merged)), None
    found = by_freshness(merged, wanted, today)
    for wider in plan.wider_freshness:
        if found.within:
            break
        wanted, found = wider, by_freshness(merged, wider, today)
    return found, wanted


def marked(hits: Hits, documents: Mapping[str, Document]) -> Hits:
    """Return the hits, those of retracted works marked."""
    retracted = {each.url for each in documents.values() if each.retracted}
    return tuple(replace(each, retracted=each.url in retracted) for each in hits)


def _count(found: Found, frame: SearchFrame) -> int:
    if frame.plan.mode == "multi":
        return sum(len(each) for each in found.answers.values())
    return len(found.order.hits)


def _by_source(answers: Answers, frame: SearchFrame) -> dict[str, Hits]:
    """Return each source's own hits in its own order: nothing is merged or ordered in mode multi."""
    return {
        source: tuple(search_hit(each) for each in merge_hits([hits])[: frame.plan.per_source])
        for source, hits in answers.items()
    }


def summary_of(view: JobView) -> Summarised:
    """Return what the model said of the hits; nothing when it was not asked."""
    found = (each for each in view.entries if isinstance(each, Summarised))
    return next(found, Summarised(at_ms=0, key=""))


def _model_errors(request: SearchRequest, frame: SearchFrame, said: Summarised) -> dict[str, str]:
    found = {"intent": frame.model_error, "agent": said.error if request.agent else ""}
    return {name: code for name, code in found.items() if code}


def search_usage(view: JobView, frame: SearchFrame) -> SearchUsage:
    """Return what was spent, the tokens that the operator's model reported included."""
    spent = usage_of(view)
    tokens = frame.model_tokens + summary_of(view).tokens
    values = {name: getattr(spent, name) for name in spent.__struct_fields__}
    return SearchUsage(**{**values, "model_tokens": tokens}, llm_tokens=tokens)


def retracted_warnings(hits: Hits) -> tuple[str, ...]:
    """Return a warning for each hit of a retracted work."""
    return tuple(f"retracted or withdrawn: {each.url}" for each in hits if each.retracted)
