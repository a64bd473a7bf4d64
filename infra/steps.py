"""The ledger of job steps: what is due, who holds it, which attempt it is. A Celery message is only a bell.

A step is `due`, `claimed`, `idle` (it rests until it is rung or its wake time comes) or `dead` (too many attempts).
Ringing a claimed step makes it look again when it is done, so no news is lost and never two workers hold one step.
Every claim carries a fence; what a worker with an old fence says is answered `superseded` and changes nothing.

Beside the bells, which are rung again and again, the ledger knows since when each step waits for a worker: that is what
shows a role that nobody plays.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, cast

from msgspec import Struct
from redis import Redis

from infra import keys
from infra.redis import store_errors
from infra.scripts import Argument, Call, Command, load, run_together

_SCRIPTS = load(
    Path(__file__).with_name("lua"),
    "step_make",
    "step_ring",
    "step_claim",
    "step_done",
    "step_retry",
    "step_give_back",
    "step_renew",
    "steps_overdue",
    first="step",
)

Done = Literal["left", "resting", "again", "superseded"]
Standing = Literal["due", "stray", "gone"]


class StepRules(Struct, frozen=True, kw_only=True):
    """Times of the ledger in milliseconds, and how often a step may be tried."""

    lease_ms: int
    grace_ms: int
    max_attempts: int
    ttl_ms: int


def make_call(
    rules: StepRules, step_id: str, task: str, *, wake_ms: int = 0, now_ms: int = 0
) -> Call:
    """Return the call that creates a step by these rules (1: created, 0: it exists)."""
    shard = keys.step_shard(step_id)
    names = (keys.steps_due(shard), keys.step(shard, step_id))
    args = (step_id, task, now_ms, rules.grace_ms, rules.ttl_ms, wake_ms)
    return Call(_SCRIPTS["step_make"], names, args)


class StepClaim(Struct, frozen=True, kw_only=True):
    """The answer to a claim. Only `claimed` gives the right to act; `dead` tells to end the job.

    waited_ms: how long the step was due before this claim.
    """

    outcome: Literal["claimed", "held", "gone", "dead"]
    fence: int = 0
    attempt: int = 0
    rung: int = 0
    waited_ms: int = 0


def task_of(step_id: str) -> str:
    """Return the task of a step id, which is JOB/TASK or JOB/TASK/NAME."""
    return step_id.split("/", 2)[1]


class Steps:
    """Steps in Redis. A step id is `JOB/NAME`; its task is the name of the Celery task that works on it.

    Fails closed: raises StoreFailed when the store does not answer. `now_ms` 0 means "ask the store".
    """

    def __init__(self, redis: Redis, rules: StepRules) -> None:
        """Work on `redis`."""
        self._redis = redis
        self._rules = rules
        self._held: dict[str, StepClaim] = {}

    def make(self, step_id: str, task: str, *, wake_ms: int = 0, now_ms: int = 0) -> bool:
        """Create a step that is due now; its bell is rung again after the grace time. Idempotent.

        With `wake_ms` it rests instead, until it is rung or that time has passed.
        """
        call = make_call(self._rules, step_id, task, wake_ms=wake_ms, now_ms=now_ms)
        with store_errors():
            return call.run(self._redis) == 1

    def make_all(self, step_ids: Sequence[str]) -> None:
        """Create steps that are due now, in one trip. Idempotent."""
        calls = [make_call(self._rules, each, task_of(each)) for each in step_ids]
        with store_errors():
            run_together(self._redis, calls)

    def ring(self, step_id: str, *, now_ms: int = 0) -> str:
        """Say that a step has news. Return the task whose bell to send, or '' when none is needed."""
        answer = self._run("step_ring", step_id, (step_id, now_ms, self._rules.grace_ms))
        return cast("list[bytes]", answer)[1].decode()

    def claim(self, step_id: str, *, now_ms: int = 0) -> StepClaim:
        """Try to get the step for one lease."""
        return self.claim_and_read(step_id, (), now_ms=now_ms)[0]

    def claim_and_read(
        self, step_id: str, reads: Sequence[Command], *, now_ms: int = 0
    ) -> tuple[StepClaim, list[object]]:
        """Try to get the step for one lease; read something in the same trip, after it, and return the replies."""
        args = (step_id, now_ms, self._rules.lease_ms, self._rules.max_attempts)
        with store_errors():
            reply, *read = run_together(
                self._redis, [self._call("step_claim", step_id, args), *reads]
            )
        return self._claimed(step_id, reply), read

    def _claimed(self, step_id: str, reply: object) -> StepClaim:
        outcome, fence, attempt, rung, waited_ms = cast("tuple[bytes, int, int, int, int]", reply)
        claim = StepClaim(
            outcome=cast('Literal["claimed", "held", "gone", "dead"]', outcome.decode()),
            fence=fence,
            attempt=attempt,
            rung=rung,
            waited_ms=waited_ms,
        )
        if claim.outcome == "claimed":
            self._held[step_id] = claim
        return claim

    def rest(self, step_id: str, claim: StepClaim, *, wake_ms: int, now_ms: int = 0) -> Done:
        """End a claim; the step rests until it is rung or `wake_ms` have passed (0: until rung)."""
        return self._done(step_id, claim, wake_ms, now_ms)

    def leave(self, step_id: str, claim: StepClaim, *, now_ms: int = 0) -> Done:
        """End a claim and delete the step."""
        return self._done(step_id, claim, -1, now_ms)

    def retry(self, step_id: str, claim: StepClaim, *, wait_ms: int, now_ms: int = 0) -> bool:
        """Give the claim back to be tried again after `wait_ms`."""
        self._forget(step_id, claim)
        return self._run("step_retry", step_id, (step_id, claim.fence, now_ms, wait_ms)) == 1

    def give_back(self, *, now_ms: int = 0) -> list[str]:
        """Give every claim of this process back, for a worker that leaves; return the ids of the steps.

        They are due at once and their attempts uncounted; what is still said under the old claims changes nothing.
        """
        given = []
        for step_id, claim in list(self._held.items()):
            self._forget(step_id, claim)
            args = (step_id, claim.fence, now_ms, self._rules.grace_ms)
            if self._run("step_give_back", step_id, args) == 1:
                given.append(step_id)
        return given

    def renew(self, step_id: str, claim: StepClaim, *, now_ms: int = 0) -> bool:
        """Prolong the lease. False when another worker has the step now."""
        args = (step_id, claim.fence, now_ms, self._rules.lease_ms)
        return self._run("step_renew", step_id, args) == 1

    def drop(self, *step_ids: str) -> None:
        """Delete steps whatever their state."""
        with store_errors():
            trip = self._redis.pipeline(transaction=False)
            for step_id in step_ids:
                shard = keys.step_shard(step_id)
                trip.delete(keys.step(shard, step_id))
                trip.zrem(keys.steps_due(shard), step_id)
                trip.zrem(keys.steps_waiting(shard, task_of(step_id)), step_id)
            trip.execute()

    def standing(self, step_id: str) -> Standing:
        """Return whether the step is there, and whether the reconciler will ever ring it.

        `stray`: it is there, but no bell is due. So is a dead step whose job its last worker did not live to end.
        """
        shard = keys.step_shard(step_id)
        with store_errors():
            if not self._redis.exists(keys.step(shard, step_id)):
                return "gone"
            is_due = self._redis.zscore(keys.steps_due(shard), step_id) is not None
        return "due" if is_due else "stray"

    def overdue(self, *, limit: int = 100, now_ms: int = 0) -> list[tuple[str, str]]:
        """Return (step id, task) of up to `limit` steps per shard whose bell must be rung again."""
        found: list[tuple[str, str]] = []
        for shard in range(keys.STEP_SHARDS):
            found.extend(self._overdue_in(shard, limit, now_ms))
        return found

    def _overdue_in(self, shard: int, limit: int, now_ms: int) -> list[tuple[str, str]]:
        with store_errors():
            ids = cast(
                "list[bytes]",
                _SCRIPTS["steps_overdue"](
                    self._redis,
                    [keys.steps_due(shard)],
                    (now_ms, limit, self._rules.grace_ms * 2),
                ),
            )
            tasks = [
                (step_id.decode(), self._redis.hget(keys.step(shard, step_id.decode()), "task"))
                for step_id in ids
            ]
            gone = [step_id for step_id, task in tasks if task is None]
            for step_id in gone:
                self._redis.zrem(keys.steps_due(shard), step_id)
                self._redis.zrem(keys.steps_waiting(shard, task_of(step_id)), step_id)
        return [(step_id, cast("bytes", task).decode()) for step_id, task in tasks if task]

    def _done(self, step_id: str, claim: StepClaim, wake_ms: int, now_ms: int) -> Done:
        self._forget(step_id, claim)
        args = (step_id, claim.fence, claim.rung, now_ms, wake_ms, self._rules.grace_ms)
        return cast("Done", cast("bytes", self._run("step_done", step_id, args)).decode())

    def _forget(self, step_id: str, claim: StepClaim) -> None:
        if self._held.get(step_id) is claim:  # not a later claim by another thread
            del self._held[step_id]

    def _call(self, name: str, step_id: str, args: Sequence[Argument]) -> Call:
        shard = keys.step_shard(step_id)
        return Call(_SCRIPTS[name], (keys.steps_due(shard), keys.step(shard, step_id)), args)

    def _run(self, name: str, step_id: str, args: Sequence[Argument]) -> object:
        with store_errors():
            return self._call(name, step_id, args).run(self._redis)
