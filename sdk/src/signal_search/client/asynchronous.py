"""`AsyncClient`: Signal Search from asyncio. HTTP is native; transports that only block are carried by threads."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, Unpack

from signal_search.client.answering import LoopWorker
from signal_search.client.async_scoped_memory import AsyncScopedMemory
from signal_search.client.bridge import Bridged, in_thread
from signal_search.client.confirming import NeedsConfirm, draft_outline
from signal_search.client.delegates import Delegates, kinds_of
from signal_search.client.desk import Desk
from signal_search.client.following import Follow, Update
from signal_search.client.http import AsyncHttpTransport
from signal_search.client.memory_calls import ScopeLike, scope_of
from signal_search.client.references import as_names
from signal_search.client.request import BudgetLike, ConstraintsLike, build_request, checked_reply
from signal_search.client.researching import Research, research
from signal_search.client.searching import (
    AdaptiveOptions,
    SearchOptions,
    SurveyOptions,
    build_adaptive,
    build_page,
    build_search,
    build_survey,
)
from signal_search.client.timing import LoopTiming, Timing
from signal_search.client.transport import AsyncTransport, JobList, open_transport, refuse_both
from signal_search.contracts.adaptive_result import AdaptiveResult
from signal_search.contracts.delegation import DelegationState
from signal_search.contracts.job import Job, JobState
from signal_search.contracts.outcome import AnyResult
from signal_search.contracts.query import DelegationKind, Depth, RetrieveRequest
from signal_search.contracts.result import Result
from signal_search.contracts.search_result import SearchResult, SurveyResult
from signal_search.contracts.source import SourceView
from signal_search.contracts.trace import LogEntry


class AsyncClient:
    """What `Client` does, for asyncio; a cancelled task cancels its job. An asynchronous context manager."""

    def __init__(
        self,
        gateway_url: str | None = None,
        *,
        redis_url: str | None = None,
        token: str | None = None,
        transport: AsyncTransport | None = None,
        timing: Timing | None = None,
    ) -> None:
        """Open the transport that the addresses name; see `Client`.

        An embedded stack is started here and blocks for the seconds that takes.
        """
        chosen = transport or _open(gateway_url, redis_url, token)
        self._desk = Desk(chosen, timing or LoopTiming(), LoopWorker())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Let go of connections, and of the embedded stack if this client started it."""
        await self._desk.transport.close()

    async def retrieve(  # noqa: PLR0913 - the signature is public and fixed; all but three are keywords
        self,
        query: str,
        constraints: ConstraintsLike = None,
        budget: BudgetLike = None,
        *,
        depth: Depth | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - it cancels the job as well, which asyncio.timeout cannot
        on_progress: Callable[[Update], object] | None = None,
        sources: Sequence[str] | None = None,
        delegate: Sequence[DelegationKind | str] = (),
        **delegates: Unpack[Delegates],
    ) -> Result:
        """Submit a job, follow it and return its result; see `Client.retrieve`."""
        request = build_request(
            query,
            constraints,
            budget,
            depth=depth,
            sources=sources,
            delegate=(*delegate, *kinds_of(delegates)),
        )
        return await self._desk.retrieve(request, timeout, on_progress, delegates)

    async def attend(
        self,
        job_id: str,
        *,
        on_progress: Callable[[Update], object] | None = None,
        **delegates: Unpack[Delegates],
    ) -> AnyResult:
        """Follow a job to its end, answer what it asks, and return its result; leaving does not cancel it."""
        return await self._desk.attend(job_id, on_progress, delegates)

    async def research(  # noqa: PLR0913 - all but two are keywords
        self,
        query: str,
        constraints: ConstraintsLike = None,
        *,
        budget: BudgetLike = None,
        depth: Depth = "deep",
        vault: str | Path | None = None,
        refresh: bool = False,
        export_citations: str | Sequence[str] = (),
        on_progress: Callable[[Update], object] | None = None,
        sources: Sequence[str] | None = None,
        **delegates: Unpack[Delegates],
    ) -> Result:
        """Research a question; see `Client.research`."""
        request = build_request(
            query,
            constraints,
            budget,
            depth=depth,
            sources=sources,
            delegate=kinds_of(delegates),
        )
        folder = Path(vault) if vault is not None else None
        wanted = Research(request, folder, refresh, as_names(export_citations))
        return await research(self._desk, wanted, on_progress, delegates)

    async def research_outline(
        self,
        query: str,
        constraints: ConstraintsLike = None,
        *,
        vault: str | Path,
        depth: Depth = "deep",
        sources: Sequence[str] | None = None,
    ) -> NeedsConfirm:
        """Write the outline of a research to its vault and retrieve nothing; see `Client.research_outline`."""
        request = build_request(query, constraints, depth=depth, sources=sources)
        wanted = Research(request, Path(vault))
        return await draft_outline(self._desk, wanted)

    async def search(
        self,
        query: str | None = None,
        *,
        idempotency_key: str | None = None,
        **options: Unpack[SearchOptions],
    ) -> SearchResult:
        """Search and return hits; `options` are the fields of a search request.

        Raises:
            Invalid: a field is out of its bounds (before anything is sent).
            ModeConflict, ProgramError: fields contradict each other, or the program is not valid or failed.
        """
        request = build_search(query, **options)
        return await self._desk.search(request, idempotency_key, SearchResult)

    async def survey_search(
        self,
        goal: str,
        *,
        idempotency_key: str | None = None,
        **options: Unpack[SurveyOptions],
    ) -> SurveyResult:
        """Look for papers from several sides of a goal; `options` are the fields of a survey request."""
        request = build_survey(goal, **options)
        return await self._desk.search(request, idempotency_key, SurveyResult)

    async def adaptive_search(
        self, *, idempotency_key: str | None = None, **options: Unpack[AdaptiveOptions]
    ) -> AdaptiveResult:
        """Search until a judge has seen enough, and return the first page; `options` are an adaptive request's fields.

        Raises:
            Invalid: `invalid_input`: a field is out of its bounds.
        """
        request = build_adaptive(**options)
        return await self._desk.search(request, idempotency_key, AdaptiveResult)

    async def adaptive_page(self, cursor: str, page_size: int | None = None) -> AdaptiveResult:
        """Return the page that a cursor names; nothing is searched. Gone when its results have expired."""
        request = build_page(cursor, page_size)
        return await self._desk.search(request, None, AdaptiveResult)

    async def submit(self, request: RetrieveRequest, *, idempotency_key: str | None = None) -> Job:
        """Submit a job and return at once; without a key of yours one is made for this call and its retries."""
        return await self._desk.submit(request, idempotency_key)

    async def job(self, job_id: str) -> Job:
        """Return the job as it is now; NotFound when there is none."""
        return await self._desk.job(job_id)

    async def jobs(
        self, *, state: JobState | None = None, limit: int | None = None, cursor: str | None = None
    ) -> JobList:
        """Return (jobs, cursor of the next page or None), newest first."""
        return await self._desk.jobs(state, limit, cursor)

    async def result(self, job_id: str) -> AnyResult:
        """Return the result; Conflict while unfinished, Gone when expired."""
        return await self._desk.result(job_id)

    def events(self, job_id: str, *, after: str = "") -> AsyncGenerator[tuple[str, LogEntry], None]:
        """Iterate (id, entry) of the job's log to its last entry, over lost connections; `after` resumes."""
        return self._desk.log(job_id, after)

    def follow(self, job_id: str) -> AsyncGenerator[Update, None]:
        """Iterate what happens to a job until it ends; leaving the loop does not cancel it."""
        return self._desk.follow_by_id(job_id, Follow())

    async def cancel(self, job_id: str) -> Job:
        """Cancel the job; Conflict when it has ended."""
        return await self._desk.cancel(job_id)

    async def export(self, job_id: str, name: str) -> str:
        """Return the result in an export format (bibtex, ris, csl, markdown, noteexpress)."""
        return await self._desk.export(job_id, name)

    async def bundle(self, job_id: str) -> bytes:
        """Return the job's log and documents as a zstd archive, for replay."""
        return await self._desk.bundle(job_id)

    async def delegations(self, job_id: str) -> tuple[DelegationState, ...]:
        """Return what the job asked its caller so far, and what became of it."""
        return await self._desk.delegations(job_id)

    async def answer(
        self,
        job_id: str,
        delegation_id: str,
        answer: Mapping[str, object] | None,
        *,
        tokens: int = 0,
    ) -> DelegationState:
        """Answer one question by its schema, or decline it; see `Client.answer`."""
        return await self._desk.answer(job_id, delegation_id, checked_reply(answer, tokens))

    def memory(self, scope: ScopeLike) -> AsyncScopedMemory:
        """Return the research memory of a scope; see `Client.memory`."""
        return AsyncScopedMemory(self._desk, scope_of(scope))

    async def sources(self) -> tuple[SourceView, ...]:
        """Return the registry as the deployment sees it."""
        return await self._desk.sources()


def _open(gateway_url: str | None, redis_url: str | None, token: str | None) -> AsyncTransport:
    refuse_both(gateway_url, redis_url)
    if gateway_url is not None:
        return AsyncHttpTransport(gateway_url, token)
    return Bridged(open_transport(None, redis_url, token), in_thread)
