"""The end of a job: one terminal entry, then nothing of it is left in the queues."""

import msgspec
import structlog
from signal_search.contracts.job import JobEvent, JobState
from signal_search.contracts.outcome import AnyResult
from signal_search.contracts.trace import Ended
from signal_search.errors import Position, ProgramError, SignalSearchError

from budget.policy import job_level
from budget.slots import free_job
from infra.ids import digest
from infra.job_store import StoredJob
from infra.logging import bound
from infra.metrics import SPENT
from workers.pipeline.delivery import spent_on
from workers.pipeline.judge_cost import cost_of_judging, hold_of
from workers.pipeline.memory_call import step_of
from workers.pipeline.state import JobView, fold
from workers.toolbox import Toolbox

_log = structlog.get_logger("workers.ending")

_STATES = {
    JobEvent.SUCCEED: JobState.SUCCEEDED,
    JobEvent.DEGRADE: JobState.PARTIAL,
    JobEvent.FAIL: JobState.FAILED,
    JobEvent.CANCEL: JobState.CANCELLED,
    JobEvent.EXPIRE: JobState.EXPIRED,
}


def end_job(
    tools: Toolbox,
    stored: StoredJob,
    event: JobEvent,
    *,
    result: AnyResult | None = None,
    error: SignalSearchError | None = None,
) -> bool:
    """End a job with its result or error, once; then clear its fetches, holds and steps. False if it had ended."""
    raw = msgspec.json.encode(result) if result is not None else b""
    ended = Ended(
        at_ms=tools.clock.now_ms(),
        key="ended",
        state=_STATES[event],
        error_code=error.code if error else "",
        error_message=error.message if error else "",
        error_field=_field_of(error),
        error_position=_position_of(error),
        candidate_index=error.candidate_index if error else None,
        result_digest=digest(raw) if raw else "",
    )
    was_open = tools.store.end(stored.spec, event, ended, result=raw) is not None
    clear_job(tools, stored)
    if was_open:
        _tell(tools, stored, ended)
    return was_open


def _field_of(error: SignalSearchError | None) -> str:
    """Return the field of the request at fault; a program's fault that no expression has (too many hits) is its own."""
    if error is None:
        return ""
    return error.field or ("scorer" if isinstance(error, ProgramError) else "")


def _position_of(error: SignalSearchError | None) -> Position | None:
    position = error.position if error is not None else None
    return position if isinstance(position, Position) else None


def _tell(tools: Toolbox, stored: StoredJob, ended: Ended) -> None:
    """Count what the job spent, and say that it has ended."""
    spent = tools.ledger.balance(job_level(stored.spec.id)).used
    for dimension, amount in spent.items():
        SPENT.labels(dimension=dimension.value).inc(amount)
    with bound(job_id=stored.spec.id, request_id=stored.spec.request_id):
        took_ms = ended.at_ms - stored.spec.created_at_ms
        _log.info("job ended", state=ended.state.value, code=ended.error_code, took_ms=took_ms)


def clear_job(tools: Toolbox, stored: StoredJob) -> None:
    """Give an ended job's places back, take its fetches out of the frontier, release its holds, drop its steps.

    Idempotent.
    """
    job_id = stored.spec.id
    free_job(tools.slots, job_id, stored.spec.tenant)
    view = fold(entry for _id, entry in tools.log.read(job_id))
    tools.frontier.cancel(job_id, _waiters(job_id, view))
    _settle_told(tools, job_id, view)
    tools.ledger.close(job_level(job_id))
    calls = (step_of(job_id, each.call) for each in view.calls.values())
    tools.steps.drop(f"{job_id}/plan", *calls)
    tools.ring(f"{job_id}/reduce")  # it sees that the job has ended, and leaves
    tools.store.forget(job_id)


def _settle_told(tools: Toolbox, job_id: str, view: JobView) -> None:
    """Settle the fetches that were told to the job while whoever told it died before paying for it."""
    if not any(tools.ledger.balance(job_level(job_id)).held.values()):
        return
    fetched = [
        (f"{job_id}|{each.fetch_id}", spent_on(each.finished))
        for each in view.fetches()
        if each.finished is not None
    ]
    judged = [
        (hold_of(job_id, each.number), cost_of_judging(each)) for each in view.screened.values()
    ]
    tools.ledger.settle_all([*fetched, *judged])


def _waiters(job_id: str, view: JobView) -> list[tuple[str, str, str]]:
    return [
        (fetch.queued.uid, fetch.queued.host, f"{job_id}|{fetch.fetch_id}")
        for fetch in view.open_fetches()
        if fetch.queued is not None
    ]
