"""The action Judge: paid for first, asked once, and written down before anything else is made of the answer."""

from dataclasses import replace

import msgspec
from signal_search.contracts.adaptive_plan import AdaptiveFrame
from signal_search.contracts.budget import Dimension
from signal_search.contracts.judging import Judgements, Screen, ScreenAnswer
from signal_search.contracts.query import DelegationKind
from signal_search.contracts.trace import DelegationLapsed, Screened
from signal_search.errors import Broken, Postpone

from budget.ledger import Short
from infra.job_store import StoredJob
from workers.judges.drivers import open_judge
from workers.pipeline.adaptive_job import request_of
from workers.pipeline.delegating import Asking, Reach, is_open, offer_of
from workers.pipeline.judge_cost import cost_of_judging, hold_of, most_of_judging
from workers.pipeline.purses import levels_of
from workers.pipeline.state import JobView
from workers.screening.actions import Judge
from workers.screening.answers import read_answers
from workers.toolbox import Toolbox

_LEASE_MS = 180_000
_OFFLINE = frozenset({"rule", "delegate"})  # drivers that send nothing from here
_LAPSED = {
    "budget": "budget_calls",
    "declined": "declined",
}  # of a delegation -> what the judge's error is called


def ask_judge(tools: Toolbox, stored: StoredJob, view: JobView, wanted: Judge) -> bool:
    """Carry out a request; True when its answer is in the log, False while the caller's model has still to answer.

    Idempotent by the request's number: a step that died after the answer was written asks nothing again.
    """
    plan, _spec = view.require()
    frame = plan.adaptive
    if frame is None:
        raise Broken
    if frame.driver == "delegate":
        said = _delegated(tools, stored, view, frame, wanted)
        if said is None:
            return False
        _write(tools, stored, frame, wanted, said)
        return True
    left_s = (plan.deadline_ms - tools.clock.now_ms()) / 1000
    _write(tools, stored, frame, wanted, _asked(tools, stored, frame, wanted, left_s))
    return True


def awaits_answer(view: JobView) -> bool:
    """Say whether a delegation of the job is open."""
    return any(is_open(view, name) for name in view.delegations)


def _asked(
    tools: Toolbox, stored: StoredJob, frame: AdaptiveFrame, wanted: Judge, left_s: float
) -> Judgements:
    attempts = 0 if frame.driver in _OFFLINE else frame.limits.attempts_per_call
    tokens = wanted.tokens if attempts else 0
    reserved = tools.ledger.reserve(
        hold_of(stored.spec.id, wanted.number),
        levels_of(tools, stored),
        most_of_judging(attempts, tokens),
        lease_ms=_LEASE_MS,
    )
    if isinstance(reserved, Short):
        is_calls = reserved.dimension is Dimension.JUDGE_REQUESTS
        return Judgements(error="budget_calls" if is_calls else "budget_tokens", attempts=0)
    judge = open_judge(frame.driver, tools.settings, tools.clock)
    return judge.judge(
        wanted.request, left_s=max(0.0, left_s), goes_on=lambda: _is_open(tools, stored.spec.id)
    )


def _is_open(tools: Toolbox, job_id: str) -> bool:
    found = tools.store.get(job_id)
    return found is not None and not found.is_finished


def _write(
    tools: Toolbox, stored: StoredJob, frame: AdaptiveFrame, wanted: Judge, said: Judgements
) -> None:
    entry = Screened(
        at_ms=tools.clock.now_ms(),
        key=f"screened:{wanted.number}",
        number=wanted.number,
        phase=wanted.request.phase,
        driver=frame.driver,
        tokens=wanted.tokens,
        said=said,
    )
    tools.log.append(stored.spec.id, entry)
    tools.ledger.settle(hold_of(stored.spec.id, wanted.number), cost_of_judging(entry))


def _delegated(
    tools: Toolbox, stored: StoredJob, view: JobView, frame: AdaptiveFrame, wanted: Judge
) -> Judgements | None:
    """Return the caller's answer, or why there is none; None while there is time."""
    name, request = f"screen.{wanted.number}", wanted.request
    own = offer_of((DelegationKind.SCREEN,), request_of(stored).budget)
    offer = replace(own, most=frame.limits.judge_calls)
    asking = Asking(tools, stored.spec.id, view, Reach(stored.spec.deadline_ms), offer)
    question = Screen(phase=request.phase, state=request.state, questions=request.questions)
    try:
        said = asking.answer(name, question)
    except Postpone:
        return None
    if isinstance(said, ScreenAnswer):
        return read_answers(request.questions, msgspec.to_builtins(said.answers), attempts=0)
    return Judgements(error=_why_none(asking.view, name), attempts=0)


def _why_none(view: JobView, name: str) -> str:
    known = view.delegations.get(name)
    end = known.closed if known is not None else None
    reason = end.reason if isinstance(end, DelegationLapsed) else ""
    return _LAPSED.get(reason, "timeout")
