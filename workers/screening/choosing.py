"""Which searches a round makes: in the first one those that the judge plans, in later ones what is untried."""

from collections.abc import Generator, Sequence
from typing import Any, NamedTuple

from signal_search.contracts.adaptive_plan import Target
from signal_search.contracts.adaptive_result import AdaptiveStop
from signal_search.contracts.judging import Judgements, JudgeRequest, Questions

from scoring.screening.figures import CONFIDENCE_AT_LEAST, SOURCE_ABOVE
from scoring.screening.queries import DEPTHS, candidate_queries
from scoring.screening.round_pool import pool_limit, quotas
from workers.screening.actions import Action, Reply, Search
from workers.screening.asking import ask, stop_of
from workers.screening.envelope import fits
from workers.screening.material import open_keywords, window_of
from workers.screening.questions import PLAN_RULES, about, choice, noul, query_options
from workers.screening.state import LoopState, TargetState


class Choice(NamedTuple):
    """A search that is wanted, before quotas."""

    one: TargetState
    query: str
    depth: str
    sources: tuple[str, ...]


class Chosen(NamedTuple):
    """The searches of a round; stop: the judge could not be asked, and the search ends after them."""

    choices: list[Choice]
    stop: AdaptiveStop | None = None


def queries_of(state: LoopState, one: TargetState) -> list[str]:
    """Return a target's candidate queries for the keywords that are open now."""
    target = one.target
    still_open = {target.keywords[at] for at in open_keywords(state, one, "continue")}
    return candidate_queries(
        text=target.text,
        context=target.context,
        acceptance=target.acceptance,
        keywords=[each for each in target.given if each in still_open],
        facts=[each.question for each in target.topics],
        window=window_of(target),
    )


def choose(state: LoopState) -> Generator[Action, Reply, Chosen]:
    """Return the first round's searches, by the judge's plan; without a judge one plain search for each target."""
    asked, request = _plan_request(state)
    said = yield from ask(state, request)
    if said is None or not said.error:
        said = said or Judgements()
        return Chosen([_planned(state, one, said) for one in asked])
    stop = stop_of(said.error)
    if stop != "jev_unavailable":
        return Chosen([], stop)
    state.remark(
        "fallback_search",
        "the judge failed before any search: results of one plain search are unreviewed",
    )
    offered = tuple(state.frame.offered)
    return Chosen(
        [Choice(one, queries_of(state, one)[0], DEPTHS[0], offered) for one in state.targets], stop
    )


def untried(state: LoopState) -> list[Choice]:
    """Return for each target with open keywords its first query and depth that a healthy source was not asked."""
    found = []
    for one in state.targets:
        if open_keywords(state, one, "continue"):
            choice_ = _first_untried(state, one)
            if choice_ is not None:
                found.append(choice_)
    return found


def within_pool(state: LoopState, choices: Sequence[Choice]) -> tuple[list[Search], int]:
    """Return the searches that the budget has room for, with their quotas, and the round's bound of addresses."""
    left = state.limits.searches - state.spent.searches
    kept = list(choices[: max(0, left)])
    limit = _limit(state)
    if not kept or not limit:
        return [], limit
    counts = [len(open_keywords(state, each.one, "continue")) for each in kept]
    searches = []
    for each, quota in zip(kept, quotas(limit, counts), strict=True):
        state.spent.searches += 1
        each.one.searches += 1
        each.one.executed |= {(each.query, each.depth, name) for name in each.sources}
        searches.append(_search(state, each, quota))
    return searches, limit


def _search(state: LoopState, each: Choice, quota: int) -> Search:
    window, today = each.one.target.window, state.frame.today
    is_today = window is not None and window.start == window.end == today
    return Search(
        id=f"s{state.spent.searches}",
        target=each.one.target.id,
        query=each.query,
        depth=each.depth,
        sources=each.sources,
        quota=quota,
        most=state.limits.pool,
        recency="day" if is_today else "",
    )


def _limit(state: LoopState) -> int:
    limits = state.limits
    if state.round == 1:
        return limits.pool
    counts = [len(open_keywords(state, one, "continue")) for one in state.targets]
    total = sum(len(one.target.keywords) for one in state.targets)
    return pool_limit(
        open_keywords=sum(counts), keywords=total, most=limits.pool, least=limits.least_pool
    )


def _first_untried(state: LoopState, one: TargetState) -> Choice | None:
    for query in queries_of(state, one):
        for depth in DEPTHS:
            names = [each for each in state.healthy() if (query, depth, each) not in one.executed]
            if names:
                return Choice(one, query, depth, tuple(names))
    return None


# --- the plan ---------------------------------------------------------------------------------------------------------


def _plan_request(state: LoopState) -> tuple[list[TargetState], JudgeRequest]:
    """Return the request for as many targets as fit; the others wait for the next round, which needs no plan."""
    told: list[dict[str, Any]] = []
    asked: list[TargetState] = []
    questions: Questions = {}
    for one in state.targets:
        more = _plan_questions(state, one)
        entry = {**about(one.target), "candidate_queries": query_options(queries_of(state, one))}
        request = _request(state, [*told, entry], {**questions, **more})
        if not fits(request, state.limits):
            continue
        told.append(entry)
        asked.append(one)
        questions |= more
    return asked, _request(state, told, questions)


def _request(state: LoopState, told: list[dict[str, Any]], questions: Questions) -> JudgeRequest:
    body = {
        "task": "plan the first searches",
        "rules": list(PLAN_RULES),
        "questions": told,
        "engines": list(state.frame.offered),
    }
    return JudgeRequest(phase="plan", state=body, questions=questions)


def _plan_questions(state: LoopState, one: TargetState) -> Questions:
    name = one.target.id
    asked: Questions = {
        f"plan.{name}.{source}": noul(f"Is {source} likely to hold useful material for {name}?")
        for source in state.frame.offered
    }
    options = query_options(queries_of(state, one))
    if len(options) > 1:
        asked[f"query.{name}"] = choice(f"Which query serves {name} best?", options)
    return asked


def _planned(state: LoopState, one: TargetState, said: Judgements) -> Choice:
    return Choice(
        one, _query(state, one, said), DEPTHS[0], tuple(_sources(state, one.target, said))
    )


def _query(state: LoopState, one: TargetState, said: Judgements) -> str:
    options = query_options(queries_of(state, one))
    answer = said.choices.get(f"query.{one.target.id}")
    is_sure = answer is not None and (answer.confidence or 0.0) >= CONFIDENCE_AT_LEAST
    return options[answer.choice if answer is not None and is_sure else "v1"]


def _sources(state: LoopState, target: Target, said: Judgements) -> list[str]:
    offered = state.frame.offered
    scores = {
        name: said.nouls[key]
        for name in offered
        if (key := f"plan.{target.id}.{name}") in said.nouls
    }
    if not scores:
        state.remark(
            "engine_fallback_default", f"{target.id}: no usable answer about sources, all are asked"
        )
        return list(offered)
    ranked = sorted(scores, key=lambda name: (-scores[name], offered.index(name)))
    chosen = [name for name in ranked if scores[name] > SOURCE_ABOVE]
    if not chosen:
        state.remark(
            "engine_low_scores", f"{target.id}: no source is promising, the best one is asked"
        )
        return ranked[:1]
    return chosen
