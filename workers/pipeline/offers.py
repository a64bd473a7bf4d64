"""From requests that a job wants made to places in the frontier: paid for first, refused honestly."""

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace as dataclass_replace

from msgspec.structs import replace
from signal_search.contracts.budget import Amounts, Dimension
from signal_search.contracts.source import FetchOutcome, FetchState, Request, SkipReason
from signal_search.contracts.trace import FetchQueued
from signal_search.errors import AddressRefused

from budget.frontier import Offer, Placed
from budget.ledger import Short, Want
from budget.policy import next_day_ms
from infra.clock import iso_until
from infra.job_store import StoredJob
from workers.fetching.cache import fingerprint, host_key, is_shareable
from workers.fetching.redaction import redact_url
from workers.fetching.stored_reply import StoredReply, is_served_on_failure, stale
from workers.pipeline.delivery import (
    Told,
    reserve_of,
    unpack_outcome,
    unpack_reply,
    write_down,
)
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


@dataclass(frozen=True)
class _Place:
    """A paid request, and where it stands in the frontier; is_beyond_quota: its source may not be asked today."""

    wanted: Wanted
    uid: str
    host: str
    is_beyond_quota: bool = False


@dataclass(frozen=True)
class _Taken:
    """A request that the frontier took; outcome: its answer, where it is there at once."""

    place: _Place
    placed: Placed
    outcome: FetchOutcome | None = None


def offer(tools: Toolbox, stored: StoredJob, wanted: Sequence[Wanted], *, deadline_ms: int) -> bool:
    """Reserve, offer, and log what came of it; all at once. True when some are answered or refused already.

    Idempotent by the fetch ids; offering again re-checks an open fetch. Who had no budget left is asked once more
    when a refusal gave some back.
    """
    _note(tools, stored.spec.id, [each for each in wanted if each.was_offered])
    waiting = [each for each in wanted if not each.was_offered]
    is_answered = False
    while waiting:
        places, ended, short = _reserve(tools, stored, waiting, deadline_ms)
        ended += _place(tools, stored, places, deadline_ms)
        waiting = [each for each, _rest in short] if ended else []
        if not ended:
            ended = [_out_of_budget(each, rest) for each, rest in short]
        if ended:
            is_answered = True
            write_down(tools, stored.spec, ended)
    return is_answered


def _note(tools: Toolbox, job_id: str, wanted: Sequence[Wanted]) -> None:
    """Write down requests that were offered by a step that died before it could say so."""
    for each in wanted:
        uid, host = fingerprint(each.request, job_id), host_key(each.request.url)
        placed = Placed(disposition="queued")
        tools.log.append(job_id, _queued(tools, _Place(each, uid, host), placed))
    if wanted:
        tools.ring(f"{job_id}/reduce")


def _reserve(
    tools: Toolbox, stored: StoredJob, wanted: Sequence[Wanted], deadline_ms: int
) -> tuple[list[_Place], list[Told], list[tuple[Wanted, Short]]]:
    """Return what was paid for, what may not be asked for at all, and what the budget is too small for."""
    job_id = stored.spec.id
    places: list[_Place] = []
    refused: list[Told] = []
    for each in wanted:
        try:
            uid, host = fingerprint(each.request, job_id), host_key(each.request.url)
        except AddressRefused as error:
            refused.append(_skipped(each, SkipReason.ADDRESS, error.message))
            continue
        places.append(_Place(each, uid, host))
    paid = _pay(tools, stored, places, deadline_ms)
    pairs = zip(places, paid, strict=True)
    short = [(place.wanted, rest) for place, rest in pairs if isinstance(rest, Short)]
    return [each for each in paid if isinstance(each, _Place)], refused, short


