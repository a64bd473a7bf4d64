"""From a request to a queued job, in an order that a crash at any point leaves whole.

Key, places, step, job, bell: each is idempotent by the job's id, so a caller that repeats a submission finishes the
one that died. A step without its job finds nothing to do; a job without its bell is rung by the reconciler.
"""

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import get_args

import msgspec
from msgspec import Struct
from signal_search.contracts.job import JobSpec
from signal_search.contracts.query import RetrieveRequest
from signal_search.errors import Busy, Gone

from api_gateway.enqueue import Bell
from api_gateway.idempotency import Idempotency, Record
from api_gateway.places import Places
from infra import ids
from infra.clock import Clock
from infra.job_store import JobStore, StoredJob, life_ms
from infra.logging import bound
from infra.settings import Settings, TierName
from infra.steps import StepRules, Steps

KIND = "retrieve"

_LOG = logging.getLogger(__name__)

_PREFIX = re.compile(r"^\s*/signal\s+(L[0-3])\s+(?=\S)", re.IGNORECASE)
_DEPTHS: dict[str, TierName] = {"quick": "L1", "standard": "L2", "deep": "L3"}
_TIERS: dict[str, TierName] = {each: each for each in get_args(TierName)}
_UNKNOWN_TIER: TierName = "L3"  # the planner chooses a lower one and ends earlier

MakeSteps = Callable[[StepRules], Steps]


class Caller(Struct, frozen=True, kw_only=True):
    """On whose behalf a job is made, under which request id and, if given, which Idempotency-Key."""

    tenant: str
    request_id: str = ""
    idempotency_key: str | None = None


@dataclass(frozen=True, kw_only=True)
class Tools:
    """What a submission is made with."""

    store: JobStore
    make_steps: MakeSteps
    idempotency: Idempotency
    places: Places
    bell: Bell
    clock: Clock


class Submissions:
    """Makes jobs. Raises StoreFailed when the store does not answer; nothing is then promised to the caller."""

    def __init__(self, settings: Settings, tools: Tools) -> None:
        """Make jobs by the limits of `settings`."""
        self._settings = settings
        self._tools = tools

    def submit(self, request: RetrieveRequest, caller: Caller) -> tuple[StoredJob, bool]:
        """Return the job and whether this call made it.

        Raises:
            Conflict: `idempotency_conflict`.
            Gone: the key stands for a job that has expired.
            Busy: no place for one more unfinished job.
        """
        job_id = self._claim(request, caller)
        known = self._tools.store.get(job_id)
        if known is not None:
            return known, False
        if caller.idempotency_key and self._tools.store.was_listed(caller.tenant, job_id):
            raise Gone
        return self._make(self._spec(job_id, request, caller), caller)

    def _claim(self, request: RetrieveRequest, caller: Caller) -> str:
        job_id = ids.job_id(self._tools.clock.now_ms())
        if caller.idempotency_key is None:
            return job_id
        record = Record(request=ids.digest(KIND, msgspec.json.encode(request)), job_id=job_id)
        return self._tools.idempotency.claim(caller.tenant, caller.idempotency_key, record)

    def _make(self, spec: JobSpec, caller: Caller) -> tuple[StoredJob, bool]:
        self._admit(spec, caller)
        step_id = f"{spec.id}/plan"
        rules = step_rules(self._settings, ttl_ms=life_ms(spec))
        self._tools.make_steps(rules).make(step_id, "plan")
        created = self._tools.store.create(spec)
        self._tools.bell.ring("plan", step_id)
        stored = self._tools.store.get(spec.id)
        if stored is None:  # it cannot have expired yet
            raise Gone
        with bound(job_id=spec.id, request_id=spec.request_id):
            _LOG.info("job accepted")
        return stored, created

    def _admit(self, spec: JobSpec, caller: Caller) -> None:
        try:
            self._tools.places.take(spec)
        except Busy:
            if caller.idempotency_key is not None:
                self._tools.idempotency.forget(caller.tenant, caller.idempotency_key)
            raise

    def _spec(self, job_id: str, request: RetrieveRequest, caller: Caller) -> JobSpec:
        now_ms = self._tools.clock.now_ms()
        return JobSpec(
            id=job_id,
            kind=KIND,
            tenant=caller.tenant,
            request=request,
            created_at_ms=now_ms,
            deadline_ms=now_ms + int(self._deadline_s(request) * 1000),
            result_ttl_s=request.result_ttl_s or self._settings.jobs.result_ttl_s,
            request_id=caller.request_id,
        )

    def _deadline_s(self, request: RetrieveRequest) -> float:
        asked = request.constraints.deadline_s
        return asked if asked is not None else self._settings.jobs.deadline_s[tier_of(request)]


def step_rules(settings: Settings, *, ttl_ms: int) -> StepRules:
    """Return the rules of the step ledger for steps that live `ttl_ms`."""
    queue = settings.queue
    return StepRules(
        lease_ms=int(queue.lease_s * 1000),
        grace_ms=int(queue.grace_s * 1000),
        max_attempts=queue.max_attempts,
        ttl_ms=ttl_ms,
    )


def tier_of(request: RetrieveRequest) -> TierName:
    """Return the tier the caller ordered (prefix, then depth, then required_tier), L2 when the planner decides."""
    prefix = _PREFIX.match(request.query)
    if prefix is not None:
        return _TIERS[prefix[1].upper()]
    if request.depth is not None:
        return _DEPTHS[request.depth]
    return _TIERS.get(request.constraints.required_tier or "", _UNKNOWN_TIER)
