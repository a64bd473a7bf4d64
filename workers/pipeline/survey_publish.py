"""From a stopped survey to its result: papers merged over all sides, the rules' own kept, ordered, cut. Pure."""

from collections.abc import Callable, Mapping, Sequence

import msgspec
from signal_search.contracts.document import Document
from signal_search.contracts.hit import Hit, MergedHit
from signal_search.contracts.job import SurveySpec
from signal_search.contracts.search import SurveyRequest, SurveyRules
from signal_search.contracts.search_result import (
    Hits,
    SearchHit,
    SurveyCoverage,
    SurveyGroup,
    SurveyResult,
)
from signal_search.errors import Broken

from scoring.hit_merge import merge_hits
from workers.pipeline.rules import Rules
from workers.pipeline.search_hits import answers_of, hits_by_question, names_of
from workers.pipeline.search_outcomes import errors_of, search_outcomes
from workers.pipeline.search_publish import (
    frame_of,
    marked,
    retracted_warnings,
    search_usage,
    until_stopped,
)
from workers.pipeline.search_ranking import Order, by_formula
from workers.pipeline.state import JobView
from workers.pipeline.trace import trace_of


def publish_survey(view: JobView, documents: Mapping[str, Document], rules: Rules) -> SurveyResult:
    """Return the result of a survey from its log.

    Raises:
        Broken: the job has not stopped, or is no survey.
    """
    _plan, spec = view.require()
    if not isinstance(spec, SurveySpec) or view.stopped is None:
        raise Broken
    frame, request, then = frame_of(view), spec.request, until_stopped(view)
    answers = answers_of(then, documents)
    merged = merge_hits(tuple(answers.values()))
    kept = [each for each in merged if _is_wanted(each, request.rules)]
    order = by_formula(
        kept, query=request.goal, as_of_year=int(frame.plan.today[:4]), frame=frame, top=len(kept)
    )
    hits = marked(_sorted(order, request.rules)[: request.max_results or rules.max_hits], documents)
    outcomes = search_outcomes(then, frame, answers)
    agent = {"agent": frame.model_error} if frame.model_error else {}
    return SurveyResult(
        job_id=spec.id,
        plan=_plan_of(view, request),
        hits=hits,
        queries=_groups(then, documents, hits, request.rules),
        errors={**errors_of(outcomes), **agent},
        coverage=SurveyCoverage(
            candidates=len(merged),
            filtered_out=len(merged) - len(kept),
            cut=max(0, len(order.hits) - len(hits)),
        ),
        usage=search_usage(view, frame),
        ranking=order.ranking,
        source_outcomes=outcomes,
        warnings=retracted_warnings(hits),
        stop=view.stopped.stop,
        trace=trace_of(view),
    )


def _plan_of(view: JobView, request: SurveyRequest) -> dict[str, object]:
    frame = frame_of(view)
    sources = dict.fromkeys(each.source_id for each in frame.plan.calls)
    return {
        "goal": request.goal,
        "queries": [each.text for each in frame.plan.sub_queries],
        "queries_by": frame.queries_by,
        "sources": [*sources, *frame.plan.not_configured],
        "rules": msgspec.to_builtins(request.rules),
    }


# --- rules ------------------------------------------------------------------------------------------------------------


def _is_wanted(hit: MergedHit, rules: SurveyRules) -> bool:
    """Say whether a paper is within the rules. What a rule needs and the paper does not tell is outside."""
    authors = " \n".join(names_of(hit.authors))
    return (
        _names_one(rules.authors, authors)
        and _names_one(rules.venues, hit.container)
        and _is_in_years(hit, rules)
        and (rules.min_citations is None or (hit.citations or 0) >= rules.min_citations)
    )


def _names_one(wanted: Sequence[str], text: str) -> bool:
    folded = text.casefold()
    return not wanted or any(each.casefold() in folded for each in wanted)


def _is_in_years(hit: MergedHit, rules: SurveyRules) -> bool:
    if rules.year_from is None and rules.year_to is None:
        return True
    year = hit.published[:4]
    first, last = rules.year_from or 0, rules.year_to or 9999
    return year.isdigit() and first <= int(year) <= last


def _sorted(order: Order, rules: SurveyRules) -> Hits:
    """Return the papers by the rules' order; equal ones stay by relevance, unknown values come last."""
    keys: dict[str, Callable[[SearchHit], float]] = {
        "newest": lambda hit: -_number(hit.year),
        "citations": lambda hit: -_number(hit.citations),
    }
    key = keys.get(rules.sort)
    return order.hits if key is None else tuple(sorted(order.hits, key=key))


def _number(value: object) -> float:
    return float(value) if isinstance(value, int) else -1.0


# --- sides ------------------------------------------------------------------------------------------------------------


def _groups(
    view: JobView, documents: Mapping[str, Document], hits: Hits, rules: SurveyRules
) -> tuple[SurveyGroup, ...]:
    """Return for each side what it found, and which of the answer's hits; a paper may belong to several."""
    frame, by_question = frame_of(view), hits_by_question(view, documents)
    groups = []
    for side in frame.plan.sub_queries:
        own: list[Hit] = by_question.get(side.id, [])
        merged = merge_hits([own])
        kept = [each for each in merged if _is_wanted(each, rules)]
        places = tuple(
            at for at, hit in enumerate(hits) if any(_is_same(hit, each) for each in kept)
        )
        groups.append(SurveyGroup(query=side.text, found=len(merged), kept=len(kept), hits=places))
    return tuple(groups)


def _is_same(hit: SearchHit, merged: MergedHit) -> bool:
    by_id = (hit.doi and hit.doi == merged.doi) or (
        hit.arxiv_id and hit.arxiv_id == merged.arxiv_id
    )
    return bool(by_id or hit.url == merged.url or hit.title == merged.title)
