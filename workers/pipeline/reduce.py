"""The reduce step: fold the log, decide, carry the actions out. Everything around the two pure functions."""

from collections.abc import Mapping

import msgspec
from signal_search.contracts.document import Document
from signal_search.contracts.job import JobEvent, JobState
from signal_search.contracts.trace import Assessed, Expanded, Stopped
from signal_search.errors import Postpone, Refused

from infra.job_store import StoredJob
from infra.steps import task_of
from workers.pipeline.attempt import Leave, Next, Rest, Step
from workers.pipeline.decide import Decision
from workers.pipeline.ending import clear_job, end_job
from workers.pipeline.judging import ask_judge, awaits_answer
from workers.pipeline.kinds import strategy_of
from workers.pipeline.memory_call import step_of
from workers.pipeline.offers import offer
from workers.pipeline.rules import Rules, from_log
from workers.pipeline.source_board import post_outcomes
from workers.pipeline.state import JobView, fold
from workers.pipeline.wanted import Wanted
from workers.toolbox import Toolbox

_SHARE_OF_LEASE = (
    0.25  # of a step's, after which it asks for another one: a judge may be slow, many times
)


def reduce(tools: Toolbox, step: Step) -> Next:
    """Work on `JOB/reduce`."""
    job_id, stored = step.job_id, step.job.stored
    if stored is None:
        return Leave()
    if stored.is_finished:
        leave_rest(tools, stored)
        clear_job(tools, stored)  # whoever ended it may have died before
        return Leave()
    log, view = list(step.job.entries), step.view()
    if view.planned is None:
        return Rest(_ms(tools.settings.queue.recheck_s))
    tools.store.transition(job_id, JobEvent.REDUCE)
    rules = from_log(view.planned.rules)
    documents = _documents(tools, job_id, view, {})
    until_s = tools.clock.monotonic() + tools.settings.queue.lease_s * _SHARE_OF_LEASE
    while view.stopped is None and view.ended is None and tools.clock.monotonic() < until_s:
        has_news = _act(tools, stored, view, rules, documents)
        log += tools.log.read(job_id, after=log[-1][0])
        view = fold(entry for _id, entry in log)
        documents = _documents(tools, job_id, view, documents)
        if not has_news:
            break
    else:
        _ring_again(tools, step.id, view)
    if view.stopped is not None:
        return _publish(tools, stored, view, rules, documents)
    tools.store.transition(job_id, JobEvent.DELEGATE if awaits_answer(view) else JobEvent.CRAWL)
    return Rest(_wake_ms(tools, view))


def _ring_again(tools: Toolbox, step_id: str, view: JobView) -> None:
    """Have the step taken up again at once, with a fresh lease, when it has looked long enough and is not through."""
    if view.stopped is None and view.ended is None:
        tools.ring(step_id)


def leave_rest(tools: Toolbox, stored: StoredJob) -> None:
    """Keep what a cancelled job leaves to be read, unless it is kept already."""
    job_id = stored.spec.id
    if stored.state is not JobState.CANCELLED or tools.store.result(job_id) is not None:
        return
    view = fold(entry for _id, entry in tools.log.read(job_id))
    if view.planned is None:
        return
    documents = _documents(tools, job_id, view, {})
    rules = from_log(view.planned.rules)
    rest = strategy_of(stored.spec).rest(tools, view, documents, rules)
    if rest is not None:
        tools.store.keep_rest(stored.spec, msgspec.json.encode(rest))


def _documents(
    tools: Toolbox, job_id: str, view: JobView, known: Mapping[str, Document]
) -> dict[str, Document]:
    """Return all documents of a job; those that are known already are not read again."""
    ids = [doc_id for each in view.fetches() if each.finished for doc_id in each.finished.documents]
    missing = [doc_id for doc_id in dict.fromkeys(ids) if doc_id not in known]
    return {**known, **tools.log.documents(job_id, missing)}


