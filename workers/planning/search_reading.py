"""From a search request to the arguments of the planner: which guide's conduct is asked for. Pure.

Three kinds of callers: who names an intent, or nothing but words, gets the search guide's conduct; who names one of its
modes alone gets the plain one (no intent, the words as they are); who names sources, an identity or a ranking, or mode
fused or multi, gets the scorer guide's.
"""

from collections.abc import Collection, Sequence

from msgspec import UNSET
from msgspec.structs import replace
from signal_search.contracts.search import SOURCE_NAMES, SearchRequest, SurveyRequest
from signal_search.contracts.search_plan import SearchMode, SearchPlan
from signal_search.errors import Invalid

from scoring.hit_rules import HitRules
from workers.planning.search_modes import WEB_SOURCES
from workers.planning.search_plan import MOST_QUERIES, SearchOptions, plan_search

_MOST_SIDES = 6  # scorer guide: queries of a survey
_GOAL_CHARS = 400  # of a goal, as a query: what search interfaces take


def queries_of(request: SearchRequest) -> tuple[str, ...]:
    """Return what is searched for: the queries in order, without any the title or identifier.

    Raises:
        Invalid: `query`, when there is none of them.
    """
    words = [request.query or "", *request.queries]
    found = [each for each in words if each.strip()]
    named = [request.title, request.doi, request.arxiv_id]
    found = found or [each for each in named if each and each.strip()][:1]
    if not found:
        raise Invalid("Give a query, queries, doi, arxiv_id or title.", field="query")
    return tuple(found[:MOST_QUERIES])


def mode_of(request: SearchRequest) -> SearchMode | None:
    """Return the mode that the request names or means; None leaves it to the intent."""
    if request.mode is not None or request.intent is not None:
        return request.mode
    is_scored = request.ranking is not UNSET or request.scorer is not None
    has_identity = any((request.doi, request.arxiv_id, request.title))
    return "fused" if is_scored or has_identity or request.sources else None


def follows_intent(request: SearchRequest) -> bool:
    """Say whether an intent decides mode, words and freshness: a named one, or the words' where all else is open."""
    return request.intent is not None or mode_of(request) is None


def named_sources(request: SearchRequest | SurveyRequest) -> tuple[str, ...]:
    """Return the sources that the caller named, by the ids of the catalogue."""
    return tuple(dict.fromkeys(SOURCE_NAMES.get(each, each) for each in request.sources or ()))


def plan_request(
    request: SearchRequest,
    *,
    configured: Collection[str],
    joining: Sequence[str],
    rules: HitRules,
    now_ms: int,
) -> SearchPlan:
    """Plan a search.

    joining: sources without a key. They are asked in fused and multi, and where none of the four web sources is
    configured: then they are all there is.

    Raises:
        Invalid: with the field at fault.
    """
    by_intent, mode = follows_intent(request), mode_of(request)
    joins = mode in {"fused", "multi"} or not set(WEB_SOURCES) & set(configured)
    options = SearchOptions(
        mode=mode,
        intent=request.intent,
        freshness=request.freshness,
        domain_boost=request.domain_boost,
        sources=named_sources(request),
        joining=tuple(joining) if joins else (),
        per_source=_per_source(request, rules, mode),
        language=request.constraints.language,
        expand=by_intent,
    )
    plan = plan_search(
        queries_of(request), configured=configured, rules=rules, now_ms=now_ms, options=options
    )
    if by_intent or plan.freshness_by != "intent":
        return plan
    return replace(plan, freshness=None, freshness_by="", wider_freshness=())


def _per_source(request: SearchRequest, rules: HitRules, mode: SearchMode | None) -> int | None:
    """Return how many hits each source is asked for: as named, in fused and multi at least as many as are wanted."""
    if request.num is not None or mode not in {"fused", "multi"}:
        return request.num
    return max(rules.per_source, request.max_results or 0)


def plan_survey(
    request: SurveyRequest,
    *,
    configured: Collection[str],
    wanted: Sequence[str],
    rules: HitRules,
    now_ms: int,
    queries: Sequence[str] = (),
) -> SearchPlan:
    """Plan a survey: each side asks each source. queries: the sides, else they follow from the goal.

    Raises:
        Invalid: with the field at fault.
    """
    sides = tuple(queries) or request.queries
    goal = " ".join(request.goal.split())[:_GOAL_CHARS].rstrip()
    options = SearchOptions(
        mode="fused",
        sources=tuple(wanted),
        per_source=max(rules.per_source, request.max_results or 0),
        language=request.constraints.language,
        expand=not sides,
    )
    plan = plan_search(
        (sides or (goal,))[:_MOST_SIDES],
        configured=configured,
        rules=rules,
        now_ms=now_ms,
        options=options,
    )
    return replace(plan, scored_against=goal, freshness=None, freshness_by="", wider_freshness=())
