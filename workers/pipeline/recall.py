"""The recall step: research memory is asked, on this machine, and what it has becomes documents of the job.

Everything is written down at once: whoever dies before has found nothing, and whoever comes after finds it again.
Whatever goes wrong is the trouble of one source; what the others found is not lost with it.
"""

from msgspec import Struct
from signal_search.contracts.budget import Dimension
from signal_search.contracts.query import MEMORY_SOURCE, Constraints
from signal_search.contracts.research import ResearchQuery, RouterResult
from signal_search.contracts.source import FetchOutcome, FetchState, Parsed, Request, SkipReason
from signal_search.contracts.trace import CallStarted, FetchQueued, Recalled
from signal_search.errors import SignalSearchError

from budget.ledger import Short, Want
from infra.job_store import StoredJob
from workers.fetching.parsing import redact_parsed
from workers.memory.admission import TOOL_ERRORS
from workers.memory.documents import ADDRESS, documents_of
from workers.pipeline.attempt import Leave, Next, Step
from workers.pipeline.delivery import Told, reserve_of, write_down
from workers.pipeline.memory_call import is_local_only
from workers.pipeline.purses import levels_of
from workers.pipeline.refusal import refuse
from workers.pipeline.state import retrieve_request
from workers.research import Desk
from workers.toolbox import Toolbox

_PLACE = "local"  # where such a request waits, and how it was taken: nowhere, and at once
_GRACE_MS = 60_000
_DOCUMENTS = 5  # reserved for; the settlement refunds what is too much


def recall(tools: Toolbox, step: Step) -> Next:
    """Work on `JOB/recall/CALL`."""
    job_id, _recall, call_id = step.id.split("/", 2)
    stored = step.job.stored
    if stored is None or stored.is_finished:
        return Leave()
    view = step.view()
    call = view.calls.get(call_id)
    if view.plan is None or call is None or call.is_asked:
        return Leave()
    _ask(tools, stored, call_id, view.plan.query, view.plan.deadline_ms)
    tools.ring(f"{job_id}/reduce")
    return Leave()


class _Answer(Struct, frozen=True):
    """What memory said; error: the code of why it could not be asked."""

    found: RouterResult | None = None
    error: str = ""


def _ask(tools: Toolbox, stored: StoredJob, call_id: str, query: str, deadline_ms: int) -> None:
    fetch_id = f"{call_id}#1"
    short = _pay(tools, stored, fetch_id, deadline_ms)
    if short is not None:
        why = f"{short.dimension} left: {short.left}"
        refuse(tools, stored.spec.id, call_id, SkipReason.BUDGET, why)
        return
    constraints = retrieve_request(stored.spec).constraints
    answer = _answer(tools, constraints, query)
    told = Told(fetch_id, _outcome(answer, tools.clock.now_ms()), paid=False)
    before = _entries(tools.clock.now_ms(), call_id, fetch_id, answer)
    write_down(tools, stored.spec, [told], before=before)


def _pay(tools: Toolbox, stored: StoredJob, fetch_id: str, deadline_ms: int) -> Short | None:
    """Reserve the passages that may be quoted, and pay for the call; return what is too little, if anything is."""
    levels = levels_of(tools, stored)
    lease_ms = max(0, deadline_ms - tools.clock.now_ms()) + _GRACE_MS
    most = reserve_of(_DOCUMENTS, tools.settings.planning.passage_tokens)
    passages = f"{stored.spec.id}|{fetch_id}"
    reserved = tools.ledger.reserve(passages, levels, {Dimension.TOKENS: most}, lease_ms=lease_ms)
    if isinstance(reserved, Short):
        return reserved
    call = f"{stored.spec.id}|{fetch_id.partition('#')[0]}"
    want = Want(hold_id=call, levels=levels, cost={Dimension.CALLS: 1}, lease_ms=_GRACE_MS)
    spent = tools.ledger.spend(want)
    if isinstance(spent, Short):
        tools.ledger.release(passages)
        return spent
    return None


def _answer(tools: Toolbox, constraints: Constraints, query: str) -> _Answer:
    if constraints.scope is None:
        return _Answer(error="scope_mismatch")
    desk = Desk(tools.settings, tools.clock)
    try:
        asked = ResearchQuery(query=query, scope=constraints.scope)
        return _Answer(desk.answer(asked, offline=is_local_only(constraints)))
    except SignalSearchError as error:
        return _Answer(error=error.code)
    except TOOL_ERRORS:
        return _Answer(error="tool_error")


def _outcome(answer: _Answer, now_ms: int) -> FetchOutcome:
    """Return what came of it as of any other request; as there, personal data is taken out of what is kept."""
    if answer.found is None:
        return FetchOutcome(state=FetchState.MISSED, url=ADDRESS, reason=answer.error)
    documents = documents_of(answer.found.evidence, now_ms)
    parsed = redact_parsed(Parsed(documents=documents, total=len(documents)))
    return FetchOutcome(state=FetchState.FETCHED, url=ADDRESS, fetched_at_ms=now_ms, parsed=parsed)


def _entries(
    at_ms: int, call_id: str, fetch_id: str, answer: _Answer
) -> tuple[CallStarted, FetchQueued, Recalled]:
    found = answer.found
    request = Request(url=ADDRESS, adapter=MEMORY_SOURCE, source_id=MEMORY_SOURCE, kind="api")
    return (
        CallStarted(
            at_ms=at_ms,
            key=f"{call_id}:started",
            call_id=call_id,
            source_id=MEMORY_SOURCE,
            fetches=(fetch_id,),
        ),
        FetchQueued(
            at_ms=at_ms,
            key=f"{fetch_id}:queued",
            fetch_id=fetch_id,
            call_id=call_id,
            request=request,
            uid=fetch_id,
            host=_PLACE,
            disposition=_PLACE,
        ),
        Recalled(at_ms=at_ms, key=f"{call_id}:recalled", call_id=call_id, error=answer.error)
        if found is None
        else Recalled(
            at_ms=at_ms,
            key=f"{call_id}:recalled",
            call_id=call_id,
            partial=found.partial,
            traces=found.traces,
            rejections=found.rejections,
            degradations=found.degradations,
            scope_leak_count=found.scope_leak_count,
        ),
    )
