"""Jobs in Redis: specification, state, result and an owner's index. States change by one table only."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import msgspec
from msgspec import Struct
from redis import Redis
from signal_search.contracts.job import (
    TERMINAL_STATES,
    TRANSITIONS,
    AnySpec,
    JobEvent,
    JobSpec,
    JobState,
)
from signal_search.contracts.trace import Ended, Submitted

from infra import keys
from infra.job_log import encode_entry
from infra.metrics import JOBS
from infra.redis import store_errors
from infra.scripts import Argument, Call, load, run_together

_SCRIPTS = load(
    Path(__file__).with_name("lua"),
    *("job_watch", "job_create", "job_list", "job_transition", "job_end", "jobs_overdue"),
)
_SPEC = msgspec.json.Decoder(AnySpec)


# Beyond the deadline: time to reduce and publish what is there.
_GRACE_MS = 600_000
_INDEX_MS = 31 * 86_400_000
LOOK_AFTER_MS = 30_000  # time for the step and the job of one submission to be written


class StoredJob(Struct, frozen=True, kw_only=True):
    """What the store knows of a job without reading its log."""

    spec: AnySpec
    state: JobState
    finished_at_ms: int | None = None
    expires_at_ms: int | None = None
    error_code: str = ""
    error_message: str = ""

    @property
    def is_finished(self) -> bool:
        """Whether nothing can happen to the job any more."""
        return self.state in TERMINAL_STATES


def life_ms(spec: JobSpec) -> int:
    """Return how long an unfinished job's keys live from its submission."""
    return spec.deadline_ms - spec.created_at_ms + _GRACE_MS + spec.result_ttl_s * 1000


CREATED = 1
"""Which of the calls of `creation` answers whether the job is new."""


def creation(spec: AnySpec, look_after_ms: int = LOOK_AFTER_MS) -> list[Call]:
    """Return the calls that create a queued job: its watch, the job itself (1: created, 0: it exists), its listing.

    In this order, so that no job is ever without a watch; one whose job never came is forgotten when it is due.
    """
    entry = Submitted(at_ms=spec.created_at_ms, key="submitted", job=spec)
    names = (keys.job(spec.id), keys.job_log(spec.id), keys.job_once(spec.id))
    args = (msgspec.json.encode(spec), entry.key, encode_entry(entry), life_ms(spec))
    watching = (spec.id, spec.created_at_ms + look_after_ms)
    listing = (spec.id, spec.created_at_ms, _INDEX_MS)
    return [
        Call(_SCRIPTS["job_watch"], (keys.open_jobs(),), watching),
        Call(_SCRIPTS["job_create"], names, args),
        Call(_SCRIPTS["job_list"], (keys.tenant_jobs(spec.belongs_to),), listing),
    ]


