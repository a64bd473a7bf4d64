"""What the door can do, without HTTP: the same for the gateway and for a client next to the workers.

Synchronous: a caller in an event loop uses a thread. A reader sees its own jobs and nothing else (`owners.py`
says which these are); another's job is answered like one that never was. Fails closed: raises StoreFailed when the
store does not answer.
"""

import logging
import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct
from signal_search.citations import FORMATS
from signal_search.contracts.job import AnyRequest, Job, JobEvent, JobState, Progress
from signal_search.contracts.outcome import decode_result
from signal_search.contracts.result import Result
from signal_search.contracts.source import SourceView
from signal_search.contracts.trace import Ended
from signal_search.errors import Conflict, Gone, Invalid, NotFound, SignalSearchError

from api_gateway.clearing import Clearing, tally_of
from api_gateway.idempotency import Idempotency
from api_gateway.job_views import summary, without_result
from api_gateway.owners import Reader
from api_gateway.places import Places
from api_gateway.progress import Tally, eta_ms, progress
from api_gateway.quotas import Quotas
from api_gateway.source_views import KnownSources, read_sources
from api_gateway.specs import named_sources
from api_gateway.submission import Asked, Caller, Made, Ring, Submissions, Tools, step_rules
from budget.frontier import Frontier
from budget.ledger import Ledger
from budget.policy import job_level
from budget.redis_frontier import RedisFrontier
from budget.redis_ledger import RedisLedger
from infra.bundle import MEDIA_TYPE, pack
from infra.clock import Clock
from infra.job_log import START, JobLog, Located
from infra.job_store import JobStore, StoredJob
from infra.logging import bound
from infra.redis import store_errors
from infra.script_chain import Chain, run_chains
from infra.settings import Settings
from infra.steps import Steps

if TYPE_CHECKING:
    from redis import Redis

_LOG = logging.getLogger(__name__)
_JOB_ID = re.compile(r"job_[0-9a-z]{26}")
RETRY_AFTER_S = 2.0  # what a caller that polls is asked to wait; followers of the events need not
_NO_PROGRESS = progress(Tally(), used={}, left={}, hosts=Counter(), eta_ms=None)
_MAX_PAGES = 20  # of the index, looked through for one page of a filtered list


class File(Struct, frozen=True, kw_only=True):
    """A document for the caller to keep."""

    name: str
    media_type: str
    content: bytes


class Page(Struct, frozen=True, kw_only=True):
    """A page of jobs, newest first, without their progress; `next_cursor` asks for more, None at the end."""

    jobs: tuple[Job, ...]
    next_cursor: str | None = None


