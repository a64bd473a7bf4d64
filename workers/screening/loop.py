"""The adaptive loop: search, review, decide, round after round. A pure coroutine: it asks, the world answers.

`screen` yields what it wants done and is sent what came of it. The replies stand in the job's log, so that whoever
takes the job over runs the loop again with them and is where it was: the same replies give the same state and the
same questions. Time and cancellation are not seen in here; who drives the loop ends it.
"""

from collections.abc import Generator, Sequence

from signal_search.contracts.adaptive_result import AdaptiveStop

from workers.screening.actions import Action, Begin, Found, Reply, Search, Searches
from workers.screening.choosing import Choice, choose, untried, within_pool
from workers.screening.deciding import decide, hold_all
from workers.screening.material import has_reviewable, open_keywords
from workers.screening.reviewing import review
from workers.screening.state import LoopState

Screening = Generator[Action, Reply, AdaptiveStop]
_Part = Generator[Action, Reply, AdaptiveStop | None]


def screen(state: LoopState) -> Screening:
    """Run until there is a reason to stop, and return it; `state` holds what was found."""
    stop = _cannot_begin(state)
    while stop is None:
        stop = _before_round(state)
        if stop is None:
            state.round += 1
            yield Begin(round=state.round)
            stop = yield from _round(state)
    state.stop = stop
    return stop


def _cannot_begin(state: LoopState) -> AdaptiveStop | None:
    if state.frame.driver == "none":
        return "not_configured"
    return None if state.frame.offered else "no_engines"


def _before_round(state: LoopState) -> AdaptiveStop | None:
    if not _is_open(state):
        return "keyword_queue_empty"
    return "budget_rounds" if state.round >= state.limits.rounds else None


def _is_open(state: LoopState) -> bool:
    return any(open_keywords(state, one, "continue", "pending") for one in state.targets)


def _round(state: LoopState) -> _Part:
    judged = len(state.judged)
    choices: list[Choice] = []
    stop: AdaptiveStop | None = None
    if state.round == 1:
        choices, stop = yield from choose(state)
    elif not has_reviewable(state, in_this_round=True):
        choices = untried(state)
    yield from _search(state, choices)
    if stop is None:
        stop = yield from review(state)
    if stop is not None:
        hold_all(state)
        return stop
    stop = yield from decide(state)
    if stop is not None:
        return stop
    state.idle = 0 if len(state.judged) > judged else state.idle + 1
    return _after_round(state)


def _after_round(state: LoopState) -> AdaptiveStop | None:
    if not _is_open(state):
        return "keyword_queue_empty"
    if has_reviewable(state, in_this_round=False):
        return None
    wanted = bool(untried(state))
    if wanted and state.spent.searches >= state.limits.searches:
        return "budget_calls"
    return "no_action" if not wanted and state.idle >= state.limits.idle_rounds else None


# --- searches ---------------------------------------------------------------------------------------------------------


def _search(state: LoopState, choices: Sequence[Choice]) -> Generator[Action, Reply, None]:
    searches, limit = within_pool(state, choices)
    if not searches:
        return
    reply = yield Searches(searches=tuple(searches))
    found = reply if isinstance(reply, tuple) else ()
    keys: set[str] = set()
    for search, each in zip(searches, found, strict=False):
        _book(state, search, each)
        state.pool.add(each.rows[: search.quota], keys, limit)
    if state.pool.is_full:
        text = f"{state.limits.total_pool} addresses were collected, which is the most of one job"
        state.remark("pool_full", text)


def _book(state: LoopState, search: Search, found: Found) -> None:
    """Remember who answered and who failed; failures count in a row, answers from the cache count neither way."""
    if found.error:
        state.remark("search_failed", f"{search.id}: the search failed ({found.error})")
        for name in search.sources:
            _failed(state, name)
        return
    one = next(each for each in state.targets if each.target.id == search.target)
    for name in search.sources:
        stats = found.stats.get(name)
        if stats is None:
            continue
        if stats.successes:
            state.failures[name] = 0
            one.successes.add(name)
        elif stats.errors:
            _failed(state, name)


def _failed(state: LoopState, name: str) -> None:
    state.failures[name] = state.failures.get(name, 0) + 1
    if state.failures[name] == state.limits.source_failures:
        state.remark("engine_suspended", f"{name}: failed too often in a row, not asked again")
