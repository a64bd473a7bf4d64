"""The trace in the result: a view of the log, every decision with its reason."""

import msgspec
from signal_search.contracts.adaptive_plan import AdaptiveFrame
from signal_search.contracts.plan import Plan, SearchFrame
from signal_search.contracts.result import TraceEvent
from signal_search.contracts.trace import (
    Assessed,
    CallRefused,
    CallStarted,
    Delegated,
    DelegationAnswered,
    DelegationLapsed,
    Entry,
    Expanded,
    FetchFinished,
    FetchQueued,
    Judged,
    Planned,
    Recalled,
    Screened,
    Stopped,
    Submitted,
)

from workers.fetching.redaction import redact_url
from workers.pipeline.state import JobView

Facts = tuple[str, dict[str, object]]


def trace_of(view: JobView) -> tuple[TraceEvent, ...]:
    """Return one event per log entry, with the milliseconds since submission."""
    if view.spec is None:
        return ()
    start_ms = view.spec.created_at_ms
    events = []
    for entry in view.entries:
        name, data = _facts(entry)
        if name:
            shown = {key: value for key, value in data.items() if value not in ("", None)}
            events.append(TraceEvent(t_ms=entry.at_ms - start_ms, name=name, data=shown))
    return tuple(events)


def _facts(entry: Entry) -> Facts:
    match entry:
        case Submitted():
            return "submitted", {"kind": entry.job.kind}
        case Planned():
            return _planned(entry)
        case CallStarted() | CallRefused():
            return _call(entry)
        case FetchQueued() | FetchFinished():
            return _fetch(entry)
        case Delegated() | DelegationAnswered() | DelegationLapsed() | Judged():
            return _asked(entry)
        case _:
            return _decision(entry)


def _planned(entry: Planned) -> Facts:
    plan = entry.plan
    if plan.adaptive is not None:
        return "planned", _screened(plan, plan.adaptive)
    if plan.search is not None:
        return "planned", _searched(plan, plan.search)
    return "planned", {
        "tier": plan.tier,
        "tier_reason": plan.tier_reason,
        "intent": plan.intent,
        "intent_confidence": plan.intent_confidence,
        "questions": [each.text for each in plan.questions],
        "calls": [each.id for each in plan.calls],
        "limits": plan.limits,
        "notes": list(plan.notes),
    }


def _searched(plan: Plan, frame: SearchFrame) -> dict[str, object]:
    search = frame.plan
    return {
        "mode": search.mode,
        "intent": search.intent,
        "intent_reason": search.intent_reason,
        "freshness": search.freshness,
        "freshness_by": search.freshness_by,
        "queries": [each.text for each in search.sub_queries],
        "calls": [each.id for each in plan.calls],
        "not_configured": list(search.not_configured),
        "limits": plan.limits,
    }


def _screened(plan: Plan, frame: AdaptiveFrame) -> dict[str, object]:
    return {
        "targets": [each.id for each in frame.targets],
        "judge": frame.driver,
        "sources": list(frame.offered),
        "limits": plan.limits,
    }


def _call(entry: CallStarted | CallRefused) -> Facts:
    if isinstance(entry, CallStarted):
        return "call_started", {"call": entry.call_id, "source": entry.source_id}
    return "call_refused", {
        "call": entry.call_id,
        "source": entry.source_id,
        "reason": entry.reason,
        "detail": entry.detail,
    }


def _fetch(entry: FetchQueued | FetchFinished) -> Facts:
    if isinstance(entry, FetchQueued):
        return "fetch_queued", {
            "fetch": entry.fetch_id,
            "url": redact_url(entry.request.url),
            "host": entry.host,
            "disposition": entry.disposition,
            "relevance": entry.relevance,
        }
    return "fetch_finished", {
        "fetch": entry.fetch_id,
        "url": entry.url,
        "state": entry.state,
        "status": entry.status or None,
        "reason": entry.reason,
        "detail": entry.detail,
        "note": entry.note,
        "documents": len(entry.documents),
        "paid": entry.paid,
        "until_ms": entry.until_ms,
        **entry.decisions,
    }


def _recalled(entry: Recalled) -> dict[str, object]:
    return {
        "call": entry.call_id,
        "partial": entry.partial,
        "channels": [msgspec.to_builtins(each) for each in entry.traces],
        "rejections": list(entry.rejections),
        "degradations": list(entry.degradations),
        "scope_leak_count": entry.scope_leak_count,
        "error": entry.error,
    }


def _reviewed(entry: Screened) -> dict[str, object]:
    said = entry.said
    return {
        "number": entry.number,
        "phase": entry.phase,
        "driver": entry.driver,
        "answers": len(said.nouls) + len(said.choices),
        "invalid": said.invalid or None,
        "error": said.error,
        "http_attempts": said.attempts,
        "tokens": said.tokens or entry.tokens,
    }


def _asked(entry: Delegated | DelegationAnswered | DelegationLapsed | Judged) -> Facts:
    match entry:
        case Delegated():
            asked = entry.delegation
            return "delegated", {"delegation": asked.id, "kind": asked.kind}
        case DelegationAnswered():
            return "delegation_answered", {
                "delegation": entry.delegation_id,
                "kind": entry.kind,
                "tokens": entry.tokens or None,
            }
        case DelegationLapsed():
            return "delegation_lapsed", {
                "delegation": entry.delegation_id,
                "kind": entry.kind,
                "reason": entry.reason,
            }
        case Judged():
            return "judged", {
                "claims": len(entry.pairs),
                "error": entry.error,
                "tokens": entry.tokens,
            }


def _decision(entry: Entry) -> Facts:
    match entry:
        case Assessed():
            return "assessed", {
                "round": entry.round,
                "coverage": entry.coverage,
                "saturation": entry.saturation,
                "tokens": entry.tokens,
                "verdict": entry.verdict,
            }
        case Screened():
            return "screened", _reviewed(entry)
        case Recalled():
            return "recalled", _recalled(entry)
        case Expanded():
            return "expanded", {"round": entry.round, "why": entry.why}
        case Stopped():
            return "stopped", {
                "reason": entry.stop.reason,
                "coverage": entry.stop.coverage,
                "saturation": entry.stop.saturation,
                "exhausted": entry.stop.exhausted,
                "would_have": entry.stop.would_have,
            }
        case _:
            return "", {}