class Desk:
    """Submits, shows, ends and hands out jobs."""

    def __init__(self, redis: "Redis", settings: Settings, clock: Clock, ring: Ring) -> None:
        """Work on `redis`; `ring` reaches the workers."""
        self._redis = redis
        self._settings = settings
        self._clock = clock
        self._store = JobStore(redis)
        self._log = JobLog(redis)
        self._ledger: Ledger = RedisLedger(redis)
        self._frontier: Frontier = RedisFrontier(redis)
        self._places = Places(redis, settings)
        self._sources = KnownSources(redis, clock)
        self._clearing = Clearing(
            log=self._log,
            store=self._store,
            ledger=self._ledger,
            frontier=self._frontier,
            steps=Steps(redis, step_rules(settings, ttl_ms=settings.jobs.result_ttl_s * 1000)),
            places=self._places,
            ring=ring,
        )
        tools = Tools(
            store=self._store,
            run=self._run,
            idempotency=Idempotency(redis, settings.jobs.idempotency_ttl_s),
            quotas=Quotas(self._ledger, settings, clock),
            places=self._places,
            ring=ring,
            clock=clock,
        )
        self._submissions = Submissions(settings, tools)

    def submit(self, request: AnyRequest, caller: Caller) -> tuple[Job, bool]:
        """Return the job and whether this call made it; the request must have passed `check_request`.

        Raises:
            Conflict: `idempotency_conflict`: the caller's key stands for another request.
            Gone: the key stands for a job that has expired.
            Busy: the tenant or the deployment has as many unfinished jobs as it may; `quota_exceeded`: or has used
                what it may.
            Invalid: a source is named that this deployment does not have.
            NotFound: `scope_not_found`: a scope is named that was not granted to the caller.
        """
        [outcome] = self.submit_all([(request, caller)])
        if isinstance(outcome, SignalSearchError):
            raise outcome
        return outcome

    def submit_all(self, asked: Sequence[Asked]) -> list[tuple[Job, bool] | SignalSearchError]:
        """Submit many over the same trips: for each what `submit` returns, or what it would raise."""
        refusals = self._sources.refusals([named_sources(request) for request, _ in asked])
        known = [each for each, refusal in zip(asked, refusals, strict=True) if refusal is None]
        made = iter(self._submissions.submit(known) if known else ())
        outcomes = (next(made) if refusal is None else refusal for refusal in refusals)
        return [
            each if isinstance(each, SignalSearchError) else (self._fresh(each), each.is_new)
            for each in outcomes
        ]

    def job(self, job_id: str, reader: Reader) -> Job:
        """Return a job with its progress.

        Raises:
            NotFound: `job_not_found`: the reader never had such a job.
            Gone: `result_expired`: it had, and the job has expired with its result.
        """
        return self._view(self.owned(job_id, reader))

    def owned(self, job_id: str, reader: Reader) -> StoredJob:
        """Return what the store has of a reader's job; raises as `job`."""
        if not _JOB_ID.fullmatch(job_id):
            raise _unknown()
        stored = self._store.get(job_id)
        if stored is not None and reader.may_read(stored.spec):
            return stored
        if stored is None and self._store.was_listed(reader.owners, job_id):
            raise Gone
        raise _unknown()

    def is_over(self, job_id: str) -> bool:
        """Return whether a job has ended or is gone."""
        stored = self._store.get(job_id)
        return stored is None or stored.is_finished

    def jobs(
        self, reader: Reader, *, state: JobState | None = None, limit: int = 50, cursor: str = ""
    ) -> Page:
        """Return a page of at most `limit` (1..200) jobs, newest first, from after `cursor`.

        With `state` a page may be short, even empty, and still have a cursor.

        Raises:
            Invalid: `cursor` is none that this call gave.
        """
        if cursor and not self._is_cursor(reader, cursor):
            raise Invalid("This is not a cursor.", field="cursor")
        found: list[Job] = []
        for _ in range(_MAX_PAGES):
            stored, cursor = self._store.newest(
                reader.owners, before=cursor, limit=limit - len(found)
            )
            found += [summary(each) for each in stored if state is None or each.state is state]
            if not cursor or len(found) >= limit:
                break
        return Page(jobs=tuple(found), next_cursor=cursor or None)

    def result(self, job_id: str, reader: Reader) -> bytes:
        """Return a finished job's encoded result. Raises as `job`, and more.

        Raises:
            Conflict: `job_unfinished`, or why an ended job has none: a failed one with its own error's code and
                message (`job_failed` if it has none), `job_cancelled`, `job_expired`.
            ProgramError: the request's program failed on a candidate.
        """
        return self._result(self.owned(job_id, reader))

    def export(self, job_id: str, reader: Reader, name: str) -> File:
        """Return the citations of a finished job in a format of `signal_search.citations`; raises as `result`.

        Raises:
            Invalid: there is no such format.
            Conflict: `without_citations`: only retrieve jobs have some.
        """
        if name not in FORMATS:
            raise Invalid("There is no such export format.", field="format")
        found = FORMATS[name]
        result = decode_result(self.result(job_id, reader))
        if not isinstance(result, Result):
            raise Conflict("This kind of job has no citations.", code="without_citations")
        return File(
            name=f"{job_id}.{found.suffix}",
            media_type=found.media_type,
            content=found.write(result).encode(),
        )

    def bundle(self, job_id: str, reader: Reader) -> File:
        """Return log, documents and result of a job in any state, for replay; raises as `job`."""
        stored = self.owned(job_id, reader)
        entries = self._log.read(job_id)
        documents = self._log.documents(job_id, tally_of(entries).documents())
        result = self._store.result(job_id) or b""
        content = pack(stored.spec, entries, documents.values(), result)
        return File(name=f"{job_id}.bundle.zst", media_type=MEDIA_TYPE, content=content)

    def entries(self, job_id: str, reader: Reader, *, after: str = START) -> list[Located]:
        """Return the log's entries after a stream id; raises as `job`."""
        self.owned(job_id, reader)
        return self._log.read(job_id, after=after)

    def cancel(self, job_id: str, reader: Reader) -> Job:
        """End an unfinished job and take what is left of it out of the queues. Raises as `job`, and more.

        Raises:
            Conflict: `job_finished`. A cancelled job is cleared again, in case the first time was interrupted.
        """
        stored = self.owned(job_id, reader)
        ended = Ended(at_ms=self._clock.now_ms(), key="ended", state=JobState.CANCELLED)
        if self._store.end(stored.spec, JobEvent.CANCEL, ended) is not None:
            self._clearing.clear(stored.spec)
            self._clearing.ask_for_rest(stored.spec)
            with bound(job_id=job_id):
                _LOG.info("job cancelled")
            return self.job(job_id, reader)
        if self.owned(job_id, reader).state is JobState.CANCELLED:
            self._clearing.clear(stored.spec)
        raise Conflict("The job has already finished.", code="job_finished")

    def sources(self) -> tuple[SourceView, ...]:
        """Return the registry as this deployment sees it, empty before the first worker started."""
        return read_sources(self._redis)

    def _run(self, chains: Sequence[Chain]) -> list[list[object]]:
        with store_errors():
            return run_chains(self._redis, chains)

    def _result(self, stored: StoredJob) -> bytes:
        if not stored.is_finished:
            raise Conflict(
                "The job has not finished yet.", code="job_unfinished", retry_after_s=RETRY_AFTER_S
            )
        raw = self._store.result(stored.spec.id)
        if raw is not None:
            return raw
        raise without_result(stored, self._ended(stored))

    def _ended(self, stored: StoredJob) -> Ended | None:
        if not stored.error_code:
            return None
        entries = reversed(self._log.read(stored.spec.id))
        return next((entry for _id, entry in entries if isinstance(entry, Ended)), None)

    def _is_cursor(self, reader: Reader, cursor: str) -> bool:
        return bool(_JOB_ID.fullmatch(cursor)) and self._store.was_listed(reader.owners, cursor)

    def _fresh(self, made: Made) -> Job:
        # Of a job that was made this instant there is nothing to read yet.
        if not made.is_new:
            return self._view(made.job)
        return msgspec.structs.replace(summary(made.job), progress=_NO_PROGRESS)

    def _view(self, stored: StoredJob) -> Job:
        state = tally_of(self._log.read(stored.spec.id))
        job = msgspec.structs.replace(summary(stored), progress=self._progress(stored, state))
        if state.deadline_ms is None:
            return job
        return msgspec.structs.replace(job, deadline_ms=min(job.deadline_ms, state.deadline_ms))

    def _progress(self, stored: StoredJob, state: Tally) -> Progress:
        hosts: Counter[str] = Counter() if stored.is_finished else state.open_hosts()
        purse = self._ledger.balance(job_level(stored.spec.id))
        used = {str(name): amount for name, amount in purse.used.items()}
        left = {
            str(name): max(0, limit - purse.used.get(name, 0) - purse.held.get(name, 0))
            for name, limit in purse.limits.items()
        }
        wait_ms = eta_ms(hosts, self._next_in_ms, self._settings.pause_ms)
        return progress(state, used=used, left=left, hosts=hosts, eta_ms=wait_ms)

    def _next_in_ms(self, host: str) -> int:
        return self._frontier.host_state(host).next_in_ms


def _unknown() -> NotFound:
    return NotFound("There is no such job.", code="job_not_found")
