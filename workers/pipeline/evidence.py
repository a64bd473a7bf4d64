"""What came back, as evidence: which documents count, what the caller's constraints leave of them, what was spent."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime

from signal_search.contracts.budget import Usage
from signal_search.contracts.document import Document
from signal_search.contracts.query import MEMORY_SOURCE, Constraints

from scoring.date_range import date_range, lies_within
from scoring.identity import site_of
from workers.pipeline.state import FetchView, JobView, spent_on_answers


def arrived_documents(
    fetches: Sequence[FetchView], documents: Mapping[str, Document]
) -> list[Document]:
    """Return the documents of these fetches in their order, each once."""
    ids = [
        doc_id
        for each in fetches
        if each.finished is not None
        for doc_id in each.finished.documents
    ]
    return [documents[doc_id] for doc_id in dict.fromkeys(ids) if doc_id in documents]


def within_constraints(
    documents: Sequence[Document], constraints: Constraints, now_ms: int
) -> list[Document]:
    """Return what the caller's freshness, domain and language leave. A document without a date or language stays.

    Research memory has no domain, which the plan says of it.
    """
    return [
        each
        for each in documents
        if is_fresh(each, constraints.freshness, now_ms)
        and (each.source_id == MEMORY_SOURCE or _is_in_domain(each, constraints.domain))
        and _is_in_language(each, constraints.language)
    ]


def is_fresh(document: Document, freshness: str | None, now_ms: int) -> bool:
    """Return whether a document's date lies in the wanted range; an unknown date is not held against it."""
    wanted = date_range(freshness or "", utc_day(now_ms))
    return not wanted or not document.published or lies_within(document.published, wanted)


def as_range(freshness: str | None, now_ms: int) -> str | None:
    """Return a freshness as `YYYY-MM-DD..YYYY-MM-DD`: past day, week, month and year end tomorrow, for time zones."""
    days = date_range(freshness or "", utc_day(now_ms))
    return "..".join(days) if days else freshness


def utc_day(now_ms: int) -> date:
    """Return the UTC day of an epoch time in milliseconds."""
    return datetime.fromtimestamp(now_ms / 1000, UTC).date()


def asked_on(view: JobView) -> date:
    """Return the UTC day on which a job was submitted: what `last year` in its question is counted from."""
    _plan, spec = view.require()
    return utc_day(spec.created_at_ms)


def _is_in_domain(document: Document, domain: str | None) -> bool:
    return not domain or document.site == (site_of(domain) or domain)


def _is_in_language(document: Document, language: str | None) -> bool:
    if not language or not document.language:
        return True
    return document.language.split("-", 1)[0] == language.split("-", 1)[0]


def usage_of(view: JobView) -> Usage:
    """Return what a job has spent, from its log alone. Tokens are estimated from the passages it may quote."""
    by_source: dict[str, dict[str, int]] = {}
    for call in view.calls.values():
        spent = by_source.setdefault(
            call.call.source_id, {"calls": 0, "fetches": 0, "bytes": 0, "documents": 0}
        )
        spent["calls"] += call.started is not None
        for fetch in call.fetches.values():
            end = fetch.finished
            if end is not None:
                spent["fetches"] += end.paid
                spent["bytes"] += end.bytes if end.paid else 0
                spent["documents"] += len(end.documents)
    asked, told = spent_on_answers(view)
    judged = view.judged
    return Usage(
        judge_requests=asked + (judged is not None and bool(judged.pairs)),
        model_tokens=told + (judged.tokens if judged is not None else 0),
        tokens=sum(each.finished.tokens for each in view.fetches() if each.finished is not None),
        calls=sum(each["calls"] for each in by_source.values()),
        searches=sum(each.started.searches for each in view.calls.values() if each.started),
        fetches=sum(each["fetches"] for each in by_source.values()),
        bytes=sum(each["bytes"] for each in by_source.values()),
        rounds=view.round,
        by_source=by_source,
    )
