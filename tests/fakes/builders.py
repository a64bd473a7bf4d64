"""Builders with sensible defaults: a test names only what it is about."""

from typing import Any

from signal_search.contracts.document import Document
from signal_search.contracts.job import JobSpec
from signal_search.contracts.plan import Plan, PlannedCall, SubQuestion
from signal_search.contracts.query import Intent, RetrieveRequest, Tier
from signal_search.contracts.source import Request

NOW_MS = 1_790_000_000_000


def a_job(**changes: Any) -> JobSpec:
    values: dict[str, Any] = {
        "id": "job_1",
        "kind": "retrieve",
        "tenant": "local",
        "request": RetrieveRequest(query="How high is Mount Ansel?"),
        "created_at_ms": NOW_MS,
        "deadline_ms": NOW_MS + 60_000,
        "result_ttl_s": 600,
    }
    return JobSpec(**{**values, **changes})


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
