"""What a request to the judge is reserved for, and what it cost in the end."""

from signal_search.contracts.budget import Amounts, Dimension
from signal_search.contracts.trace import Screened


def hold_of(job_id: str, number: int) -> str:
    """Return the id of the hold for a job's request of that number: asked again, it is the same hold."""
    return f"{job_id}|judge.{number}"


def most_of_judging(attempts: int, tokens: int) -> Amounts:
    """Return what is held before a request: as many HTTP attempts as it may need, and its estimated input."""
    return {Dimension.JUDGE_REQUESTS: attempts, Dimension.MODEL_TOKENS: tokens}


def cost_of_judging(screened: Screened) -> Amounts:
    """Return what a request cost: the attempts that were made; the tokens the server reports, else the estimate."""
    said = screened.said
    estimate = screened.tokens if said.attempts else 0
    return {
        Dimension.JUDGE_REQUESTS: said.attempts,
        Dimension.MODEL_TOKENS: said.tokens or estimate,
    }
