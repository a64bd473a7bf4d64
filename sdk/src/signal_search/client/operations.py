"""The gateway's calls as data: what to send and how to read the reply; who sends it does not matter."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from urllib.parse import quote

import msgspec
from msgspec import Struct

from signal_search.client.replies import is_job, read, read_result
from signal_search.contracts.adaptive import AdaptiveRequest
from signal_search.contracts.delegation import DelegationReply, DelegationState
from signal_search.contracts.job import AnySearch, Job, JobState
from signal_search.contracts.outcome import AnyResult
from signal_search.contracts.query import RetrieveRequest
from signal_search.contracts.search import SearchRequest, SurveyRequest
from signal_search.contracts.source import SourceView

T = TypeVar("T")

_SEARCHES: dict[type[AnySearch], str] = {
    SearchRequest: "/v1/search",
    SurveyRequest: "/v1/survey-search",
    AdaptiveRequest: "/v1/adaptive-search",
}


class _Jobs(Struct, frozen=True):
    jobs: tuple[Job, ...]
    next_cursor: str | None = None


class _Sources(Struct, frozen=True):
    sources: tuple[SourceView, ...]


class _Delegations(Struct, frozen=True):
    delegations: tuple[DelegationState, ...]


@dataclass(frozen=True, slots=True)
class Operation(Generic[T]):
    """One request, and the reader of its successful reply's body."""

    method: str
    path: str
    reader: Callable[[bytes], T]
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


def _job(body: bytes) -> Job:
    return read(body, Job)


def _answer(body: bytes) -> AnyResult | Job:
    return read(body, Job) if is_job(body) else read_result(body)


def _jobs(body: bytes) -> tuple[tuple[Job, ...], str | None]:
    page = read(body, _Jobs)
    return page.jobs, page.next_cursor


def _sources(body: bytes) -> tuple[SourceView, ...]:
    return read(body, _Sources).sources


def _delegations(body: bytes) -> tuple[DelegationState, ...]:
    return read(body, _Delegations).delegations


def _delegation(body: bytes) -> DelegationState:
    return read(body, DelegationState)


def _text(body: bytes) -> str:
    # Bytes, not lines: the CRLF of RIS must survive.
    return body.decode("utf-8", "replace")


def _address(job_id: str, part: str = "") -> str:
    return f"/v1/jobs/{quote(job_id, safe='')}{part}"


def submit(request: RetrieveRequest, idempotency_key: str) -> Operation[Job]:
    """POST /v1/retrieve; safe to send again because of its key."""
    headers = {"Content-Type": "application/json", "Idempotency-Key": idempotency_key}
    body = msgspec.json.encode(request)
    return Operation("POST", "/v1/retrieve", _job, headers=headers, body=body)


def search(request: AnySearch, idempotency_key: str) -> Operation[AnyResult | Job]:
    """POST to the address for such a request; safe to send again because of its key."""
    headers = {"Content-Type": "application/json", "Idempotency-Key": idempotency_key}
    body = msgspec.json.encode(request)
    return Operation("POST", _SEARCHES[type(request)], _answer, headers=headers, body=body)


def job(job_id: str) -> Operation[Job]:
    """GET /v1/jobs/{id}."""
    return Operation("GET", _address(job_id), _job)


def jobs(
    state: JobState | None, limit: int | None, cursor: str | None
) -> Operation[tuple[tuple[Job, ...], str | None]]:
    """GET /v1/jobs."""
    query = {"state": state, "limit": limit, "cursor": cursor}
    given = {name: str(value) for name, value in query.items() if value is not None}
    return Operation("GET", "/v1/jobs", _jobs, query=given)


def result(job_id: str) -> Operation[AnyResult]:
    """GET /v1/jobs/{id}/result."""
    return Operation("GET", _address(job_id, "/result"), read_result)


def events(job_id: str, after: str) -> Operation[bytes]:
    """GET /v1/jobs/{id}/events; the reply is a stream for `EventStream`."""
    headers = {"Accept": "text/event-stream", "Cache-Control": "no-store"}
    resume = {"Last-Event-ID": after} if after else {}
    return Operation("GET", _address(job_id, "/events"), bytes, headers=headers | resume)


def cancel(job_id: str) -> Operation[Job]:
    """DELETE /v1/jobs/{id}."""
    return Operation("DELETE", _address(job_id), _job)


def export(job_id: str, name: str) -> Operation[str]:
    """GET /v1/jobs/{id}/export?format=."""
    return Operation("GET", _address(job_id, "/export"), _text, query={"format": name})


def bundle(job_id: str) -> Operation[bytes]:
    """GET /v1/jobs/{id}/bundle."""
    return Operation("GET", _address(job_id, "/bundle"), bytes)


def delegations(job_id: str) -> Operation[tuple[DelegationState, ...]]:
    """GET /v1/jobs/{id}/delegations."""
    return Operation("GET", _address(job_id, "/delegations"), _delegations)


def answer(job_id: str, delegation_id: str, reply: DelegationReply) -> Operation[DelegationState]:
    """POST /v1/jobs/{id}/delegations/{did}; the same answer may be sent again."""
    path = _address(job_id, f"/delegations/{quote(delegation_id, safe='')}")
    headers = {"Content-Type": "application/json"}
    body = msgspec.json.encode(reply)
    return Operation("POST", path, _delegation, headers=headers, body=body)


def sources() -> Operation[tuple[SourceView, ...]]:
    """GET /v1/sources."""
    return Operation("GET", "/v1/sources", _sources)
