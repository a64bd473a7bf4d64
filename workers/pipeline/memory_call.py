"""The one call of a plan that leaves nothing: research memory is asked for the whole question, and not a source."""

from msgspec.structs import replace
from signal_search.contracts.budget import Budget
from signal_search.contracts.plan import ConstraintUse, Plan, PlannedCall
from signal_search.contracts.query import MEMORY_SOURCE, Constraints, RetrieveRequest

from workers.planning.planner import SHARED_QUESTION

_ID = f"all.{MEMORY_SOURCE}"


def with_memory(plan: Plan, request: RetrieveRequest) -> Plan:
    """Return a plan that asks the memory of the request's scope too, before all others; without a scope the same.

    The purse has one call more for it, unless the caller's own budget says how many there may be.
    """
    wanted = request.constraints
    if wanted.scope is None or MEMORY_SOURCE in wanted.source_prefs.block:
        return plan
    call = PlannedCall(id=_ID, source_id=MEMORY_SOURCE, question_id=SHARED_QUESTION, shared=True)
    is_given = isinstance(request.budget, Budget) and request.budget.calls is not None
    most = plan.limits["calls"] + (not is_given)
    return replace(
        plan,
        calls=(call, *plan.calls)[:most],
        limits={**plan.limits, "calls": most},
        constraint_use=(_use(wanted), *plan.constraint_use),
    )


def is_local_only(constraints: Constraints) -> bool:
    """Return whether research memory is all that may be asked: then nothing is sent anywhere, to no model either."""
    only = constraints.source_prefs.only
    return constraints.scope is not None and bool(only) and set(only) == {MEMORY_SOURCE}


def step_of(job_id: str, call: PlannedCall) -> str:
    """Return the id of the step that makes a call of a job."""
    task = "recall" if call.source_id == MEMORY_SOURCE else "crawl"
    return f"{job_id}/{task}/{call.id}"


def _use(wanted: Constraints) -> ConstraintUse:
    """Say what becomes of the constraints: memory has no domain; what has no date or language stays."""
    after = [each for each in ("language", "freshness") if getattr(wanted, each) is not None]
    lost = ("domain",) if wanted.domain is not None else ()
    return ConstraintUse(source_id=MEMORY_SOURCE, applied_after=tuple(after), not_honoured=lost)
