"""From a finished request to the log of each job that waited for it."""

import msgspec
import structlog
import zstandard
from signal_search.contracts.budget import Amounts, Dimension
from signal_search.contracts.source import FetchOutcome
from signal_search.contracts.trace import FetchFinished

from infra.job_store import life_ms
from infra.logging import bound
from scoring.passages import estimate_tokens
from workers.fetching.stored_reply import StoredReply
from workers.pipeline.state import call_of
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


def pack_outcome(outcome: FetchOutcome) -> bytes:
    """Return an outcome that can be neither renewed nor served stale."""
    return pack_reply(StoredReply(outcome=outcome))


def unpack_outcome(raw: bytes) -> FetchOutcome:
    """Return the outcome of the reply in `raw`."""
    return unpack_reply(raw).outcome


def deliver(
    tools: Toolbox, job_id: str, fetch_id: str, outcome: FetchOutcome, *, paid: bool
) -> bool:
    """Write an outcome into a job's log, settle its hold and ring its reducer. False if the job has ended.

    Idempotent: documents by content, the entry by its key, the settlement by its hold.
    """
    stored = tools.store.get(job_id)
    if stored is None or stored.is_finished:
        return False
    tools.log.put_documents(job_id, outcome.parsed.documents, ttl_ms=life_ms(stored.spec))
    used = cost_of(outcome, tools.settings.planning.passage_tokens, paid=paid)
    tools.log.append(job_id, _entry(tools.clock.now_ms(), fetch_id, outcome, used, paid=paid))
    tools.ledger.settle(f"{job_id}|{fetch_id}", used)
    tools.ring(f"{job_id}/reduce")
    with bound(job_id=job_id, request_id=stored.spec.request_id):
        _log.info(
            "fetch told",
            fetch_id=fetch_id,
            state=outcome.state.value,
            reason=str(outcome.reason),
            status=outcome.status,
            documents=len(outcome.parsed.documents),
            paid=paid,
        )
    return True


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


def _entry(
    at_ms: int, fetch_id: str, outcome: FetchOutcome, used: Amounts, *, paid: bool
) -> FetchFinished:
    parsed = outcome.parsed
    return FetchFinished(
        at_ms=at_ms,
        key=f"{fetch_id}:finished",
        fetch_id=fetch_id,
        call_id=call_of(fetch_id),
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
        paid=paid,
        decisions=outcome.decisions,
    )
