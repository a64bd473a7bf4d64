"""Whether to go on with each keyword: the judge is asked, the material decides what its choice is worth."""

from collections.abc import Generator, Sequence
from typing import Any, Final

from signal_search.contracts.adaptive_result import AdaptiveStop
from signal_search.contracts.judging import Judgements, JudgeRequest

from scoring.screening.progress import PENDING, Decision, take
from workers.screening.actions import Action, Reply
from workers.screening.asking import ask, stop_of
from workers.screening.envelope import fits
from workers.screening.material import (
    is_pending,
    materials,
    open_keywords,
    score_of,
    useful_for,
    value_of,
)
from workers.screening.questions import CHOICES, DECISION_RULES, about, choice
from workers.screening.state import Asked, LoopState, TargetState

_SHOWN = 3  # of the useful results, for the judge (adaptive search guide)
_TEXTS: Final = {
    "satisfied_unqualified": "satisfied was answered without a useful result that matches",
    "exhaustion_rejected": "exhausted was refused: no source answered, or something is still to be reviewed",
    "match_retries_exhausted": "exhausted was accepted although some matches stayed unknown",
}
Item = tuple[TargetState, int]


def decide(state: LoopState) -> Generator[Action, Reply, AdaptiveStop | None]:
    """Ask about every keyword that is open or pending; a stop when a batch failed: from it on all are pending."""
    items = [
        (one, at)
        for one in state.targets
        for at in open_keywords(state, one, "continue", "pending")
    ]
    stop: AdaptiveStop | None = None
    for batch, request in _batches(state, items):
        if stop is not None:
            _hold(state, batch)
            continue
        said = yield from ask(state, request)
        if said is not None and said.error:
            stop = stop_of(said.error)
            _hold(state, batch)
        else:
            _take(state, batch, said or Judgements())
    return stop


def hold_all(state: LoopState) -> None:
    """Let every keyword that would have been asked about wait: the judge failed before."""
    for one in state.targets:
        _hold(state, [(one, at) for at in open_keywords(state, one, "continue", "pending")])


def _hold(state: LoopState, items: Sequence[Item]) -> None:
    for one, at in items:
        _store(state, one, at, PENDING)


def _take(state: LoopState, items: Sequence[Item], said: Judgements) -> None:
    for one, at in items:
        answer = said.choices.get(f"kw.{one.target.id}.{at}")
        taken = take(
            answer.choice if answer else None,
            answer.confidence if answer else None,
            keyword=one.target.keywords[at],
            rows=materials(state, one.target),
            successes=len(one.successes),
        )
        if taken.remark is not None:
            text = f"{one.target.id}, keyword {at + 1}: {_TEXTS[taken.remark]}"
            state.remark(taken.remark, text)
        _store(state, one, at, taken.decision)


def _store(state: LoopState, one: TargetState, at: int, decision: Decision) -> None:
    one.decisions[at] = decision
    one.history[at].append(Asked(round=state.round, status=decision.status, reason=decision.reason))


# --- requests ---------------------------------------------------------------------------------------------------------


def _batches(state: LoopState, items: Sequence[Item]) -> list[tuple[list[Item], JudgeRequest]]:
    """Return requests that fit, each with what it asks; a question that fits none waits, with a warning."""
    found: list[tuple[list[Item], JudgeRequest]] = []
    batch: list[Item] = []
    for item in items:
        if fits(_request(state, [*batch, item]), state.limits):
            batch.append(item)
            continue
        if batch:
            found.append((batch, _request(state, batch)))
        batch = [item] if fits(_request(state, [item]), state.limits) else []
        if not batch:
            state.remark(
                "continuation_unfittable", "a decision's question does not fit one request"
            )
            _hold(state, [item])
    if batch:
        found.append((batch, _request(state, batch)))
    return found


def _request(state: LoopState, items: Sequence[Item]) -> JudgeRequest:
    targets = {one.target.id: one.target for one, _at in items}
    body = {
        "task": "decide whether to go on",
        "rules": list(DECISION_RULES),
        "questions": [about(each) for each in targets.values()],
        "keyword_states": [_keyword_state(state, one, at) for one, at in items],
    }
    questions = {
        f"kw.{one.target.id}.{at}": choice(f"{one.target.id}, keyword {at}: go on?", CHOICES)
        for one, at in items
    }
    return JudgeRequest(phase="keyword_judge", state=body, questions=dict(questions))


def _keyword_state(state: LoopState, one: TargetState, at: int) -> dict[str, Any]:
    target, keyword = one.target, one.target.keywords[at]
    useful = useful_for(state, target, keyword)
    score = score_of(state, target, keyword)
    return {
        "question_id": target.id,
        "keyword": keyword,
        "useful_results": len(useful),
        "material": [
            {
                "url": each.source.url,
                "text": each.text,
                "kind": each.judgement.kind if each.judgement else "unknown",
                "value": value_of(each),
            }
            for each in useful[:_SHOWN]
        ],
        "pending_assessments": sum(map(is_pending, state.pool.of(target))),
        "successful_engines": len(one.successes),
        "searches": one.searches,
        "distinct_groups": score.distinct,
        "score": score.score,
        "A": score.best,
        "F": score.coverage,
        "R": score.repeated,
    }
