"""The crawl step: one source is asked one question. Builds the requests and offers them; never fetches or waits."""

from signal_search.contracts.budget import Amounts, Dimension
from signal_search.contracts.plan import Plan
from signal_search.contracts.source import SkipReason
from signal_search.contracts.trace import CallStarted
from signal_search.errors import SignalSearchError

from budget.ledger import Short
from infra.job_store import StoredJob
from workers.pipeline.attempt import Leave, Next
from workers.pipeline.kinds import strategy_of
from workers.pipeline.offers import offer
from workers.pipeline.purses import levels_of
from workers.pipeline.refusal import refuse
from workers.pipeline.state import CallView, fold
from workers.pipeline.wanted import Wanted
from workers.toolbox import Toolbox

_HOLD_MS = 60_000


def crawl(tools: Toolbox, step_id: str) -> Next:
    """Work on `JOB/crawl/CALL`."""
    job_id, _crawl, call_id = step_id.split("/", 2)
    stored = tools.store.get(job_id)
    if stored is None or stored.is_finished:
        return Leave()
    view = fold(entry for _id, entry in tools.log.read(job_id))
    call = view.calls.get(call_id)
    if view.plan is None or call is None or call.refused is not None:
        return Leave()
    _ask(tools, stored, view.plan, call)
    tools.ring(f"{job_id}/reduce")
    return Leave()


def _ask(tools: Toolbox, stored: StoredJob, plan: Plan, call: CallView) -> None:
    try:
        source = tools.registry.source(call.call.source_id)
    except SignalSearchError as error:
        refuse(tools, stored.spec.id, call.call.id, SkipReason.NOT_CONFIGURED, error.message)
        return
    ask = strategy_of(stored.spec).ask(tools, plan, call.call, source, stored)
    requests = source.adapter.build(ask)
    searches = sum(each.kind == "api" for each in requests)
    if not _pay(tools, stored, call, {Dimension.CALLS: 1, Dimension.SEARCHES: searches}):
        return
    wanted = [
        Wanted(fetch_id=f"{call.call.id}#{number}", request=request)
        for number, request in enumerate(requests, 1)
    ]
    tools.log.append(
        stored.spec.id,
        CallStarted(
            at_ms=tools.clock.now_ms(),
            key=f"{call.call.id}:started",
            call_id=call.call.id,
            source_id=call.call.source_id,
            fetches=tuple(each.fetch_id for each in wanted),
            searches=searches,
        ),
    )
    offer(tools, stored, wanted, deadline_ms=plan.deadline_ms)


def _pay(tools: Toolbox, stored: StoredJob, call: CallView, cost: Amounts) -> bool:
    hold = f"{stored.spec.id}|{call.call.id}"
    levels = levels_of(tools, stored)
    reserved = tools.ledger.reserve(hold, levels, cost, lease_ms=_HOLD_MS)
    if isinstance(reserved, Short):
        why = f"{reserved.dimension} left: {reserved.left}"
        refuse(tools, stored.spec.id, call.call.id, SkipReason.BUDGET, why)
        return False
    tools.ledger.settle(hold, cost)
    return True
