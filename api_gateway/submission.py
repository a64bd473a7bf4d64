"""From requests to queued jobs, in an order that a crash at any point leaves whole; many at a time over a few trips.

Key, places, step, job, bell: each is idempotent by the job's id, so a caller that repeats a submission finishes the
one that died. A place without its job frees itself, a step without its job finds nothing to do, and a job without its
bell is rung by the reconciler. On one server places, step and job are made all or not at all.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import msgspec
from msgspec import Struct
from signal_search.contracts.budget import Amounts
from signal_search.contracts.job import AnyRequest, AnySpec, JobState
from signal_search.contracts.research import ScopeKey
from signal_search.errors import Busy, Conflict, Gone, Refused, SignalSearchError

from api_gateway.idempotency import Claim, Idempotency, Record, check_key
from api_gateway.owners import Reader
from api_gateway.places import Places
from api_gateway.quotas import Quotas
from api_gateway.specs import deadline_s, spec_of
from budget.slots import ADMITTED
from infra import ids
from infra.clock import Clock
from infra.job_store import CREATED, JobStore, StoredJob, creation, life_ms
from infra.logging import bound
from infra.script_chain import Chain
from infra.settings import Settings
from infra.steps import StepRules, make_call
from infra.tokens import Principal

_LOG = logging.getLogger(__name__)

_TASK = "plan"
Ring = Callable[[Sequence[tuple[str, str]]], object]  # tasks and their steps; it must not raise


class Caller(Struct, frozen=True, kw_only=True):
    """On whose behalf a job is made, under which request id and, if given, which Idempotency-Key.

    token, limits: the id of the token and what may be used with it in a day, where it has limits of its own.
    scopes, every_scope: the research memory that was granted to it. commands: as in `Reader`.
    """

    tenant: str
    request_id: str = ""
    idempotency_key: str | None = None
    token: str = ""
    limits: Amounts = {}
    scopes: tuple[ScopeKey, ...] = ()
    every_scope: bool = False
    commands: str = ""

    @property
    def reader(self) -> Reader:
        """Return who reads what this caller makes."""
        return Reader(
            tenant=self.tenant,
            scopes=self.scopes,
            every_scope=self.every_scope,
            commands=self.commands,
        )


def caller_of(principal: Principal, request_id: str, idempotency_key: str | None) -> Caller:
    """Return the caller that a principal is, for one submission."""
    return Caller(
        tenant=principal.tenant,
        request_id=request_id,
        idempotency_key=idempotency_key,
        token=principal.token if principal.limits else "",
        limits=principal.limits,
        scopes=principal.research,
        every_scope=principal.every_scope,
    )


Asked = tuple[AnyRequest, Caller]


@dataclass(frozen=True, kw_only=True)
class Tools:
    """What a submission is made with."""

    store: JobStore
    run: Callable[[Sequence[Chain]], list[list[object]]]
    idempotency: Idempotency
    quotas: Quotas
    places: Places
    ring: Ring
    clock: Clock


class Made(Struct, frozen=True, kw_only=True):
    """A job, and whether this submission made it."""

    job: StoredJob
    is_new: bool


@dataclass
class _Draft:
    """A submission on its way. `is_known`: its key stands for an earlier one; `outcome`: how it ended."""

    spec: AnySpec
    caller: Caller
    is_known: bool = False
    outcome: Made | SignalSearchError | None = None

    @property
    def key(self) -> str | None:
        return self.caller.idempotency_key


class Submissions:
    """Makes jobs. Raises StoreFailed when the store does not answer; nothing is then promised to the callers."""

    def __init__(self, settings: Settings, tools: Tools) -> None:
        """Make jobs by the limits of `settings`."""
        self._settings = settings
        self._tools = tools

    def submit(self, asked: Sequence[Asked]) -> list[Made | SignalSearchError]:
        """Make a job for each submission, all over the same few trips, or say what it is refused for.

        Conflict: `idempotency_conflict`. Gone: the key stands for a job that has expired. Invalid: the key is none.
        Busy: no place for one more unfinished job, or `quota_exceeded`.
        """
        drafts = [self._draft(each) for each in asked]
        self._claim(_open(drafts, keyed=True))
        self._recall([each for each in _open(drafts, keyed=True) if each.is_known])
        self._admit(_open(drafts))
        return [each.outcome for each in drafts if each.outcome is not None]

    def _draft(self, asked: Asked) -> _Draft:
        request, caller = asked
        now_ms = self._tools.clock.now_ms()
        spec = spec_of(
            request,
            id=ids.job_id(now_ms),
            tenant=caller.tenant,
            created_at_ms=now_ms,
            deadline_ms=now_ms + int(deadline_s(request, self._settings) * 1000),
            result_ttl_s=request.result_ttl_s or self._settings.jobs.result_ttl_s,
            request_id=caller.request_id,
            token=caller.token,
        )
        draft = _Draft(spec=spec, caller=caller)
        try:
            draft.spec = msgspec.structs.replace(spec, owner=caller.reader.owner_for(request))
            if draft.key is not None:
                check_key(draft.key)
        except Refused as error:
            draft.outcome = error
        return draft

    def _claim(self, drafts: list[_Draft]) -> None:
        if not drafts:
            return
        claims = [_claim_of(each) for each in drafts]
        for draft, meant in zip(drafts, self._tools.idempotency.claim(claims), strict=True):
            if isinstance(meant, Conflict):
                draft.outcome = meant
            elif meant.job_id != draft.spec.id:
                draft.is_known = True
                draft.spec = msgspec.structs.replace(draft.spec, id=meant.job_id)

    def _recall(self, drafts: list[_Draft]) -> None:
        """Find the jobs of earlier submissions; one that died half way has none and is made now."""
        for draft in drafts:
            known = self._tools.store.get(draft.spec.id)
            if known is not None:
                draft.outcome = Made(job=known, is_new=False)
            elif self._tools.store.was_listed((draft.spec.belongs_to,), draft.spec.id):
                draft.outcome = Gone()

    def _admit(self, drafts: list[_Draft]) -> None:
        for draft in drafts:
            draft.outcome = self._tools.quotas.refusal(draft.spec, draft.caller.limits)
        self._make(_open(drafts))
        for draft in drafts:
            if isinstance(draft.outcome, Busy) and draft.key is not None:
                self._tools.idempotency.forget(draft.spec.belongs_to, draft.key)

    def _make(self, drafts: list[_Draft]) -> None:
        """Make the jobs that there are places for, in one trip; when it is full, places of ended jobs are cleared."""
        full = self._make_some(drafts)
        if full and self._tools.places.clear(each.spec.tenant for each in full):
            self._make_some(full)
        made = [each.spec.id for each in drafts if not isinstance(each.outcome, Busy)]
        if made:
            self._tools.ring([(_TASK, f"{each}/{_TASK}") for each in made])

    def _make_some(self, drafts: list[_Draft]) -> list[_Draft]:
        """Return those that no place was free for."""
        if not drafts:
            return []
        replies = self._tools.run([self._chain(each.spec) for each in drafts])
        for draft, (place, *made) in zip(drafts, replies, strict=True):
            draft.outcome = self._tools.places.refusal(place)
            if draft.outcome is None:
                draft.outcome = self._made(draft.spec, is_new=made[1 + CREATED] == 1)
        return [each for each in drafts if isinstance(each.outcome, Busy)]

    def _chain(self, spec: AnySpec) -> Chain:
        """Take the place, make step, job and listing, and keep the place, in this order."""
        rules = step_rules(self._settings, ttl_ms=life_ms(spec))
        step = make_call(rules, f"{spec.id}/{_TASK}", _TASK)
        places = self._tools.places
        return Chain(ADMITTED, (places.take(spec), step, *creation(spec), places.keep(spec)))

    def _made(self, spec: AnySpec, *, is_new: bool) -> Made | Gone:
        if is_new:
            with bound(job_id=spec.id, request_id=spec.request_id):
                _LOG.info("job accepted")
            return Made(job=StoredJob(spec=spec, state=JobState.QUEUED), is_new=True)
        known = self._tools.store.get(spec.id)  # the same key came twice at the same time
        return Gone() if known is None else Made(job=known, is_new=False)


def _open(drafts: Iterable[_Draft], *, keyed: bool = False) -> list[_Draft]:
    return [each for each in drafts if each.outcome is None and (each.key is not None or not keyed)]


def _claim_of(draft: _Draft) -> Claim:
    spec = draft.spec
    record = Record(
        request=ids.digest(spec.kind, msgspec.json.encode(spec.request)), job_id=spec.id
    )
    return Claim(owner=spec.belongs_to, key=draft.key or "", record=record)


def step_rules(settings: Settings, *, ttl_ms: int) -> StepRules:
    """Return the rules of the step ledger for steps that live `ttl_ms`."""
    queue = settings.queue
    return StepRules(
        lease_ms=int(queue.lease_s * 1000),
        grace_ms=int(queue.grace_s * 1000),
        max_attempts=queue.max_attempts,
        ttl_ms=ttl_ms,
    )
