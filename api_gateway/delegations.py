"""What a job asks of its caller, shown to the caller and answered by it: once, in time, by the question's schema.

Synchronous, and the same for HTTP and for a client next to Redis. An answer and the end of its time are one entry of
the log under one key, so that exactly one of them stands. The step that waits is rung; should the bell be lost, it
looks by itself at the deadline.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import jsonschema_rs
import msgspec
from signal_search.contracts.delegation import (
    ANSWERS,
    Delegation,
    DelegationReply,
    DelegationState,
)
from signal_search.contracts.trace import (
    Delegated,
    DelegationAnswered,
    DelegationLapsed,
    LogEntry,
    Planned,
)
from signal_search.errors import Conflict, Invalid, NotFound

from api_gateway.owners import Reader
from api_gateway.submission import Ring, step_rules
from infra.clock import Clock
from infra.job_log import JobLog
from infra.job_store import StoredJob
from infra.settings import Settings
from infra.steps import Steps

if TYPE_CHECKING:
    from redis import Redis

Owned = Callable[[str, Reader], StoredJob]
"""Return a reader's job, or raise as `Desk.job`."""

End = DelegationAnswered | DelegationLapsed


class Delegations:
    """The questions of jobs, for those who may read them."""

    def __init__(
        self, redis: "Redis", settings: Settings, clock: Clock, ring: Ring, owned: Owned
    ) -> None:
        """Work on `redis`; `owned` finds a reader's job, `ring` reaches the workers."""
        self._log = JobLog(redis)
        self._steps = Steps(redis, step_rules(settings, ttl_ms=0))  # only rings
        self._clock = clock
        self._ring = ring
        self._owned = owned

    def listed(self, job_id: str, reader: Reader) -> tuple[DelegationState, ...]:
        """Return what a job asked so far, in order, and what became of it; raises as `Desk.job`."""
        self._owned(job_id, reader)
        return tuple(_states(self._entries(job_id)).values())

    def answer(
        self, job_id: str, reader: Reader, delegation_id: str, reply: DelegationReply
    ) -> DelegationState:
        """Take an answer, or that there is none; return what became of the question. Raises as `Desk.job`, and more.

        The same answer again is accepted again: a caller that did not hear of the first may repeat it.

        Raises:
            NotFound: `delegation_not_found`: the job asks nothing of that name.
            Invalid: the answer is not by the schema; `field` says where.
            Conflict: `delegation_late`: its time is over, or the job has ended; `delegation_answered`: it has another
                answer already.
        """
        stored = self._owned(job_id, reader)
        entries = self._entries(job_id)
        state = _states(entries).get(delegation_id)
        if state is None:
            raise NotFound("The job asks nothing of that name.", code="delegation_not_found")
        end = self._end_of(state.delegation, reply)
        if state.state == "open":
            if stored.is_finished or state.delegation.deadline_ms <= self._clock.now_ms():
                raise _late()
            self._log.append(job_id, end)
            entries = self._entries(job_id)
            state = _states(entries)[delegation_id]
            self._wake(job_id, entries)
        return _accepted(state, end)

    def _entries(self, job_id: str) -> list[LogEntry]:
        return [entry for _id, entry in self._log.read(job_id)]

    def _end_of(self, asked: Delegation, reply: DelegationReply) -> End:
        now_ms, key = self._clock.now_ms(), f"{asked.id}:closed"
        if reply.decline:
            if reply.answer is not None:
                raise Invalid("Give an answer or decline, not both.", field="decline")
            return DelegationLapsed(
                at_ms=now_ms, key=key, delegation_id=asked.id, kind=asked.kind, reason="declined"
            )
        return DelegationAnswered(
            at_ms=now_ms,
            key=key,
            delegation_id=asked.id,
            kind=asked.kind,
            answer=checked_answer(asked, reply.answer),
            tokens=reply.tokens,
        )

    def _wake(self, job_id: str, entries: list[LogEntry]) -> None:
        is_planned = any(isinstance(each, Planned) for each in entries)
        step_id = f"{job_id}/{'reduce' if is_planned else 'plan'}"
        task = self._steps.ring(step_id)
        if task:
            self._ring([(task, step_id)])


def checked_answer(asked: Delegation, answer: dict[str, object] | None) -> dict[str, object]:
    """Return an answer that is by the question's schema, as plain data.

    Raises:
        Invalid: it is not; `field` is the dotted path of the first fault, and no message repeats what stood there.
    """
    if answer is None:
        raise Invalid("An answer is required, or decline.", field="answer")
    validator = jsonschema_rs.validator_for(dict(asked.answer_schema))
    fault = next(iter(validator.iter_errors(answer)), None)
    if fault is not None:
        raise Invalid("This is not by the question's schema.", field=_field(fault.instance_path))
    try:
        # Once more by the type: a schema takes 1.0 for a whole number.
        typed = msgspec.convert(answer, ANSWERS[asked.kind])
    except msgspec.ValidationError:
        raise Invalid("This is not by the question's schema.", field="answer") from None
    return msgspec.json.decode(msgspec.json.encode(typed), type=dict[str, object])


def _field(path: list[str | int]) -> str:
    """Return where a fault lies. Names on the way are the schema's own: it lets no others pass."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "answer" + "".join(steps)


def _states(entries: list[LogEntry]) -> dict[str, DelegationState]:
    found: dict[str, DelegationState] = {}
    for entry in entries:
        if isinstance(entry, Delegated):
            asked = entry.delegation
            state = DelegationState(delegation=asked, state="open", asked_at_ms=entry.at_ms)
            found.setdefault(asked.id, state)
        elif isinstance(entry, DelegationAnswered | DelegationLapsed):
            known = found.get(entry.delegation_id)
            if known is not None and known.state == "open":
                found[entry.delegation_id] = _ended(known, entry)
    return found


def _ended(state: DelegationState, end: End) -> DelegationState:
    if isinstance(end, DelegationAnswered):
        return msgspec.structs.replace(
            state, state="answered", answer=end.answer, tokens=end.tokens
        )
    return msgspec.structs.replace(
        state, state="declined" if end.reason == "declined" else "lapsed"
    )


def _accepted(state: DelegationState, end: End) -> DelegationState:
    """Return the state if it is what this answer made of it."""
    wanted = _ended(state, end)
    if state == wanted:
        return state
    if state.state in {"open", "lapsed"}:  # open: the job ended before it was written
        raise _late()
    raise Conflict("There is an answer already.", code="delegation_answered")


def _late() -> Conflict:
    return Conflict("The job goes on without this answer.", code="delegation_late")