def _act(
    tools: Toolbox,
    stored: StoredJob,
    view: JobView,
    rules: Rules,
    documents: Mapping[str, Document],
) -> bool:
    """Carry out what is decided; True when the log says more than before that was not yet looked at."""
    plan, spec = view.require()
    now_ms = tools.clock.now_ms()
    strategy = strategy_of(spec)
    decision = strategy.decide(view, documents, rules, now_ms=now_ms)
    seen = _assessed(view, decision, len(documents), now_ms)
    if decision.stop is not None:
        ids = strategy.evidence(view, documents, decision)
        stopped = Stopped(at_ms=now_ms, key="stopped", stop=decision.stop, evidence=ids)
        tools.log.append(spec.id, *seen, stopped)
        return False
    tools.log.append(spec.id, *seen)
    wanted = (*decision.fetches, *_overdue(tools, view))
    has_news = offer(tools, stored, wanted, deadline_ms=plan.deadline_ms)
    _ensure_asked(tools, view)
    if decision.calls:
        _open_round(tools, spec.id, decision)
    if decision.judge is not None:
        return ask_judge(tools, stored, view, decision.judge) or has_news
    return has_news


def _assessed(
    view: JobView, decision: Decision, documents: int, now_ms: int
) -> tuple[Assessed, ...]:
    """Return what is to be written down of what the stop rule saw, once per number of arrivals."""
    evidence = decision.evidence
    if not evidence.arrivals:
        return ()
    plan, _spec = view.require()
    verdict = decision.stop.reason if decision.stop else "continue"
    entry = Assessed(
        at_ms=now_ms,
        key=f"assessed:{len(evidence.arrivals)}:{verdict}",
        round=view.round,
        documents=documents,
        coverage=decision.assessment.coverage,
        saturation=decision.assessment.saturation,
        tokens=plan.limits.get("tokens", 0) - evidence.left.get("tokens", 0),
        verdict=str(verdict),
    )
    return (entry,)


def _overdue(tools: Toolbox, view: JobView) -> list[Wanted]:
    """Return the fetches that have been open for a while: offering again finds a reply that was not told."""
    before_ms = tools.clock.now_ms() - _ms(tools.settings.queue.recheck_s)
    return [
        Wanted(
            fetch_id=each.fetch_id,
            request=each.queued.request,
            relevance=each.queued.relevance,
            is_owner=each.queued.disposition == "queued",
        )
        for each in view.open_fetches()
        if each.queued is not None and each.queued.at_ms <= before_ms
    ]


def _ensure_asked(tools: Toolbox, view: JobView) -> None:
    """Make the steps of calls that are not asked, or not to the end: who opened their round may have died before.

    A step that has just done its work is made again by a reducer with an older view; it finds nothing left to do.
    """
    _plan, spec = view.require()
    for each in view.active_calls():
        if not each.is_asked:
            step_id = step_of(spec.id, each.call)
            tools.ensure(step_id, task_of(step_id))


def _open_round(tools: Toolbox, job_id: str, decision: Decision) -> None:
    number = decision.calls[0].round
    entry = Expanded(
        at_ms=tools.clock.now_ms(),
        key=f"round:{number}",
        round=number,
        calls=decision.calls,
        why=decision.why,
    )
    tools.log.append(job_id, entry)
    tools.start([step_of(job_id, each) for each in decision.calls])


def _publish(
    tools: Toolbox,
    stored: StoredJob,
    view: JobView,
    rules: Rules,
    documents: Mapping[str, Document],
) -> Next:
    """End the job with its result; rest instead while the caller may still answer something that it depends on."""
    strategy = strategy_of(stored.spec)
    try:
        if strategy.prepare(tools, view, documents, rules):
            view = fold(entry for _id, entry in tools.log.read(stored.spec.id))
    except Postpone as later:
        tools.store.transition(stored.spec.id, JobEvent.DELEGATE)
        return Rest(max(1, later.until_ms - tools.clock.now_ms()))
    if view.stopped is None:
        return Leave()
    try:
        result = strategy.publish(view, documents, rules)
    except Refused as error:
        end_job(tools, stored, JobEvent.FAIL, error=error)
        return Leave()
    stop = result.stop or view.stopped.stop
    end_job(tools, stored, strategy.event(stop), result=result)
    post_outcomes(tools, result.source_outcomes)
    return Leave()


def _wake_ms(tools: Toolbox, view: JobView) -> int:
    """Return when to look again by itself: while something is open soon, at the deadline in any case."""
    plan, _spec = view.require()
    left_ms = max(1, plan.deadline_ms - tools.clock.now_ms())
    return min(left_ms, _ms(tools.settings.queue.recheck_s))


def _ms(seconds: float) -> int:
    return int(seconds * 1000)
