"""A request that a job wants made."""

from dataclasses import dataclass

from signal_search.contracts.source import Request


@dataclass(frozen=True)
class Wanted:
    """`fetch_id` is `CALL#NUMBER`, unique in the job; relevance is how promising it is (1: asked for by the plan).

    is_owner: the log says that it was queued for this job first, so the job pays for its reply; was_offered: it has its
    reply already, only its request is missing in the log.
    """

    fetch_id: str
    request: Request
    relevance: float = 1.0
    is_owner: bool = False
    was_offered: bool = False
