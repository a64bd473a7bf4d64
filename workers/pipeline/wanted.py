"""A request that a job wants made."""

from dataclasses import dataclass

from signal_search.contracts.source import Request


@dataclass(frozen=True)
class Wanted:
    """`fetch_id` is `CALL#NUMBER`, unique in the job; relevance is how promising it is (1: asked for by the plan)."""

    fetch_id: str
    request: Request
    relevance: float = 1.0