class JobStore:
    """Raises StoreFailed when the store does not answer."""

    def __init__(self, redis: Redis) -> None:
        """Work on `redis`."""
        self._redis = redis

    def create(self, spec: AnySpec, *, look_after_ms: int = LOOK_AFTER_MS) -> bool:
        """Create a queued job with its `submitted` entry and list it under its owner; False if it exists.

        look_after_ms: milliseconds after its submission from which `overdue` names it, until it is forgotten.
        """
        with store_errors():
            created = run_together(self._redis, creation(spec, look_after_ms))[CREATED]
        return created == 1

    def get(self, job_id: str) -> StoredJob | None:
        """Return a job, None when it is unknown or expired."""
        with store_errors():
            row = cast("dict[bytes, bytes]", self._redis.hgetall(keys.job(job_id)))
        return stored_of(row)

    def transition(self, job_id: str, event: JobEvent) -> JobState | None:
        """Apply a non-terminal event; return the new state, None when the table or the end of the job forbids it."""
        with store_errors():
            answer = _SCRIPTS["job_transition"](self._redis, [keys.job(job_id)], _rows_of(event))
        moved, state = cast("tuple[int, bytes]", answer)
        return JobState(state.decode()) if moved else None

    def end(
        self, spec: JobSpec, event: JobEvent, entry: Ended, *, result: bytes = b""
    ) -> JobState | None:
        """End a job once, with its result; None when it had ended already. Everything then lives result_ttl_s."""
        names = [
            keys.job(spec.id),
            keys.job_log(spec.id),
            keys.job_once(spec.id),
            keys.job_result(spec.id),
            keys.job_documents(spec.id),
        ]
        args: list[Argument] = [
            entry.key,
            encode_entry(entry),
            result,
            entry.at_ms,
            spec.result_ttl_s * 1000,
            entry.error_code,
            entry.error_message,
            *_rows_of(event),
        ]
        with store_errors():
            moved, state = cast("tuple[int, bytes]", _SCRIPTS["job_end"](self._redis, names, args))
        if not moved:
            return None
        ended = JobState(state.decode())
        JOBS.labels(state=ended.value).inc()
        return ended

    def overdue(self, *, now_ms: int, again_ms: int, limit: int = 100) -> list[str]:
        """Return jobs that nobody has looked after for a while, ended but not cleared ones too; each to one caller.

        again_ms: milliseconds after which the same job is named again, unless it is forgotten.
        """
        with store_errors():
            found = _SCRIPTS["jobs_overdue"](
                self._redis, [keys.open_jobs()], (now_ms, limit, again_ms)
            )
        return [each.decode() for each in cast("list[bytes]", found)]

    def open_jobs(self) -> list[str]:
        """Return the ids of all jobs that are looked after, oldest first."""
        with store_errors():
            found = cast("list[bytes]", self._redis.zrange(keys.open_jobs(), 0, -1))
        return [each.decode() for each in found]

    def forget(self, job_id: str) -> None:
        """Look no longer after a job: it has ended, and nothing of it is left anywhere."""
        with store_errors():
            self._redis.zrem(keys.open_jobs(), job_id)

    def result(self, job_id: str) -> bytes | None:
        """Return the encoded result."""
        with store_errors():
            return cast("bytes | None", self._redis.get(keys.job_result(job_id)))

    def keep_rest(self, spec: JobSpec, result: bytes) -> None:
        """Keep what an ended job left to be read, as long as its result would have been; the first one stays."""
        with store_errors():
            self._redis.set(keys.job_result(spec.id), result, px=spec.result_ttl_s * 1000, nx=True)

    def was_listed(self, owners: tuple[str, ...], job_id: str) -> bool:
        """Tell whether one of the owners ever had this job: an index outlives the jobs in it."""
        with store_errors():
            return self._score([keys.tenant_jobs(each) for each in owners], job_id) is not None

    def newest(
        self, owners: tuple[str, ...], *, before: str = "", limit: int = 50
    ) -> tuple[list[StoredJob], str]:
        """Return the jobs of some owners, newest first, and the cursor of the next page ('' at the end)."""
        indexes = [keys.tenant_jobs(each) for each in owners]
        with store_errors():
            at = self._score(indexes, before) if before else None
            rows = [row for each in indexes for row in self._rows(each, before, at, limit + 1)]
        ids = [each.decode() for _score, each in sorted(rows, reverse=True)]
        page = ids[:limit]
        jobs = [job for job_id in page if (job := self.get(job_id)) is not None]
        return jobs, page[-1] if len(ids) > limit else ""

    def _score(self, indexes: Sequence[str], job_id: str) -> float | None:
        scores = (self._redis.zscore(each, job_id) for each in indexes)
        return next((each for each in scores if each is not None), None)

    def _rows(
        self, index: str, before: str, at: float | None, most: int
    ) -> list[tuple[float, bytes]]:
        """Return what an index has behind a job of that score, newest first; of one moment by their ids, backwards."""
        if at is None:
            found = self._redis.zrevrange(index, 0, most - 1, withscores=True)
        else:
            together = self._redis.zcount(index, at, at)
            found = self._redis.zrevrangebyscore(
                index, at, "-inf", start=0, num=most + together, withscores=True
            )
        rows = [(score, name) for name, score in cast("list[tuple[bytes, float]]", found)]
        return [each for each in rows if at is None or each < (at, before.encode())][:most]


def _rows_of(event: JobEvent) -> list[str]:
    rows: list[str] = []
    for (state, each), after in TRANSITIONS.items():
        if each is event:
            rows += [state.value, after.value]
    return rows


def stored_of(row: dict[bytes, bytes]) -> StoredJob | None:
    """Return the job in a row of the store, None for an empty one."""
    if not row:
        return None
    return StoredJob(
        spec=_SPEC.decode(row[b"spec"]),
        state=JobState(row[b"state"].decode()),
        finished_at_ms=_number(row.get(b"finished_at_ms")),
        expires_at_ms=_number(row.get(b"expires_at_ms")),
        error_code=row.get(b"error_code", b"").decode(),
        error_message=row.get(b"error_message", b"").decode(),
    )


def _number(raw: bytes | None) -> int | None:
    return int(raw) if raw else None
