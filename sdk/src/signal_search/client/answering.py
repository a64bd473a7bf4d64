"""While a job is followed, its questions are answered by the caller's callables: each once, and in time or not at all.

A callable that fails, that returns what makes no answer, or that is still busy at the question's deadline costs the job
nothing but its help: the question is declined and the job goes on by its rules. What it failed of is logged by type.
"""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, Protocol, cast

from signal_search.client.delegates import Delegates, given, replied
from signal_search.client.following import Update
from signal_search.client.takeover import prompt_of, reply_from
from signal_search.client.transport import AsyncTransport
from signal_search.contracts.delegation import Delegation, DelegationReply
from signal_search.contracts.job import JobState
from signal_search.contracts.trace import Delegated, DelegationAnswered, DelegationLapsed
from signal_search.errors import Conflict, Invalid, NotFound

_LOG = logging.getLogger(__name__)
_DECLINED = DelegationReply(decline=True)

Making = Callable[[], Coroutine[Any, Any, DelegationReply]]


class Worker(Protocol):
    """Runs what makes a reply, beside the one who follows the job."""

    async def run(self, make: Making, seconds: float) -> DelegationReply | BaseException | None:
        """Return the reply, what it failed of, or None when it took longer than so many seconds."""
        ...


class ThreadWorker:
    """For blocking clients: a thread with a loop of its own, so that callables may be coroutine functions."""

    async def run(self, make: Making, seconds: float) -> DelegationReply | BaseException | None:
        """Block until the reply is there; a callable that is late is left to end by itself."""
        pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="delegate")
        try:
            future = pool.submit(lambda: asyncio.run(make()))
            done, _late = wait([future], timeout=seconds)
            if not done:
                return None
            return future.exception() or future.result()
        finally:
            pool.shutdown(wait=False)


class LoopWorker:
    """For asyncio: a task of the caller's loop; what blocks runs in a thread."""

    async def run(self, make: Making, seconds: float) -> DelegationReply | BaseException | None:
        """Return when the reply is there; a callable that is late is cancelled."""
        task = asyncio.ensure_future(make())
        try:
            done, _late = await asyncio.wait([task], timeout=seconds)
        finally:
            if not task.done():
                task.cancel()
        if not done:
            return None
        return task.exception() or task.result()


class Answering:
    """The questions of one job. An entry that comes again after a lost connection is answered once."""

    def __init__(self, transport: AsyncTransport, delegates: Delegates, worker: Worker) -> None:
        """Answer over `transport`."""
        self._transport = transport
        self._delegates = delegates
        self._worker = worker
        self._seen: set[str] = set()

    async def hear(self, update: Update) -> None:
        """Answer the question in an update; without an entry in it, what a job that waits still asks."""
        entry, job = update.entry, update.job
        if isinstance(entry, Delegated):
            await self._answer(job.id, entry.delegation, entry.at_ms)
        elif isinstance(entry, DelegationAnswered | DelegationLapsed):
            self._seen.add(entry.delegation_id)
        elif entry is None and job.state is JobState.DELEGATED:
            for each in await self._transport.delegations(job.id):
                if each.state == "open":
                    await self._answer(job.id, each.delegation, each.asked_at_ms)

    async def _answer(self, job_id: str, asked: Delegation, asked_at_ms: int) -> None:
        if asked.id in self._seen:
            return
        self._seen.add(asked.id)
        # Both times are the store's: no clock of ours takes part.
        seconds = (asked.deadline_ms - asked_at_ms) / 1000
        await self._send(job_id, asked, await self._worker.run(self._making(asked), seconds))

    def _making(self, asked: Delegation) -> Making:
        own, model = given(self._delegates, asked.kind), self._delegates.get("llm_fn")

        async def make() -> DelegationReply:
            if own is not None:
                return await replied(asked.question, own, called)
            if model is None:
                return _DECLINED
            return reply_from(str(await called(model, (prompt_of(asked),))))

        return make

    async def _send(
        self, job_id: str, asked: Delegation, made: DelegationReply | BaseException | None
    ) -> None:
        if not isinstance(made, DelegationReply):
            reason = "took too long" if made is None else type(made).__name__
            _LOG.warning("the callable for %s gave no answer: %s", asked.kind.value, reason)
            made = _DECLINED
        try:
            await self._transport.answer(job_id, asked.id, made)
        except Invalid as error:
            _LOG.warning("the answer to %s was refused: %s", asked.kind.value, error.field)
            await self._decline(job_id, asked)
        except (Conflict, NotFound):
            _LOG.warning("the answer to %s came too late", asked.kind.value)

    async def _decline(self, job_id: str, asked: Delegation) -> None:
        try:
            await self._transport.answer(job_id, asked.id, _DECLINED)
        except (Conflict, NotFound):
            return  # its time is over: the job went on


async def called(ask: Callable[..., object], arguments: Sequence[object]) -> object:
    """Call a callable and return its value; one that is no coroutine function runs in a thread."""
    if inspect.iscoroutinefunction(ask):
        return await ask(*arguments)
    value = await asyncio.to_thread(ask, *arguments)
    return await cast("Awaitable[object]", value) if inspect.isawaitable(value) else value