def _pay(
    tools: Toolbox, stored: StoredJob, places: Sequence[_Place], deadline_ms: int
) -> list[_Place | Short]:
    """Reserve on every level; where only the source's quota is used up, without that, for an earlier reply."""
    quotas = [open_source(tools, each.wanted.request, deadline_ms) for each in places]
    wants = [_want(tools, stored, each, deadline_ms) for each in places]
    pairs = zip(wants, quotas, strict=True)
    asked = [replace(want, levels=(*want.levels, *quota)) for want, quota in pairs]
    reserved = tools.ledger.reserve_all(asked)
    paid: list[_Place | Short] = []
    for place, want, quota, answer in zip(places, wants, quotas, reserved, strict=True):
        if isinstance(answer, Short) and answer.level in quota:
            (again,) = tools.ledger.reserve_all([want])
            beyond = dataclass_replace(place, is_beyond_quota=True)
            paid.append(again if isinstance(again, Short) else beyond)
        else:
            paid.append(answer if isinstance(answer, Short) else place)
    return paid


def _want(tools: Toolbox, stored: StoredJob, place: _Place, deadline_ms: int) -> Want:
    return Want(
        hold_id=f"{stored.spec.id}|{place.wanted.fetch_id}",
        levels=levels_of(tools, stored),
        cost=_cost(tools, place.wanted.request),
        lease_ms=max(0, deadline_ms - tools.clock.now_ms()) + _HOLD_GRACE_MS,
    )


def _out_of_budget(wanted: Wanted, short: Short) -> Told:
    return _skipped(wanted, SkipReason.BUDGET, f"{short.dimension} left: {short.left}")


def _place(
    tools: Toolbox, stored: StoredJob, places: Sequence[_Place], deadline_ms: int
) -> list[Told]:
    """Offer what was paid for; return what is answered or refused already."""
    if not places:
        return []
    job_id = stored.spec.id
    asked = [each for each in places if not each.is_beyond_quota]
    placed = tools.frontier.offer([_offer(tools, stored, each, deadline_ms) for each in asked])
    entries = [
        _taken(tools, job_id, place, answer, deadline_ms)
        for place, answer in zip(asked, placed, strict=True)
    ]
    entries += [
        _instead(tools, each, _beyond_quota(tools, each)) for each in places if each.is_beyond_quota
    ]
    refused = [each for each in entries if isinstance(each, Told)]
    for each in refused:
        tools.ledger.release(f"{job_id}|{each.fetch_id}")
    taken = [each for each in entries if isinstance(each, _Taken)]
    return refused + _write_queued(tools, job_id, taken)


def _taken(
    tools: Toolbox, job_id: str, place: _Place, placed: Placed, deadline_ms: int
) -> _Taken | Told:
    """Return what the frontier took, or in place of a refusal what is still known; else the refusal."""
    if placed.disposition == "cached":
        return _Taken(place, placed, unpack_outcome(placed.reply))
    if _waits_in_vain(placed, deadline_ms):
        tools.frontier.cancel(job_id, [_waiter(job_id, place)])
        placed = replace(placed, disposition="suspended")
    if placed.disposition not in _REFUSALS:
        return _Taken(place, placed)
    refusal = _refusal(tools, place, placed)
    return _instead(tools, place, refusal) if placed.disposition == "suspended" else refusal


def _instead(tools: Toolbox, place: _Place, refusal: Told) -> _Taken | Told:
    """Return an earlier reply in place of one that may not be asked for now, or the refusal when there is none."""
    old = _stored(tools, place)
    if old is None:
        return refusal
    served = stale(old, refusal.outcome, tools.clock.now_ms(), tools.settings.cache)
    return _Taken(place, Placed(disposition="cached"), served.reply.outcome)


def _beyond_quota(tools: Toolbox, place: _Place) -> Told:
    until_ms = next_day_ms(tools.clock.now_ms())
    quota = tools.registry.quota_per_day(place.wanted.request.source_id)
    detail = f"its quota of {quota} requests a day is used up, until {iso_until(until_ms)}"
    return _skipped(place.wanted, SkipReason.QUOTA, detail, until_ms=until_ms)


