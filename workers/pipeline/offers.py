"""From a request that a job wants made to a place in the frontier: paid for first, refused honestly."""

from typing import Literal

from msgspec.structs import replace
from signal_search.contracts.budget import Amounts, Dimension
from signal_search.contracts.source import FetchOutcome, FetchState, Request, SkipReason
from signal_search.contracts.trace import FetchQueued
from signal_search.errors import AddressRefused

from budget.frontier import Offer, Placed
from budget.ledger import Short
from budget.policy import next_day_ms
from infra.clock import iso
from infra.job_store import StoredJob
from workers.fetching.cache import fingerprint, host_key, is_shareable
from workers.fetching.stored_reply import StoredReply, is_served_on_failure, stale
from workers.pipeline.delivery import deliver, reserve_of, unpack_outcome, unpack_reply
from workers.pipeline.encoding import encode_request
from workers.pipeline.purses import levels_of, open_source
from workers.pipeline.state import call_of
from workers.pipeline.wanted import Wanted
from workers.toolbox import Toolbox

# How many documents a reply of a kind may bring, for the reservation; the settlement refunds what is too much.
_EXPECTED_DOCUMENTS = {"page": 1, "api": 5, "feed": 5, "sitemap": 0}
_HOLD_GRACE_MS = 60_000

_REFUSALS = {
    "full": (SkipReason.QUEUE_FULL, "the queue of this host or job is full"),
    "late": (SkipReason.DEADLINE, "its turn would come after the job's deadline"),
    "suspended": (SkipReason.SUSPENDED, "this host asked to be left alone"),
}


def offer(tools: Toolbox, stored: StoredJob, wanted: Wanted, *, deadline_ms: int) -> None:
    """Reserve, offer, and log what came of it. Idempotent by the fetch id; offering again re-checks an open fetch."""
    job_id = stored.spec.id
    if wanted.was_offered:
        _note(tools, job_id, wanted)
        return
    may = _pay(tools, stored, wanted, deadline_ms)
    if may == "nothing":
        return
    try:
        place = fingerprint(wanted.request, job_id), host_key(wanted.request.url)
    except AddressRefused as error:
        _drop(tools, job_id, wanted, _skipped(wanted, SkipReason.ADDRESS, error.message))
        return
    if may == "ask":
        _place(tools, stored, wanted, place, deadline_ms)
    else:
        _miss(tools, job_id, wanted, _beyond_quota(tools, wanted), place)


def _pay(
    tools: Toolbox, stored: StoredJob, wanted: Wanted, deadline_ms: int
) -> Literal["ask", "remember", "nothing"]:
    """Reserve, and return what the job may now do: ask, use an earlier reply (the source's quota is used up), or none.

    What may not even be paid for is skipped here.
    """
    hold = f"{stored.spec.id}|{wanted.fetch_id}"
    lease_ms = max(0, deadline_ms - tools.clock.now_ms()) + _HOLD_GRACE_MS
    levels, cost = levels_of(tools, stored), _cost(tools, wanted.request)
    quota = open_source(tools, wanted.request, deadline_ms)
    reserved = tools.ledger.reserve(hold, (*levels, *quota), cost, lease_ms=lease_ms)
    used_up = isinstance(reserved, Short) and reserved.level in quota
    if used_up:
        reserved = tools.ledger.reserve(hold, levels, cost, lease_ms=lease_ms)
    if isinstance(reserved, Short):
        detail = f"{reserved.dimension} left: {reserved.left}"
        skipped = _skipped(wanted, SkipReason.BUDGET, detail)
        deliver(tools, stored.spec.id, wanted.fetch_id, skipped, paid=False)
        return "nothing"
    return "remember" if used_up else "ask"


def _place(
    tools: Toolbox, stored: StoredJob, wanted: Wanted, place: tuple[str, str], deadline_ms: int
) -> None:
    job_id, (uid, host) = stored.spec.id, place
    [placed] = tools.frontier.offer([_offer(tools, stored, wanted, uid, host, deadline_ms)])
    if _waits_in_vain(placed, deadline_ms):
        tools.frontier.cancel(job_id, [(uid, host, f"{job_id}|{wanted.fetch_id}")])
        placed = replace(placed, disposition="suspended")
    if placed.disposition in _REFUSALS:
        _refuse(tools, job_id, wanted, placed, place)
        return
    if tools.log.append(job_id, _queued(tools, wanted, uid, host, placed)) == [""]:
        # The job ended meanwhile; whoever cleared it could not know of this one.
        tools.ledger.release(f"{job_id}|{wanted.fetch_id}")
        tools.frontier.cancel(job_id, [(uid, host, f"{job_id}|{wanted.fetch_id}")])
    elif placed.disposition == "cached":
        _deliver_cached(tools, job_id, wanted, uid, host)


def _note(tools: Toolbox, job_id: str, wanted: Wanted) -> None:
    """Write down a request that was offered by a step that died before it could say so."""
    uid, host = fingerprint(wanted.request, job_id), host_key(wanted.request.url)
    tools.log.append(job_id, _queued(tools, wanted, uid, host, Placed(disposition="queued")))
    tools.ring(f"{job_id}/reduce")


