"""`Client`: Signal Search from ordinary code."""

from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, Unpack

from signal_search.client.answering import ThreadWorker
from signal_search.client.bridge import Bridged, at_once, iterate_now, run_now
from signal_search.client.confirming import NeedsConfirm, draft_outline
from signal_search.client.delegates import Delegates, kinds_of
from signal_search.client.desk import Desk
from signal_search.client.following import Follow, Update
from signal_search.client.memory_calls import ScopeLike, scope_of
from signal_search.client.references import as_names
from signal_search.client.request import BudgetLike, ConstraintsLike, build_request, checked_reply
from signal_search.client.researching import Research, research
from signal_search.client.scoped_memory import ScopedMemory
from signal_search.client.searching import (
    AdaptiveOptions,
    SearchOptions,
    SurveyOptions,
    build_adaptive,
    build_page,
    build_search,
    build_survey,
)
from signal_search.client.timing import BlockingTiming, Timing
from signal_search.client.transport import JobList, Transport, open_transport
from signal_search.contracts.adaptive_result import AdaptiveResult
from signal_search.contracts.delegation import DelegationState
from signal_search.contracts.job import Job, JobState
from signal_search.contracts.outcome import AnyResult
from signal_search.contracts.query import DelegationKind, Depth, RetrieveRequest
from signal_search.contracts.result import Result
from signal_search.contracts.search_result import SearchResult, SurveyResult
from signal_search.contracts.source import SourceView
from signal_search.contracts.trace import LogEntry