def _write_queued(tools: Toolbox, job_id: str, taken: Sequence[_Taken]) -> list[Told]:
    """Write down what the frontier took; return what it answered at once."""
    ids = tools.log.append(job_id, *(_queued(tools, each.place, each.placed) for each in taken))
    told: list[Told] = []
    for each, entry_id in zip(taken, ids, strict=True):
        wanted = each.place.wanted
        if not entry_id:
            # The job ended meanwhile; whoever cleared it could not know of this one.
            tools.ledger.release(f"{job_id}|{wanted.fetch_id}")
            tools.frontier.cancel(job_id, [_waiter(job_id, each.place)])
        elif each.outcome is not None:
            is_owner = wanted.is_owner or each.placed.is_owner
            paid = is_owner and each.outcome.status > 0
            source_id = wanted.request.source_id
            told.append(Told(wanted.fetch_id, each.outcome, paid=paid, source_id=source_id))
    return told


def _waiter(job_id: str, place: _Place) -> tuple[str, str, str]:
    return place.uid, place.host, f"{job_id}|{place.wanted.fetch_id}"


def _cost(tools: Toolbox, request: Request) -> Amounts:
    documents = _EXPECTED_DOCUMENTS[request.kind]
    return {
        Dimension.FETCHES: 1,
        Dimension.TOKENS: reserve_of(documents, tools.settings.planning.passage_tokens),
    }


def _offer(tools: Toolbox, stored: StoredJob, place: _Place, deadline_ms: int) -> Offer:
    request, job_id = place.wanted.request, stored.spec.id
    return Offer(
        uid=place.uid,
        host=place.host,
        payload=encode_request(request),
        job=job_id,
        waiter=f"{job_id}|{place.wanted.fetch_id}",
        deadline_ms=deadline_ms,
        pause_ms=tools.paces.pause_ms(request, place.host),
        weight=tools.settings.weight_of(stored.spec.tenant),
    )


def _queued(tools: Toolbox, place: _Place, placed: Placed) -> FetchQueued:
    wanted = place.wanted
    return FetchQueued(
        at_ms=tools.clock.now_ms(),
        key=f"{wanted.fetch_id}:queued",
        fetch_id=wanted.fetch_id,
        call_id=call_of(wanted.fetch_id),
        request=wanted.request,
        uid=place.uid,
        host=place.host,
        disposition=placed.disposition,
        ready_in_ms=placed.ready_in_ms,
        relevance=wanted.relevance,
    )


def _waits_in_vain(placed: Placed, deadline_ms: int) -> bool:
    """Say whether the host was suspended beyond the deadline while the request stood in its queue."""
    waits = placed.disposition in {"queued", "joined"}
    return waits and placed.until_ms is not None and placed.until_ms > deadline_ms


def _refusal(tools: Toolbox, place: _Place, placed: Placed) -> Told:
    """Say why the frontier did not take a request, and until when."""
    reason, text = _REFUSALS[placed.disposition]
    until = placed.until_ms
    if placed.disposition == "late":
        until = tools.clock.now_ms() + placed.ready_in_ms
    if placed.disposition == "suspended" and (why := tools.frontier.host_state(place.host).reason):
        text = f"{text} ({why})"
    detail = f"{text}, until {iso_until(until)}" if until else text
    return _skipped(place.wanted, reason, detail, until_ms=until)


def _stored(tools: Toolbox, place: _Place) -> StoredReply | None:
    """Return an earlier reply that may stand in for a host that is suspended."""
    shared = is_shareable(place.wanted.request)
    raw = tools.frontier.reply(place.uid, place.host) if shared else None
    reply = unpack_reply(raw) if raw is not None else None
    return reply if is_served_on_failure(reply, tools.clock.now_ms()) else None


def _skipped(
    wanted: Wanted, reason: SkipReason, detail: str, *, until_ms: int | None = None
) -> Told:
    outcome = FetchOutcome(
        state=FetchState.SKIPPED,
        url=redact_url(wanted.request.url),
        reason=reason,
        detail=detail,
        until_ms=until_ms,
    )
    return Told(wanted.fetch_id, outcome, paid=False)
