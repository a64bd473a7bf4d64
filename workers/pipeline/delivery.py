"""From a finished request to the log of each job that waited for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace as dataclass_replace

import msgspec
import structlog
import zstandard
from msgspec.structs import replace
from signal_search.contracts.budget import Amounts, Dimension
from signal_search.contracts.document import Document
from signal_search.contracts.job import JobSpec
from signal_search.contracts.source import FetchOutcome
from signal_search.contracts.trace import FetchFinished, LogEntry

from infra.job_store import life_ms
from infra.logging import bound
from scoring.passages import estimate_tokens
from workers.fetching.stored_reply import StoredReply
from workers.pipeline.state import call_of, fold
from workers.toolbox import Toolbox

_log = structlog.get_logger("workers.delivery")

_REPLY = msgspec.msgpack.Decoder(StoredReply)
_MAX_REPLY_BYTES = 64 * 1024 * 1024
_PAID_DOCUMENTS = 2  # of one reply: an answer quotes no more of it


def pack_reply(reply: StoredReply) -> bytes:
    """Return a reply as it is kept in the frontier: compressed, already redacted."""
    return zstandard.compress(msgspec.msgpack.encode(reply))


def unpack_reply(raw: bytes) -> StoredReply:
    """Return the reply in `raw`."""
    return _REPLY.decode(zstandard.decompress(raw, max_output_size=_MAX_REPLY_BYTES))


def unpack_outcome(raw: bytes) -> FetchOutcome:
    """Return the outcome of the reply in `raw`."""
    return unpack_reply(raw).outcome


@dataclass(frozen=True)
class Told:
    """How one fetch of a job ended; paid: this job pays for the request.

    source_id: whose call this is, where another source, or one of another job, may have asked for the reply: pages are
    shared. is_joined: that has to be looked up in the job's plan.
    """

    fetch_id: str
    outcome: FetchOutcome
    paid: bool
    source_id: str = ""
    is_joined: bool = False


def deliver(tools: Toolbox, job_id: str, told: Sequence[Told]) -> bool:
    """Write outcomes into a job's log, settle their holds and ring its reducer. False if the job has ended.

    Idempotent: documents by content, the entries by their keys, the settlements by their holds.
    """
    stored = tools.store.get(job_id)
    if stored is None or stored.is_finished:
        return False
    with bound(job_id=job_id, request_id=stored.spec.request_id):
        write_down(tools, stored.spec, _with_sources(tools, job_id, told))
    tools.ring(f"{job_id}/reduce")
    return True


def _note(told: Told) -> None:
    outcome = told.outcome
    _log.info(
        "fetch told",
        fetch_id=told.fetch_id,
        state=str(outcome.state),
        reason=str(outcome.reason),
        status=outcome.status,
        documents=len(outcome.parsed.documents),
        paid=told.paid,
    )


def write_down(
    tools: Toolbox, spec: JobSpec, told: Sequence[Told], *, before: Sequence[LogEntry] = ()
) -> None:
    """Write outcomes into the log of an open job and settle their holds, for a step that looks at the log itself.

    before: what is written with them, in one go and in front.
    """
    now_ms, passage_tokens = tools.clock.now_ms(), tools.settings.planning.passage_tokens
    documents = [found for each in told for found in _documents(each)]
    costs = [cost_of(each.outcome, passage_tokens, paid=each.paid) for each in told]
    tools.log.put_documents(spec.id, documents, ttl_ms=life_ms(spec))
    pairs = list(zip(told, costs, strict=True))
    tools.log.append(spec.id, *before, *(_entry(now_ms, each, used) for each, used in pairs))
    tools.ledger.settle_all([(f"{spec.id}|{each.fetch_id}", used) for each, used in pairs])
    for each in told:
        _note(each)


def _with_sources(tools: Toolbox, job_id: str, told: Sequence[Told]) -> Sequence[Told]:
    """Return outcomes with the source of the job's own call, where the request was somebody else's."""
    if not any(each.is_joined and each.outcome.parsed.documents for each in told):
        return told
    calls = fold(entry for _id, entry in tools.log.read(job_id)).calls
    return [
        dataclass_replace(each, source_id=calls[call].call.source_id)
        if each.is_joined and (call := call_of(each.fetch_id)) in calls
        else each
        for each in told
    ]


def _documents(told: Told) -> tuple[Document, ...]:
    documents = told.outcome.parsed.documents
    if not told.source_id:
        return documents
    return tuple(replace(each, source_id=told.source_id) for each in documents)


def reserve_of(documents: int, passage_tokens: int) -> int:
    """Return the tokens that a fetch may cost: the passages of its documents, of two at most."""
    return min(documents, _PAID_DOCUMENTS) * passage_tokens


def cost_of(outcome: FetchOutcome, passage_tokens: int, *, paid: bool) -> Amounts:
    """Return what an outcome costs its job: the request if it paid for it, and the passages it may quote."""
    documents = outcome.parsed.documents
    texts = sum(min(estimate_tokens(each.text), passage_tokens) for each in documents)
    return {
        Dimension.FETCHES: 1 if paid else 0,
        Dimension.BYTES: outcome.bytes if paid else 0,
        Dimension.TOKENS: min(texts, reserve_of(len(documents), passage_tokens)),
    }


def spent_on(end: FetchFinished) -> Amounts:
    """Return what a fetch cost its job, as its log says."""
    return {
        Dimension.FETCHES: 1 if end.paid else 0,
        Dimension.BYTES: end.bytes if end.paid else 0,
        Dimension.TOKENS: end.tokens,
    }


def _entry(at_ms: int, told: Told, used: Amounts) -> FetchFinished:
    outcome, parsed = told.outcome, told.outcome.parsed
    return FetchFinished(
        at_ms=at_ms,
        key=f"{told.fetch_id}:finished",
        fetch_id=told.fetch_id,
        call_id=call_of(told.fetch_id),
        url=outcome.url,
        state=outcome.state,
        status=outcome.status,
        reason=outcome.reason,
        detail=outcome.detail,
        until_ms=outcome.until_ms,
        documents=tuple(each.doc_id for each in parsed.documents),
        links=parsed.links,
        requests=parsed.requests,
        redirect_to=parsed.redirect_to,
        note=parsed.note,
        total=parsed.total,
        bytes=outcome.bytes,
        tokens=used[Dimension.TOKENS],
        paid=told.paid,
        decisions=outcome.decisions,
        hits=parsed.hits,
        answer=parsed.answer,
    )
