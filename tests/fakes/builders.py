"""Builders with sensible defaults: a test names only what it is about."""

from typing import Any, cast

from signal_search.contracts.document import Document
from signal_search.contracts.job import AnySpec, RetrieveSpec
from signal_search.contracts.plan import Plan, PlannedCall, SubQuestion
from signal_search.contracts.query import Intent, RetrieveRequest, Tier
from signal_search.contracts.result import Stop, StopReason
from signal_search.contracts.source import Request
from signal_search.contracts.trace import (
    CallRefused,
    CallStarted,
    Entry,
    FetchFinished,
    FetchQueued,
    LogEntry,
    Planned,
    Stopped,
    Submitted,
)

from infra.settings import load
from workers.pipeline.rules import snapshot, to_log

NOW_MS = 1_790_000_000_000


def a_job(**changes: Any) -> RetrieveSpec:
    values: dict[str, Any] = {
        "id": "job_1",
        "tenant": "local",
        "request": RetrieveRequest(query="How high is Mount Ansel?"),
        "created_at_ms": NOW_MS,
        "deadline_ms": NOW_MS + 60_000,
        "result_ttl_s": 600,
    }
    return RetrieveSpec(**{**values, **changes})


def a_plan(**changes: Any) -> Plan:
    values: dict[str, Any] = {
        "query": "How high is Mount Ansel?",
        "language": "en",
        "intent": Intent.FACT,
        "intent_confidence": 0.9,
        "tier": Tier.L1,
        "tier_reason": "one fact",
        "questions": (SubQuestion(id="q1", text="How high is Mount Ansel?"),),
        "calls": (
            PlannedCall(id="q1.one", source_id="one", question_id="q1"),
            PlannedCall(id="q1.two", source_id="two", question_id="q1"),
        ),
        "limits": {"tokens": 8000, "fetches": 30, "calls": 8},
        "max_sources": 3,
        "max_rounds": 1,
        "deadline_ms": NOW_MS + 60_000,
    }
    return Plan(**{**values, **changes})


def a_request(**changes: Any) -> Request:
    values: dict[str, Any] = {
        "url": "https://example.org/a",
        "adapter": "site",
        "source_id": "one",
    }
    return Request(**{**values, **changes})


def a_document(**changes: Any) -> Document:
    values: dict[str, Any] = {
        "doc_id": "d1",
        "url": "https://example.org/a",
        "title": "Mount Ansel",
        "text": "Mount Ansel is 2,114 metres high. It was first climbed in 1903.",
        "source_id": "one",
        "site": "example.org",
        "fetched_at_ms": NOW_MS,
        "language": "en",
    }
    return Document(**{**values, **changes})


# --- a job's log ------------------------------------------------------------------------------------------------------


def planned(**changes: Any) -> Planned:
    """The plan with the figures of the shipped defaults; `rules` replaces them."""
    rules = changes.pop("rules", None) or to_log(snapshot(load()))
    return Planned(at_ms=NOW_MS + 1, key="planned", plan=a_plan(**changes), rules=rules)


def started(call_id: str, *numbers: int, **changes: Any) -> CallStarted:
    values: dict[str, Any] = {
        "at_ms": NOW_MS + 2,
        "key": f"{call_id}:started",
        "call_id": call_id,
        "source_id": "one",
        "fetches": tuple(f"{call_id}#{number}" for number in numbers),
    }
    return CallStarted(**{**values, **changes})


def call_refused(call_id: str, reason: str = "budget", **changes: Any) -> CallRefused:
    values: dict[str, Any] = {
        "at_ms": NOW_MS + 2,
        "key": f"{call_id}:refused",
        "call_id": call_id,
        "source_id": "one",
        "reason": reason,
    }
    return CallRefused(**{**values, **changes})


def queued(fetch_id: str, url: str = "https://example.org/a", **request: Any) -> FetchQueued:
    """A request that the frontier took; keywords are those of the request."""
    return FetchQueued(
        at_ms=NOW_MS + 3,
        key=f"{fetch_id}:queued",
        fetch_id=fetch_id,
        call_id=fetch_id.rsplit("#", 1)[0],
        request=a_request(url=url, **request),
        uid=f"uid-{fetch_id}",
        host="example.org",
        disposition="queued",
    )


def finished(fetch_id: str, *doc_ids: str, **changes: Any) -> FetchFinished:
    values: dict[str, Any] = {
        "at_ms": NOW_MS + 4,
        "key": f"{fetch_id}:finished",
        "fetch_id": fetch_id,
        "call_id": fetch_id.rsplit("#", 1)[0],
        "url": "https://example.org/a",
        "state": "fetched",
        "status": 200,
        "documents": doc_ids,
        "paid": True,
    }
    return FetchFinished(**{**values, **changes})


def stopped(*evidence: str, **changes: Any) -> Stopped:
    """The decision to stop, on this evidence; keywords are those of the stop."""
    values: dict[str, Any] = {
        "reason": StopReason.PLAN_COMPLETE,
        "text": "",
        "exhausted": False,
        "coverage": 1.0,
        "saturation": 0.5,
        "rounds": 1,
    }
    return Stopped(
        at_ms=NOW_MS + 9, key="stopped", stop=Stop(**{**values, **changes}), evidence=evidence
    )


def a_log(*entries: Entry, job: AnySpec | None = None, **plan: Any) -> list[LogEntry]:
    """Submitted, planned (keywords are those of the plan), then what is given."""
    submitted = Submitted(at_ms=NOW_MS, key="submitted", job=job or a_job())
    return cast("list[LogEntry]", [submitted, planned(**plan), *entries])
