"""The desk without HTTP, for a client that runs next to Redis: the same checks, the same answers, in process.

A request is encoded and decoded again, so that it is refused exactly where it would be over HTTP.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

import msgspec
from signal_search.contracts.adaptive import AdaptiveRequest
from signal_search.contracts.delegation import DelegationReply, DelegationState
from signal_search.contracts.job import AnySearch, Job, JobState
from signal_search.contracts.memory import AnyCommand, Listing, ReceiptRequest, Show
from signal_search.contracts.outcome import AnyResult, decode_result
from signal_search.contracts.query import RetrieveRequest
from signal_search.contracts.research import ResearchRequest
from signal_search.contracts.search import SearchRequest
from signal_search.contracts.source import SourceView
from signal_search.contracts.trace import LogEntry
from signal_search.errors import BadEncoding, Busy, Conflict, Forbidden, Invalid, NotFound, TooLarge

from api_gateway.app import tokens_path
from api_gateway.auth import OWN_MACHINE, Gate
from api_gateway.body import check_text
from api_gateway.decode import (
    decode_adaptive,
    decode_face,
    decode_reply,
    decode_request,
    decode_search,
    decode_survey,
)
from api_gateway.delegations import Delegations
from api_gateway.desk import Desk
from api_gateway.enqueue import Bell
from api_gateway.memory_answers import asked_of, owned, unavailable, value_in
from api_gateway.owners import Reader, reader_of
from api_gateway.params import page_limit
from api_gateway.request_slots import RETRY_AFTER_S as SLOT_RETRY_S
from api_gateway.request_slots import slots_of
from api_gateway.result_pages import page_for
from api_gateway.specs import patience_s
from api_gateway.sse import start_after
from api_gateway.submission import caller_of
from api_gateway.watch import has_ended
from budget.slots import Slots
from infra import ids
from infra.job_log import START, JobLog
from infra.redis import connect
from infra.settings import Settings, current, load
from infra.store_clock import StoreClock
from infra.tokens import Principal

Asked = TypeVar("Asked")

_LONGEST_READ_S = 25.0  # under the client's socket timeout
_SLOT_GRACE_S = 5.0

Lines = Iterator[tuple[str, LogEntry | None]]


def open_local(redis_url: str | None, token: str | None) -> "LocalTransport":
    """Return a transport to the deployment whose store is at `redis_url` (None: as configured).

    Raises:
        Invalid: no store is named, or the tokens file is not valid.
        Unauthorized: tokens are configured and this is none of them.
    """
    settings = load(redis_url=redis_url) if redis_url else current()
    if not settings.redis_url:
        raise Invalid("No store is named.", field="redis_url")
    gate = Gate(tokens_path(settings))
    return LocalTransport(settings, gate.find(token) if gate.is_locked else OWN_MACHINE)


class LocalTransport:
    """What the client's transport protocol asks for (it may not be imported here). Thread-safe."""

    def __init__(self, settings: Settings, caller: Principal) -> None:
        """Act for `caller`; connections open on first use."""
        self._settings = settings
        self._caller = caller
        self._redis = connect(settings.redis_url)
        self._bell = Bell(settings)
        self._clock = StoreClock(settings.redis_url)
        self._desk = Desk(self._redis, settings, self._clock, self._bell.ring)
        self._delegations = Delegations(
            self._redis, settings, self._clock, self._bell.ring, self._desk.owned
        )

    def submit(self, request: RetrieveRequest, *, idempotency_key: str) -> Job:
        """Submit a job; raises as `Desk.submit`, and what decoding it from a body would raise."""
        self._reader("write")
        caller = caller_of(self._caller, ids.request_id(), idempotency_key)
        job, _is_new = self._desk.submit(self._checked(request, decode_request), caller)
        return job

    def search(self, request: AnySearch, *, idempotency_key: str) -> AnyResult | Job:
        """Submit a search of any kind and wait for its result, at most as long as over HTTP; then return the job.

        Raises:
            Busy: as many searches are at work as may be, or as `submit`.
            ProgramError: the request's program is not valid, or failed on a candidate.
        """
        reader = self._reader("write")
        caller = caller_of(self._caller, ids.request_id(), idempotency_key)
        with self._slot(request):
            checked = self._checked(request, _decoder_of(request))
            if isinstance(checked, AdaptiveRequest) and checked.cursor is not msgspec.UNSET:
                return page_for(self._redis, self._settings, reader.tenant, checked)
            job, _is_new = self._desk.submit(checked, caller)
            if not self._ends(job.id, patience_s(job, self._settings)):
                return self.job(job.id)
        return decode_result(self._desk.result(job.id, reader))

    @contextmanager
    def _slot(self, request: AnySearch) -> Iterator[None]:
        """Hold one of the deployment's slots for searches; others need none."""
        if not isinstance(request, SearchRequest):
            yield
            return
        slots, holder, name = Slots(self._redis), ids.request_id(), slots_of("search")
        # For the longest search: nobody prolongs it here.
        ttl_ms = int((self._settings.gateway.max_wait_s + _SLOT_GRACE_S) * 1000)
        if not slots.take(name, holder, self._settings.search.concurrency("search"), ttl_ms):
            raise Busy(retry_after_s=SLOT_RETRY_S)
        try:
            yield
        finally:
            slots.free(name, holder)

    def _ends(self, job_id: str, within_s: float) -> bool:
        log, last = JobLog(self._redis), START
        end = self._clock.monotonic() + within_s
        while (left_s := end - self._clock.monotonic()) > 0:
            timeout_ms = int(min(left_s, _LONGEST_READ_S) * 1000) + 1
            found = log.wait(job_id, after=last, timeout_ms=timeout_ms)
            if has_ended(found):
                return True
            last = found[-1][0] if found else last
        return False

    def job(self, job_id: str) -> Job:
        """Return the job as it is now."""
        return self._desk.job(job_id, self._reader())

    def jobs(
        self, *, state: JobState | None, limit: int | None, cursor: str | None
    ) -> tuple[tuple[Job, ...], str | None]:
        """Return a page of jobs and the next page's cursor."""
        most = page_limit({} if limit is None else {"limit": str(limit)})
        page = self._desk.jobs(self._reader(), state=state, limit=most, cursor=cursor or "")
        return page.jobs, page.next_cursor

    def result(self, job_id: str) -> AnyResult:
        """Return the result."""
        return decode_result(self._desk.result(job_id, self._reader()))

    def events(self, job_id: str, *, after: str, wait_s: float) -> Lines:
        """Yield the log from after an id to its end, or until nothing came for `wait_s` (at most 25 s)."""
        last = start_after(after or None)
        self._desk.owned(job_id, self._reader())
        log = JobLog(self._redis)
        # Of a job that is over before, the last entry may have been read already: no need to wait for another.
        patience_ms = int(min(wait_s, _LONGEST_READ_S) * 1000)
        timeout_ms = 1 if self._desk.is_over(job_id) else patience_ms
        while True:
            found = log.wait(job_id, after=last, timeout_ms=timeout_ms)
            yield from found
            if not found or has_ended(found):
                return
            last = found[-1][0]

    def cancel(self, job_id: str) -> Job:
        """Cancel the job."""
        return self._desk.cancel(job_id, self._reader("write"))

    def export(self, job_id: str, name: str) -> str:
        """Return the result in the named format."""
        return self._desk.export(job_id, self._reader(), name).content.decode()

    def bundle(self, job_id: str) -> bytes:
        """Return the job's evidence as a zstd archive."""
        return self._desk.bundle(job_id, self._reader()).content

    def delegations(self, job_id: str) -> tuple[DelegationState, ...]:
        """Return what a job asked so far."""
        return self._delegations.listed(job_id, self._reader())

    def answer(self, job_id: str, delegation_id: str, reply: DelegationReply) -> DelegationState:
        """Answer one question of a job, or decline it."""
        reader = self._reader("write")
        checked = self._checked(reply, decode_reply)
        return self._delegations.answer(job_id, reader, delegation_id, checked)

    def remember(
        self, command: AnyCommand | ReceiptRequest | ResearchRequest, *, idempotency_key: str
    ) -> bytes:
        """Do something in research memory, or ask it, as over HTTP; raises likewise, with as long a wait."""
        is_reading = isinstance(command, Show | Listing)
        self._reader("read" if is_reading else "write")
        if not (self._caller.research or self._caller.every_scope):
            raise NotFound
        checked = self._checked(command, partial(decode_face, msgspec.json.Decoder(type(command))))
        asked = asked_of(self._caller, checked)
        caller = caller_of(self._caller, ids.request_id(), None if is_reading else idempotency_key)
        if not isinstance(asked, ResearchRequest):
            caller = owned(caller, checked.scope)
        job, _is_new = self._desk.submit(asked, caller)
        if not self._ends(job.id, patience_s(job, self._settings)):
            raise unavailable()
        try:
            raw = self._desk.result(job.id, caller.reader)
        except Conflict as error:  # it ended without an answer
            raise unavailable() from error
        return raw if isinstance(asked, ResearchRequest) else value_in(raw)

    def sources(self) -> tuple[SourceView, ...]:
        """Return the registry as the deployment sees it."""
        self._reader()
        return self._desk.sources()

    def close(self) -> None:
        """Close the connections; idempotent."""
        self._bell.close()
        self._redis.close()

    def _reader(self, scope: str = "read") -> Reader:
        if scope not in self._caller.scopes:
            raise Forbidden
        return reader_of(self._caller)

    def _checked(self, request: Asked, decode: Callable[[bytes], Asked]) -> Asked:
        try:
            body = msgspec.json.encode(request)
        except UnicodeEncodeError:
            raise BadEncoding("The request is not UTF-8.") from None
        if len(body) > self._settings.gateway.max_body_bytes:
            raise TooLarge
        check_text(body, max_nesting=self._settings.gateway.max_nesting)
        return decode(body)


def _decoder_of(request: AnySearch) -> Callable[[bytes], AnySearch]:
    if isinstance(request, SearchRequest):
        return decode_search
    return decode_adaptive if isinstance(request, AdaptiveRequest) else decode_survey