def _cost(tools: Toolbox, request: Request) -> Amounts:
    documents = _EXPECTED_DOCUMENTS[request.kind]
    return {
        Dimension.FETCHES: 1,
        Dimension.TOKENS: reserve_of(documents, tools.settings.planning.passage_tokens),
    }


def _offer(
    tools: Toolbox, stored: StoredJob, wanted: Wanted, uid: str, host: str, deadline_ms: int
) -> Offer:
    job_id = stored.spec.id
    return Offer(
        uid=uid,
        host=host,
        payload=encode_request(wanted.request),
        job=job_id,
        waiter=f"{job_id}|{wanted.fetch_id}",
        deadline_ms=deadline_ms,
        pause_ms=tools.paces.pause_ms(wanted.request, host),
        weight=tools.weights.of_job(stored.spec.tenant),
    )


def _queued(tools: Toolbox, wanted: Wanted, uid: str, host: str, placed: Placed) -> FetchQueued:
    return FetchQueued(
        at_ms=tools.clock.now_ms(),
        key=f"{wanted.fetch_id}:queued",
        fetch_id=wanted.fetch_id,
        call_id=call_of(wanted.fetch_id),
        request=wanted.request,
        uid=uid,
        host=host,
        disposition=placed.disposition,
        ready_in_ms=placed.ready_in_ms,
        relevance=wanted.relevance,
    )


def _deliver_cached(tools: Toolbox, job_id: str, wanted: Wanted, uid: str, host: str) -> None:
    raw = tools.frontier.reply(uid, host)
    if raw is not None:  # it may have left between the two calls; the next re-check queues it anew
        outcome = unpack_outcome(raw)
        paid = wanted.is_owner and outcome.status > 0
        deliver(tools, job_id, wanted.fetch_id, outcome, paid=paid)


def _waits_in_vain(placed: Placed, deadline_ms: int) -> bool:
    """Say whether the host was suspended beyond the deadline while the request stood in its queue."""
    waits = placed.disposition in {"queued", "joined"}
    return waits and placed.until_ms is not None and placed.until_ms > deadline_ms


def _refuse(
    tools: Toolbox, job_id: str, wanted: Wanted, placed: Placed, place: tuple[str, str]
) -> None:
    reason, text = _REFUSALS[placed.disposition]
    until = placed.until_ms
    if placed.disposition == "late":
        until = tools.clock.now_ms() + placed.ready_in_ms
    if placed.disposition == "suspended" and (why := tools.frontier.host_state(place[1]).reason):
        text = f"{text} ({why})"
    detail = f"{text}, until {iso(until)}" if until else text
    failure = _skipped(wanted, reason, detail, until)
    if reason is SkipReason.SUSPENDED:
        _miss(tools, job_id, wanted, failure, place)
    else:
        _drop(tools, job_id, wanted, failure)


def _beyond_quota(tools: Toolbox, wanted: Wanted) -> FetchOutcome:
    until_ms = next_day_ms(tools.clock.now_ms())
    quota = tools.registry.quota_per_day(wanted.request.source_id)
    detail = f"its quota of {quota} requests a day is used up, until {iso(until_ms)}"
    return _skipped(wanted, SkipReason.QUOTA, detail, until_ms)


def _miss(
    tools: Toolbox, job_id: str, wanted: Wanted, failure: FetchOutcome, place: tuple[str, str]
) -> None:
    """Serve an earlier reply in place of one that may not be asked for now, or say why there is none."""
    if old := _stored(tools, wanted, *place):
        _deliver_stale(tools, job_id, wanted, place, old, failure)
    else:
        _drop(tools, job_id, wanted, failure)


def _drop(tools: Toolbox, job_id: str, wanted: Wanted, failure: FetchOutcome) -> None:
    tools.ledger.release(f"{job_id}|{wanted.fetch_id}")
    deliver(tools, job_id, wanted.fetch_id, failure, paid=False)


def _stored(tools: Toolbox, wanted: Wanted, uid: str, host: str) -> StoredReply | None:
    """Return an earlier reply that may stand in for a host that is suspended."""
    raw = tools.frontier.reply(uid, host) if is_shareable(wanted.request) else None
    reply = unpack_reply(raw) if raw is not None else None
    return reply if is_served_on_failure(reply, tools.clock.now_ms()) else None


def _deliver_stale(
    tools: Toolbox,
    job_id: str,
    wanted: Wanted,
    place: tuple[str, str],
    old: StoredReply,
    failure: FetchOutcome,
) -> None:
    limits = tools.settings.cache
    served = stale(old, failure, tools.clock.now_ms(), limits).reply.outcome
    placed = Placed(disposition="cached")
    if tools.log.append(job_id, _queued(tools, wanted, *place, placed)) == [""]:
        tools.ledger.release(f"{job_id}|{wanted.fetch_id}")
        return
    deliver(tools, job_id, wanted.fetch_id, served, paid=False)


def _skipped(
    wanted: Wanted, reason: SkipReason, detail: str, until_ms: int | None = None
) -> FetchOutcome:
    return FetchOutcome(
        state=FetchState.SKIPPED,
        url=wanted.request.url,
        reason=reason,
        detail=detail,
        until_ms=until_ms,
    )
