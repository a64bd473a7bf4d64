"""The plan step: the question becomes a plan, the plan a purse and one crawl step per call."""

import msgspec
from signal_search.contracts.job import JobEvent
from signal_search.contracts.plan import Plan
from signal_search.contracts.trace import Planned
from signal_search.errors import Invalid

from infra.job_store import StoredJob
from workers.pipeline.attempt import Leave, Next
from workers.pipeline.ending import end_job
from workers.pipeline.purses import open_purses
from workers.pipeline.rules import snapshot, to_log
from workers.pipeline.state import fold
from workers.planning.planner import make_plan
from workers.toolbox import Toolbox


def plan(tools: Toolbox, step_id: str) -> Next:
    """Work on `JOB/plan`. Idempotent: a plan that is in the log already is used as it is."""
    job_id = step_id.split("/", 1)[0]
    stored = tools.store.get(job_id)
    if stored is None or stored.is_finished:
        return Leave()
    tools.store.transition(job_id, JobEvent.PLAN)
    try:
        _refuse_unknown(tools, stored)
    except Invalid as error:
        end_job(tools, job_id, JobEvent.FAIL, error=error)
        return Leave()
    made = fold(entry for _id, entry in tools.log.read(job_id)).plan or _make(tools, stored)
    open_purses(tools, stored, made)
    # Before the calls, that ring it: until then it has nothing to look at.
    recheck_ms = int(tools.settings.queue.recheck_s * 1000)
    tools.steps.make(f"{job_id}/reduce", "reduce", wake_ms=recheck_ms)
    moved = tools.store.transition(job_id, JobEvent.CRAWL if made.calls else JobEvent.REDUCE)
    for call in made.calls:
        if call.round == 1:
            tools.start(f"{job_id}/crawl/{call.id}", "crawl")
    if (
        not made.calls or moved is None
    ):  # nobody else will, or it was tried before, or the job has ended
        tools.ring(f"{job_id}/reduce")
    return Leave()


def _refuse_unknown(tools: Toolbox, stored: StoredJob) -> None:
    """Refuse a named source that does not exist here; a bare domain is a site, which the planner sees to.

    One that only lacks its key or address does exist: its call will say `not_configured`, the others are asked.
    """
    for name in stored.spec.request.constraints.source_prefs.only:
        if (":" in name or "." not in name) and not tools.registry.lacks_setup(name):
            tools.registry.source(name)


def _make(tools: Toolbox, stored: StoredJob) -> Plan:
    settings = tools.settings
    request = stored.spec.request
    draft = make_plan(
        request,
        sources=tools.registry.views(),
        tiers=settings.tiers,
        shared=tools.registry.is_shared,
        clarify_below=settings.planning.clarify_below,
    )
    made = msgspec.structs.replace(draft, deadline_ms=_deadline(tools, stored, draft))
    entry = Planned(
        at_ms=tools.clock.now_ms(), key="planned", plan=made, rules=to_log(snapshot(settings))
    )
    tools.log.append(stored.spec.id, entry)
    return made


def _deadline(tools: Toolbox, stored: StoredJob, draft: Plan) -> int:
    spec = stored.spec
    if spec.request.constraints.deadline_s is not None:
        return spec.deadline_ms
    seconds = tools.settings.jobs.deadline_s[draft.tier.value]
    return min(spec.deadline_ms, spec.created_at_ms + int(seconds * 1000))
