"""A source that a job will not ask, and why, in the job's log."""

from signal_search.contracts.source import SkipReason
from signal_search.contracts.trace import CallRefused

from workers.pipeline.state import fold
from workers.toolbox import Toolbox


def refuse(tools: Toolbox, job_id: str, call_id: str, reason: SkipReason, detail: str) -> None:
    """Append the refusal of a call, once; a call that the plan does not have is left alone."""
    view = fold(entry for _id, entry in tools.log.read(job_id))
    call = view.calls.get(call_id)
    if call is None:
        return
    entry = CallRefused(
        at_ms=tools.clock.now_ms(),
        key=f"{call_id}:refused",
        call_id=call_id,
        source_id=call.call.source_id,
        reason=reason,
        detail=detail,
    )
    tools.log.append(job_id, entry)
