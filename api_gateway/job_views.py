"""A stored job as its owner sees it. Pure."""

from signal_search.contracts.job import Job, JobState
from signal_search.contracts.trace import Ended
from signal_search.errors import Conflict, ProgramError, Refused

from api_gateway.specs import words_of
from infra.job_store import StoredJob


def summary(stored: StoredJob) -> Job:
    """Return a job as its owner sees it, without progress."""
    spec = stored.spec
    here = f"/v1/jobs/{spec.id}"
    return Job(
        id=spec.id,
        kind=spec.kind,
        state=stored.state,
        query=words_of(spec),
        created_at_ms=spec.created_at_ms,
        deadline_ms=spec.deadline_ms,
        finished_at_ms=stored.finished_at_ms,
        expires_at_ms=stored.expires_at_ms,
        links={
            "self": here,
            "result": f"{here}/result",
            "events": f"{here}/events",
            "export": f"{here}/export",
            "delegations": f"{here}/delegations",
        },
        error_code=stored.error_code,
        error_message=stored.error_message,
    )


def without_result(stored: StoredJob, ended: Ended | None = None) -> Refused:
    """Return why an ended job has no result; ended: its last entry, which says where in the request a failure lies."""
    if ended is not None and ended.error_field:
        fault = ProgramError(
            ended.error_message,
            code=ended.error_code,
            field=ended.error_field,
            position=ended.error_position,
        )
        fault.candidate_index = ended.candidate_index
        return fault
    if stored.error_code:
        return Conflict(stored.error_message, code=stored.error_code)
    if stored.state is JobState.CANCELLED:
        return Conflict("The job was cancelled.", code="job_cancelled")
    if stored.state is JobState.EXPIRED:
        return Conflict("The job ran out of time.", code="job_expired")
    return Conflict("The job failed.", code="job_failed")
