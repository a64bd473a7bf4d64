"""The result of a job that asked research memory."""

from msgspec import Struct

from signal_search.contracts.research import RouterResult
from signal_search.contracts.result import SourceOutcome, Stop


class ResearchResult(Struct, frozen=True, kw_only=True, tag_field="kind", tag="research"):
    """What the router returned, and how the job ended; no source is ever asked for it."""

    job_id: str
    answer: RouterResult
    stop: Stop
    source_outcomes: tuple[SourceOutcome, ...] = ()
