"""Everything the client does beyond one call: retry within bounds, follow a job to its end, cancel what is abandoned.

Written once, as coroutines over an `AsyncTransport`: `AsyncClient` awaits them, `Client` runs the same ones over a
transport that never suspends (see `bridge`).
"""

import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from signal_search.client.answering import Answering, Worker
from signal_search.client.delegates import Delegates
from signal_search.client.following import Follow, Following, Update
from signal_search.client.memory_calls import MemoryCall, MemoryCommand
from signal_search.client.replies import backoff_s, failure_of, is_job, read
from signal_search.client.timing import Timing
from signal_search.client.transport import AsyncTransport, JobList
from signal_search.contracts.delegation import DelegationReply, DelegationState
from signal_search.contracts.job import AnySearch, Job, JobState
from signal_search.contracts.outcome import AnyResult
from signal_search.contracts.query import RetrieveRequest
from signal_search.contracts.research import ResearchRequest
from signal_search.contracts.result import Result
from signal_search.contracts.source import SourceView
from signal_search.contracts.trace import LogEntry
from signal_search.errors import (
    Busy,
    Conflict,
    Failed,
    Gone,
    NotFound,
    SignalSearchError,
    StoreFailed,
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a call may be retried: so many attempts, and not beyond so many seconds in all."""

    attempts: int
    seconds: float


CALL = Patience(attempts=4, seconds=30.0)
FOLLOW = Patience(attempts=60, seconds=120.0)  # outlives the restart of a gateway
GIVE_UP = Patience(attempts=2, seconds=2.0)


def narrowed(result: AnyResult, kind: type[T]) -> T:
    """Return a result that is of the kind that was asked for.

    Raises:
        Failed: `gateway_bad_reply`, it is of another.
    """
    if not isinstance(result, kind):
        raise Failed("the gateway's reply is of another kind", code="gateway_bad_reply")
    return result


class Desk:
    """The client's conduct over one transport."""

    def __init__(self, transport: AsyncTransport, timing: Timing, worker: Worker) -> None:
        """Use the transport; the caller closes it. `worker` runs the caller's callables."""
        self.transport = transport
        self._timing = timing
        self._worker = worker

    async def call(
        self, ask: Callable[[], Awaitable[T]], patience: Patience = CALL, until: float | None = None
    ) -> T:
        """Return the answer, asking again after Busy, StoreFailed and lost connections.

        A Retry-After is honoured when it ends within the patience and before `until` (monotonic seconds); else the
        error is raised at once and carries `retry_after_s`.
        """
        end = self._end(patience.seconds, until)
        attempt = 0
        while True:
            try:
                return await ask()
            except (Busy, Failed) as error:
                wait_s = backoff_s(error, attempt)
                attempt += 1
                if wait_s is None or attempt >= patience.attempts:
                    raise
                if self._timing.monotonic() + wait_s > end:
                    raise
            await self._timing.pause(wait_s)

    def _end(self, seconds: float, until: float | None) -> float:
        end = self._timing.monotonic() + seconds
        return end if until is None else min(end, until)

    async def submit(
        self,
        request: RetrieveRequest,
        idempotency_key: str | None = None,
        until: float | None = None,
    ) -> Job:
        """Submit one job; every retry carries the same key, so it stays one."""
        key = idempotency_key or secrets.token_hex(16)
        return await self.call(
            lambda: self.transport.submit(request, idempotency_key=key), until=until
        )

    async def retrieve(
        self,
        request: RetrieveRequest,
        timeout_s: float | None,
        on_progress: Callable[[Update], object] | None,
        delegates: Delegates | None = None,
    ) -> Result:
        """Submit, follow to the end and return the result; leaving earlier, by whatever way, cancels the job.

        What the job asks on its way is answered by `delegates`.

        Raises:
            Failed: client_timeout, when `timeout_s` passed first.
        """
        until = None if timeout_s is None else self._timing.monotonic() + timeout_s
        job = await self.submit(request, until=until)
        async with self._cancelled_unless_finished(job.id):
            job = await self._attended(job, until, on_progress, delegates or {})
        return narrowed(await self.outcome(job), Result)

    async def attend(
        self,
        job_id: str,
        on_progress: Callable[[Update], object] | None,
        delegates: Delegates,
    ) -> AnyResult:
        """Follow a job that runs already and return its result, answering what it asks; leaving does not cancel it."""
        job = await self._attended(await self.job(job_id), None, on_progress, delegates)
        return await self.outcome(job)

    async def _attended(
        self,
        job: Job,
        until: float | None,
        on_progress: Callable[[Update], object] | None,
        delegates: Delegates,
    ) -> Job:
        answering = Answering(self.transport, delegates, self._worker) if delegates else None
        wish = Follow(until=until, refresh=on_progress is not None)
        async with aclosing(self.follow(wish, job)) as updates:
            async for update in updates:
                job = update.job
                if on_progress is not None:
                    on_progress(update)
                if answering is not None:
                    await answering.hear(update)
                self._check_time(until)
        return job

    async def search(self, request: AnySearch, idempotency_key: str | None, kind: type[T]) -> T:
        """Search and return the result of `kind`; one that takes long is followed to its end.

        Raises:
            ProgramError: the request's program failed on a candidate.
        """
        key = idempotency_key or secrets.token_hex(16)
        answer = await self.call(lambda: self.transport.search(request, idempotency_key=key))
        if not isinstance(answer, Job):
            return narrowed(answer, kind)
        job = answer
        async with aclosing(self.follow(Follow(refresh=False), job)) as updates:
            async for update in updates:
                job = update.job
        return narrowed(await self.outcome(job), kind)

    def _check_time(self, until: float | None) -> None:
        if until is not None and self._timing.monotonic() >= until:
            raise Failed(
                "no answer within the timeout; the job was cancelled", code="client_timeout"
            )

    @asynccontextmanager
    async def _cancelled_unless_finished(self, job_id: str) -> AsyncIterator[None]:
        finished = False
        try:
            yield
            finished = True
        finally:
            if not finished:
                with suppress(SignalSearchError):
                    await self.call(lambda: self.transport.cancel(job_id), GIVE_UP)

    async def outcome(self, job: Job) -> AnyResult:
        """Return an ended job's result, or raise what became of a job that has none."""
        try:
            return await self.result(job.id)
        except (Conflict, Gone, NotFound) as error:
            if job.state in {JobState.SUCCEEDED, JobState.PARTIAL}:
                raise
            raise failure_of(job) from error

    def follow(self, wish: Follow, job: Job) -> AsyncGenerator[Update, None]:
        """Yield what happens to the job, as `wish` says, until it ends."""

        def look() -> Awaitable[Job]:
            ask = partial(self.transport.job, job.id)
            return self.call(ask, FOLLOW, wish.until)

        return Following(self.transport, self._timing, look, wish).updates(job)

    async def follow_by_id(self, job_id: str, wish: Follow) -> AsyncGenerator[Update, None]:
        """Look the job up, then follow it."""
        job = await self.job(job_id)
        async with aclosing(self.follow(wish, job)) as updates:
            async for update in updates:
                yield update

    async def log(self, job_id: str, after: str) -> AsyncGenerator[tuple[str, LogEntry], None]:
        """Yield (id, entry) of the job's log after the id `after`, to the last one."""
        wish = Follow(after=after, refresh=False, need_log=True)
        async with aclosing(self.follow_by_id(job_id, wish)) as updates:
            async for update in updates:
                if update.entry is not None:
                    yield update.event_id, update.entry

    async def job(self, job_id: str) -> Job:
        """Return the job as it is now."""
        return await self.call(lambda: self.transport.job(job_id))

    async def jobs(self, state: JobState | None, limit: int | None, cursor: str | None) -> JobList:
        """Return one page of jobs."""
        return await self.call(lambda: self.transport.jobs(state=state, limit=limit, cursor=cursor))

    async def result(self, job_id: str) -> AnyResult:
        """Return the result."""
        return await self.call(lambda: self.transport.result(job_id))

    async def cancel(self, job_id: str) -> Job:
        """Cancel the job."""
        return await self.call(lambda: self.transport.cancel(job_id))

    async def export(self, job_id: str, name: str) -> str:
        """Return an export."""
        return await self.call(lambda: self.transport.export(job_id, name))

    async def bundle(self, job_id: str) -> bytes:
        """Return the bundle."""
        return await self.call(lambda: self.transport.bundle(job_id))

    async def delegations(self, job_id: str) -> tuple[DelegationState, ...]:
        """Return what the job asked so far."""
        return await self.call(lambda: self.transport.delegations(job_id))

    async def answer(
        self, job_id: str, delegation_id: str, reply: DelegationReply
    ) -> DelegationState:
        """Answer one question; every retry says the same, so it is one answer."""
        return await self.call(lambda: self.transport.answer(job_id, delegation_id, reply))

    async def remember(self, asked: MemoryCall[T], idempotency_key: str | None = None) -> T:
        """Return what came of a command to research memory; every retry carries the same key, so it is done once."""
        key = idempotency_key or secrets.token_hex(16)
        raw = await self.call(lambda: self._remembered(asked.command, key))
        return read(raw, asked.kind)

    async def _remembered(self, command: MemoryCommand, key: str) -> bytes:
        raw = await self.transport.remember(command, idempotency_key=key)
        if isinstance(command, ResearchRequest) and is_job(raw):
            raise StoreFailed("the answer is not there yet", code="memory_unavailable")
        return raw

    async def sources(self) -> tuple[SourceView, ...]:
        """Return the registry."""
        return await self.call(self.transport.sources)
