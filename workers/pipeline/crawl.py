"""The crawl step: one source is asked one question. Builds the requests and offers them; never fetches or waits."""

from collections.abc import Sequence

from signal_search.contracts.budget import Amounts, Dimension
from signal_search.contracts.plan import Plan
from signal_search.contracts.source import SkipReason
from signal_search.contracts.trace import CallStarted
from signal_search.errors import SignalSearchError

from budget.ledger import Short, Want
from infra.job_store import StoredJob
from workers.pipeline.attempt import Leave, Next, Step
from workers.pipeline.kinds import strategy_of
from workers.pipeline.offers import offer
from workers.pipeline.purses import levels_of
from workers.pipeline.refusal import refuse
from workers.pipeline.state import CallView, fold
from workers.pipeline.wanted import Wanted
from workers.toolbox import Toolbox

_HOLD_MS = 60_000


def crawl(tools: Toolbox, step: Step) -> Next:
    """Work on `JOB/crawl/CALL`."""
    job_id, _crawl, call_id = step.id.split("/", 2)
    stored = step.job.stored
    if stored is None or stored.is_finished:
        return Leave()
    view = step.view()
    call = view.calls.get(call_id)
    if view.plan is None or call is None or call.refused is not None:
        return Leave()
    _ask(tools, stored, view.plan, [call])
    tools.ring(f"{job_id}/reduce")
    return Leave()


def ask_at_once(tools: Toolbox, stored: StoredJob) -> None:
    """Ask all first calls of a planned job here and now, over the trips of one; for jobs that have no time for steps.

    Idempotent like the step. Whoever dies in between leaves calls that the reducer finds not asked.
    """
    view = fold(entry for _id, entry in tools.log.read(stored.spec.id))
    if view.plan is None:
        return
    calls = [each for each in view.active_calls() if not each.is_asked]
    _ask(tools, stored, view.plan, calls)
    tools.ring(f"{stored.spec.id}/reduce")


def _ask(tools: Toolbox, stored: StoredJob, plan: Plan, calls: Sequence[CallView]) -> None:
    begun = [each for call in calls if (each := _begun(tools, stored, plan, call)) is not None]
    if begun:
        tools.log.append(stored.spec.id, *(entry for entry, _wanted in begun))
    wanted = [each for _entry, asked in begun for each in asked]
    offer(tools, stored, wanted, deadline_ms=plan.deadline_ms)


def _begun(
    tools: Toolbox, stored: StoredJob, plan: Plan, call: CallView
) -> tuple[CallStarted, list[Wanted]] | None:
    """Return the entry of a call that is paid for and what it wants fetched; None when it was refused."""
    try:
        source = tools.registry.source(call.call.source_id)
    except SignalSearchError as error:
        refuse(tools, stored.spec.id, call.call.id, SkipReason.NOT_CONFIGURED, error.message)
        return None
    ask = strategy_of(stored.spec).ask(tools, plan, call.call, source, stored)
    requests = source.adapter.build(ask)
    searches = sum(each.kind == "api" for each in requests)
    if not _pay(tools, stored, call, {Dimension.CALLS: 1, Dimension.SEARCHES: searches}):
        return None
    wanted = [
        Wanted(fetch_id=f"{call.call.id}#{number}", request=request)
        for number, request in enumerate(requests, 1)
    ]
    entry = CallStarted(
        at_ms=tools.clock.now_ms(),
        key=f"{call.call.id}:started",
        call_id=call.call.id,
        source_id=call.call.source_id,
        fetches=tuple(each.fetch_id for each in wanted),
        searches=searches,
    )
    return entry, wanted


def _pay(tools: Toolbox, stored: StoredJob, call: CallView, cost: Amounts) -> bool:
    hold, levels = f"{stored.spec.id}|{call.call.id}", levels_of(tools, stored)
    want = Want(hold_id=hold, levels=levels, cost=cost, lease_ms=_HOLD_MS)
    spent = tools.ledger.spend(want)
    if isinstance(spent, Short):
        why = f"{spent.dimension} left: {spent.left}"
        refuse(tools, stored.spec.id, call.call.id, SkipReason.BUDGET, why)
        return False
    return True
