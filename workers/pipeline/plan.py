"""The plan step: the question becomes a plan, the plan a purse and one crawl step per call."""

from signal_search.contracts.job import JobEvent
from signal_search.contracts.plan import Plan
from signal_search.contracts.trace import Planned
from signal_search.errors import Postpone, Refused

from infra.job_store import StoredJob
from workers.pipeline.attempt import Leave, Next, Rest, Step
from workers.pipeline.crawl import ask_at_once
from workers.pipeline.ending import end_job
from workers.pipeline.kinds import strategy_of
from workers.pipeline.memory_call import step_of
from workers.pipeline.purses import open_purses
from workers.pipeline.rules import snapshot, to_log
from workers.pipeline.strategy import Strategy
from workers.toolbox import Toolbox


def plan(tools: Toolbox, step: Step) -> Next:
    """Work on `JOB/plan`. Idempotent: a plan that is in the log already is used as it is."""
    job_id, stored = step.job_id, step.job.stored
    if stored is None or stored.is_finished:
        return Leave()
    tools.store.transition(job_id, JobEvent.PLAN)
    strategy = strategy_of(stored.spec)
    try:
        strategy.check(tools, stored)
    except Refused as error:
        end_job(tools, stored, JobEvent.FAIL, error=error)
        return Leave()
    made = step.view().plan
    try:
        made = made or _make(tools, stored, strategy)
    except Postpone as later:  # the caller is asked; it rings when it answers
        tools.store.transition(job_id, JobEvent.DELEGATE)
        return Rest(max(1, later.until_ms - tools.clock.now_ms()))
    open_purses(tools, stored, made)
    # Before the calls, that ring it: until then it has nothing to look at.
    recheck_ms = int(tools.settings.queue.recheck_s * 1000)
    tools.steps.make(f"{job_id}/reduce", "reduce", wake_ms=recheck_ms)
    moved = tools.store.transition(job_id, JobEvent.CRAWL if made.calls else JobEvent.REDUCE)
    if strategy.asks_at_once and moved is not None:
        ask_at_once(tools, stored)
        return Leave()
    tools.start([step_of(job_id, each) for each in made.calls if each.round == 1])
    if (
        not made.calls or moved is None
    ):  # nobody else will, or it was tried before, or the job has ended
        tools.ring(f"{job_id}/reduce")
    return Leave()


def _make(tools: Toolbox, stored: StoredJob, strategy: Strategy) -> Plan:
    made = strategy.plan(tools, stored)
    rules = to_log(snapshot(tools.settings))
    entry = Planned(at_ms=tools.clock.now_ms(), key="planned", plan=made, rules=rules)
    tools.log.append(stored.spec.id, entry)
    return made
