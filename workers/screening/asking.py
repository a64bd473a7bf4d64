"""One logical request to the judge: within the job's own bounds or not at all, and its answer accounted for."""

from collections.abc import Generator
from typing import Final

from signal_search.contracts.adaptive_result import AdaptiveStop
from signal_search.contracts.judging import Judgements, JudgeRequest

from workers.screening.actions import Action, Judge, Reply
from workers.screening.envelope import estimate
from workers.screening.state import LoopState

Asking = Generator[Action, Reply, "Judgements | None"]

OWN_CAPS: Final[dict[str, AdaptiveStop]] = {
    "budget_calls": "budget_calls",
    "budget_tokens": "budget_tokens",
}
"""Errors that say that a budget ended, here or in a purse above this job's, and the stop they lead to."""


def shortage(state: LoopState, tokens: int) -> AdaptiveStop | None:
    """Return which bound leaves no room for one more request of so many tokens; HTTP attempts count at their most."""
    limits, spent = state.limits, state.spent
    is_over = spent.calls + 1 > limits.judge_calls
    if is_over or spent.attempts + limits.attempts_per_call > limits.http_attempts:
        return "budget_calls"
    used = max(spent.estimated, spent.reported)
    return "budget_tokens" if used + tokens > limits.input_tokens else None


def ask(state: LoopState, request: JudgeRequest) -> Asking:
    """Reserve a request, have it sent, and book what it cost. Fails as an answer with an `error`, never otherwise."""
    tokens = estimate(request)
    short = shortage(state, tokens)
    if short is not None:
        return Judgements(error=short, attempts=0)
    state.spent.calls += 1
    state.spent.estimated += tokens
    reply = yield Judge(number=state.spent.calls, request=request, tokens=tokens)
    said = reply if isinstance(reply, Judgements) else Judgements(error="malformed_response")
    state.spent.attempts += said.attempts
    state.spent.reported += said.tokens
    if said.invalid:
        state.remark(
            "invalid_answers", f"{request.phase}: {said.invalid} invalid answers were not used"
        )
    if said.strange:
        state.remark(
            "unknown_answer_ids", f"{request.phase}: {said.strange} answers to nothing asked"
        )
    if said.error and said.error not in OWN_CAPS:
        state.remark("judge_failed", f"{request.phase}: the judge failed ({said.error})")
    return said


def stop_of(error: str) -> AdaptiveStop:
    """Return the stop that a failed request leads to."""
    return OWN_CAPS.get(error, "jev_unavailable")
