"""Between blocking and asyncio, so that conduct is written once.

`Client` runs coroutines that never suspend, because their transport blocks: one `send(None)` takes each to its end
without an event loop. `AsyncClient` reaches transports that only block (Redis, embedded) through threads.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Iterator
from typing import Any, ParamSpec, Protocol, TypeVar

from signal_search.client.memory_calls import MemoryCommand
from signal_search.client.transport import JobList, LogLine, Transport
from signal_search.contracts.delegation import DelegationReply, DelegationState
from signal_search.contracts.job import AnySearch, Job, JobState
from signal_search.contracts.outcome import AnyResult
from signal_search.contracts.query import RetrieveRequest
from signal_search.contracts.source import SourceView
from signal_search.errors import Broken

T = TypeVar("T")
P = ParamSpec("P")


class Carry(Protocol):
    """How a blocking call is made from a coroutine."""

    def __call__(
        self, call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs
    ) -> Awaitable[T]: ...


async def at_once(call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Make the call here and now; never suspends."""
    return call(*args, **kwargs)


in_thread: Carry = asyncio.to_thread


class Bridged:
    """A blocking `Transport` as an `AsyncTransport`."""

    def __init__(self, transport: Transport, carry: Carry) -> None:
        """Reach `transport` by `carry`."""
        self._to = transport
        self._carry = carry

    async def submit(self, request: RetrieveRequest, *, idempotency_key: str) -> Job:
        return await self._carry(self._to.submit, request, idempotency_key=idempotency_key)

    async def search(self, request: AnySearch, *, idempotency_key: str) -> AnyResult | Job:
        return await self._carry(self._to.search, request, idempotency_key=idempotency_key)

    async def job(self, job_id: str) -> Job:
        return await self._carry(self._to.job, job_id)

    async def jobs(
        self, *, state: JobState | None, limit: int | None, cursor: str | None
    ) -> JobList:
        return await self._carry(self._to.jobs, state=state, limit=limit, cursor=cursor)

    async def result(self, job_id: str) -> AnyResult:
        return await self._carry(self._to.result, job_id)

    async def events(
        self, job_id: str, *, after: str, wait_s: float
    ) -> AsyncGenerator[LogLine, None]:
        lines = self._to.events(job_id, after=after, wait_s=wait_s)
        idle = True
        try:
            while True:
                idle = False
                line = await self._carry(_next, lines)
                idle = True
                if line is None:
                    return
                yield line
        finally:
            if idle:  # else a thread is still inside it, and it ends by itself within wait_s
                _close(lines)

    async def cancel(self, job_id: str) -> Job:
        return await self._carry(self._to.cancel, job_id)

    async def export(self, job_id: str, name: str) -> str:
        return await self._carry(self._to.export, job_id, name)

    async def bundle(self, job_id: str) -> bytes:
        return await self._carry(self._to.bundle, job_id)

    async def delegations(self, job_id: str) -> tuple[DelegationState, ...]:
        return await self._carry(self._to.delegations, job_id)

    async def answer(
        self, job_id: str, delegation_id: str, reply: DelegationReply
    ) -> DelegationState:
        return await self._carry(self._to.answer, job_id, delegation_id, reply)

    async def remember(self, command: MemoryCommand, *, idempotency_key: str) -> bytes:
        return await self._carry(self._to.remember, command, idempotency_key=idempotency_key)

    async def sources(self) -> tuple[SourceView, ...]:
        return await self._carry(self._to.sources)

    async def close(self) -> None:
        await self._carry(self._to.close)


def _next(lines: Iterator[LogLine]) -> LogLine | None:
    return next(lines, None)


def _close(lines: Iterator[LogLine]) -> None:
    close = getattr(lines, "close", None)
    if close is not None:
        close()


def run_now(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never suspends to its end.

    Raises:
        Broken: it did suspend.
    """
    try:
        coroutine.send(None)
    except StopIteration as end:
        value: T = end.value
        return value
    coroutine.close()
    raise Broken("a blocking call must not suspend")


def iterate_now(items: AsyncGenerator[T, None]) -> Generator[T, None, None]:
    """Iterate an asynchronous generator that never suspends; closes it whenever the iteration ends."""
    try:
        while True:
            try:
                yield run_now(_anext(items))
            except StopAsyncIteration:
                return
    finally:
        run_now(_aclose(items))


async def _anext(items: AsyncGenerator[T, None]) -> T:
    return await anext(items)


async def _aclose(items: AsyncGenerator[T, None]) -> None:
    await items.aclose()