class Client:
    """Blocking access to a gateway, a Redis, or with neither an embedded stack. A context manager.

    Every method raises `SignalSearchError`. Busy answers and lost connections are retried for up to 30 s.
    """

    def __init__(
        self,
        gateway_url: str | None = None,
        *,
        redis_url: str | None = None,
        token: str | None = None,
        transport: Transport | None = None,
        timing: Timing | None = None,
    ) -> None:
        """Open the transport that the addresses name; `transport` and `timing` take the place of the own ones.

        Raises:
            Invalid: both addresses were given, or one is malformed.
            Unsupported: this installation lacks the transport.
        """
        chosen = transport or open_transport(gateway_url, redis_url, token)
        self._desk = Desk(Bridged(chosen, at_once), timing or BlockingTiming(), ThreadWorker())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of connections, and of the embedded stack if this client started it."""
        run_now(self._desk.transport.close())

    def retrieve(  # noqa: PLR0913 - the signature is public and fixed; all but three are keywords
        self,
        query: str,
        constraints: ConstraintsLike = None,
        budget: BudgetLike = None,
        *,
        depth: Depth | None = None,
        timeout: float | None = None,
        on_progress: Callable[[Update], object] | None = None,
        sources: Sequence[str] | None = None,
        delegate: Sequence[DelegationKind | str] = (),
        **delegates: Unpack[Delegates],
    ) -> Result:
        """Submit a job, follow it and return its result.

        timeout: seconds; when they pass, or on Ctrl-C, the job is cancelled. on_progress: called with every log entry
        and sign of life. sources: the only sources to ask (ids, `site:URL`, `feed:URL`). delegates: the callables of
        `Delegates`; they run here and answer what the job asks, which is nothing without them. delegate: kinds of
        questions that somebody answers elsewhere, by `answer` or the command line.

        Raises:
            Invalid: a field is out of its bounds (before anything is sent).
            Failed: client_timeout, job_cancelled, job_expired, or what the job failed of.
        """
        request = build_request(
            query,
            constraints,
            budget,
            depth=depth,
            sources=sources,
            delegate=(*delegate, *kinds_of(delegates)),
        )
        return run_now(self._desk.retrieve(request, timeout, on_progress, delegates))

    def attend(
        self,
        job_id: str,
        *,
        on_progress: Callable[[Update], object] | None = None,
        **delegates: Unpack[Delegates],
    ) -> AnyResult:
        """Follow a job to its end, answer what it asks, and return its result; leaving does not cancel it."""
        return run_now(self._desk.attend(job_id, on_progress, delegates))

    def research(  # noqa: PLR0913 - all but two are keywords
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
        """Research a question and return its result; `vault` is a folder to keep it in.

        With a vault: leaving does not cancel the job, and the next call goes on with it; a finished one is read from
        the folder unless `refresh` asks again, and `changes.json` says what is new. `outline_fn`, or else the edited
        `outline.md`, decides which sub-questions are looked into. `export_citations` names formats (bibtex, csl,
        markdown or md, noteexpress, ris; both = bibtex and markdown) that are written to `references.*` there.

        Raises:
            Invalid: a field is out of its bounds, the vault is of another question, or a format is not known.
            Failed: what the job failed of.
        """
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
        return run_now(research(self._desk, wanted, on_progress, delegates))

    def research_outline(
        self,
        query: str,
        constraints: ConstraintsLike = None,
        *,
        vault: str | Path,
        depth: Depth = "deep",
        sources: Sequence[str] | None = None,
    ) -> NeedsConfirm:
        """Write the outline of a research to `outline.md` in its vault, and retrieve nothing.

        The person edits it or not; `research` with the same vault then goes on with what stands there. A vault that has
        an outline already gives that one.

        Raises:
            Invalid: a field is out of its bounds, the vault is of another question, or the question has no outline.
            Failed: what the job failed of.
        """
        request = build_request(query, constraints, depth=depth, sources=sources)
        wanted = Research(request, Path(vault))
        return run_now(draft_outline(self._desk, wanted))

    def search(
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
        return run_now(self._desk.search(request, idempotency_key, SearchResult))

    def survey_search(
        self,
        goal: str,
        *,
        idempotency_key: str | None = None,
        **options: Unpack[SurveyOptions],
    ) -> SurveyResult:
        """Look for papers from several sides of a goal; `options` are the fields of a survey request."""
        request = build_survey(goal, **options)
        return run_now(self._desk.search(request, idempotency_key, SurveyResult))

    def adaptive_search(
        self, *, idempotency_key: str | None = None, **options: Unpack[AdaptiveOptions]
    ) -> AdaptiveResult:
        """Search until a judge has seen enough, and return the first page; `options` are an adaptive request's fields.

        Raises:
            Invalid: `invalid_input`: a field is out of its bounds.
        """
        request = build_adaptive(**options)
        return run_now(self._desk.search(request, idempotency_key, AdaptiveResult))

    def adaptive_page(self, cursor: str, page_size: int | None = None) -> AdaptiveResult:
        """Return the page that a cursor names; nothing is searched. Gone when its results have expired."""
        request = build_page(cursor, page_size)
        return run_now(self._desk.search(request, None, AdaptiveResult))

    def submit(self, request: RetrieveRequest, *, idempotency_key: str | None = None) -> Job:
        """Submit a job and return at once; without a key of yours one is made for this call and its retries."""
        return run_now(self._desk.submit(request, idempotency_key))

    def job(self, job_id: str) -> Job:
        """Return the job as it is now; NotFound when there is none."""
        return run_now(self._desk.job(job_id))

    def jobs(
        self, *, state: JobState | None = None, limit: int | None = None, cursor: str | None = None
    ) -> JobList:
        """Return (jobs, cursor of the next page or None), newest first."""
        return run_now(self._desk.jobs(state, limit, cursor))

    def result(self, job_id: str) -> AnyResult:
        """Return the result; Conflict while unfinished, Gone when expired."""
        return run_now(self._desk.result(job_id))

    def events(
        self, job_id: str, *, after: str = ""
    ) -> Generator[tuple[str, LogEntry], None, None]:
        """Iterate (id, entry) of the job's log to its last entry, over lost connections; `after` resumes."""
        return iterate_now(self._desk.log(job_id, after))

    def follow(self, job_id: str) -> Generator[Update, None, None]:
        """Iterate what happens to a job until it ends; leaving the loop does not cancel it."""
        return iterate_now(self._desk.follow_by_id(job_id, Follow()))

    def cancel(self, job_id: str) -> Job:
        """Cancel the job; Conflict when it has ended."""
        return run_now(self._desk.cancel(job_id))

    def export(self, job_id: str, name: str) -> str:
        """Return the result in an export format (bibtex, ris, csl, markdown, noteexpress)."""
        return run_now(self._desk.export(job_id, name))

    def bundle(self, job_id: str) -> bytes:
        """Return the job's log and documents as a zstd archive, for replay."""
        return run_now(self._desk.bundle(job_id))

    def delegations(self, job_id: str) -> tuple[DelegationState, ...]:
        """Return what the job asked its caller so far, and what became of it."""
        return run_now(self._desk.delegations(job_id))

    def answer(
        self,
        job_id: str,
        delegation_id: str,
        answer: Mapping[str, object] | None,
        *,
        tokens: int = 0,
    ) -> DelegationState:
        """Answer one question by its schema; None declines it. tokens: what your model used.

        Raises:
            Invalid: the answer is not by the schema; `field` says where.
            Conflict: `delegation_late` or `delegation_answered`.
        """
        reply = checked_reply(answer, tokens)
        return run_now(self._desk.answer(job_id, delegation_id, reply))

    def memory(self, scope: ScopeLike) -> ScopedMemory:
        """Return the research memory of a scope: five names, in order or by name."""
        return ScopedMemory(self._desk, scope_of(scope))

    def sources(self) -> tuple[SourceView, ...]:
        """Return the registry as the deployment sees it."""
        return run_now(self._desk.sources())
