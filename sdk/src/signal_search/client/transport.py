"""The seam between the client and what carries its calls: HTTP here, Redis or an embedded stack elsewhere.

A transport moves one call and reports faults as `signal_search.errors`; waiting, retrying and following a job are the
client's. Other transports are found by name in the entry-point group `signal_search.transports`; each entry is a
factory `(redis_url: str | None, token: str | None) -> Transport`, and needs no import of this module.
"""

from collections.abc import AsyncGenerator, Callable, Iterator
from importlib.metadata import entry_points
from typing import Protocol, cast

from signal_search.client.http import HttpTransport
from signal_search.client.memory_calls import MemoryCommand
from signal_search.contracts.delegation import DelegationReply, DelegationState
from signal_search.contracts.job import AnySearch, Job, JobState
from signal_search.contracts.outcome import AnyResult
from signal_search.contracts.query import RetrieveRequest
from signal_search.contracts.source import SourceView
from signal_search.contracts.trace import LogEntry
from signal_search.errors import Invalid, Unsupported

GROUP = "signal_search.transports"

LogLine = tuple[str, LogEntry | None]
JobList = tuple[tuple[Job, ...], str | None]


class Transport(Protocol):
    """One call at a time, blocking. Every method raises `SignalSearchError` and nothing else."""

    def submit(self, request: RetrieveRequest, *, idempotency_key: str) -> Job:
        """Submit a job. The same key and request again is the same job; another request is a Conflict."""
        ...

    def search(self, request: AnySearch, *, idempotency_key: str) -> AnyResult | Job:
        """Submit a search or survey and wait for its result; the job, when that takes longer than one may wait."""
        ...

    def job(self, job_id: str) -> Job:
        """Return the job as it is now."""
        ...

    def jobs(self, *, state: JobState | None, limit: int | None, cursor: str | None) -> JobList:
        """Return a page of the caller's jobs, newest first, and the cursor of the next page or None."""
        ...

    def result(self, job_id: str) -> AnyResult:
        """Return the result; Conflict while the job is unfinished, Gone when the result has expired."""
        ...

    def events(self, job_id: str, *, after: str, wait_s: float) -> Iterator[LogLine]:
        """Iterate (id, entry) of the job's log after the id `after` ("" for all).

        Ends after the `ended` entry, when the connection is lost, or when nothing came for `wait_s` seconds; the
        caller resumes with the last id. ("", None) is a sign of life without an entry.
        """
        ...

    def cancel(self, job_id: str) -> Job:
        """Cancel the job; Conflict when it has ended."""
        ...

    def export(self, job_id: str, name: str) -> str:
        """Return the result in the named export format."""
        ...

    def bundle(self, job_id: str) -> bytes:
        """Return the job's log and documents as a zstd archive."""
        ...

    def delegations(self, job_id: str) -> tuple[DelegationState, ...]:
        """Return what the job asked its caller so far, and what became of it."""
        ...

    def answer(self, job_id: str, delegation_id: str, reply: DelegationReply) -> DelegationState:
        """Answer one question, or decline it; Conflict when it is too late or another answer stands."""
        ...

    def remember(self, command: MemoryCommand, *, idempotency_key: str) -> bytes:
        """Do something in research memory, once for each key, and return what came of it as JSON.

        A question that takes longer than one may wait is answered with its job.
        """
        ...

    def sources(self) -> tuple[SourceView, ...]:
        """Return the registry as the deployment sees it."""
        ...

    def close(self) -> None:
        """Let go of connections and processes; idempotent."""
        ...


class AsyncTransport(Protocol):
    """The same contract for asyncio; `Transport` has the words."""

    async def submit(self, request: RetrieveRequest, *, idempotency_key: str) -> Job: ...
    async def search(self, request: AnySearch, *, idempotency_key: str) -> AnyResult | Job: ...
    async def job(self, job_id: str) -> Job: ...
    async def jobs(
        self, *, state: JobState | None, limit: int | None, cursor: str | None
    ) -> JobList: ...
    async def result(self, job_id: str) -> AnyResult: ...
    def events(
        self, job_id: str, *, after: str, wait_s: float
    ) -> AsyncGenerator[LogLine, None]: ...
    async def cancel(self, job_id: str) -> Job: ...
    async def export(self, job_id: str, name: str) -> str: ...
    async def bundle(self, job_id: str) -> bytes: ...
    async def delegations(self, job_id: str) -> tuple[DelegationState, ...]: ...
    async def answer(
        self, job_id: str, delegation_id: str, reply: DelegationReply
    ) -> DelegationState: ...
    async def remember(self, command: MemoryCommand, *, idempotency_key: str) -> bytes: ...
    async def sources(self) -> tuple[SourceView, ...]: ...
    async def close(self) -> None: ...


def open_transport(gateway_url: str | None, redis_url: str | None, token: str | None) -> Transport:
    """Return HTTP to a gateway, or the transport for `redis_url`, or with neither the embedded stack's.

    Raises:
        Invalid: both addresses were given, or the gateway's is not http(s).
        Unsupported: this installation lacks the transport.
    """
    refuse_both(gateway_url, redis_url)
    if gateway_url is not None:
        return HttpTransport(gateway_url, token)
    return _factory("embedded" if redis_url is None else "redis")(redis_url, token)


def refuse_both(gateway_url: str | None, redis_url: str | None) -> None:
    """Raise Invalid when there are two places to go to."""
    if gateway_url is not None and redis_url is not None:
        raise Invalid("give a gateway or a Redis address, not both", field="redis_url")


def _factory(name: str) -> Callable[[str | None, str | None], Transport]:
    for entry in entry_points(group=GROUP, name=name):
        try:
            return cast("Callable[[str | None, str | None], Transport]", entry.load())
        except (ImportError, AttributeError) as error:
            raise Unsupported(f"the {name} transport of this installation is broken") from error
    raise Unsupported(f"no {name} transport is installed; give a gateway address instead")
