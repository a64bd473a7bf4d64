"""Results of searches for tests, without a search."""

from typing import Any

from signal_search.contracts.hit_synthesis import HitSynthesis
from signal_search.contracts.result import Stop, StopReason
from signal_search.contracts.search_result import (
    SearchHit,
    SearchRanking,
    SearchResult,
    SearchUsage,
)


def a_hit(url: str = "https://example.org/a", **more: Any) -> SearchHit:
    sources = more.pop("sources", ("brave",))
    facts = {"title": "A page", "snippet": "What it says.", **more}
    return SearchHit(url=url, source=", ".join(sources), sources=sources, **facts)


def a_search_result(*hits: SearchHit, reason: StopReason = StopReason.PLAN_COMPLETE, **more: Any):
    stop = Stop(reason=reason, text="", exhausted=False, coverage=1.0, saturation=0.0, rounds=1)
    facts: dict[str, Any] = {
        "job_id": "job_00000000000000000000000001",
        "mode": "fast",
        "intent": None,
        "queries": ("a query",),
        "count": len(hits),
        "hits": hits,
        "results": hits,
        "ranking": SearchRanking(source="default"),
        "conclusion": None,
        "errors": {},
        "usage": SearchUsage(searches=3),
        "synthesis": HitSynthesis(layout="list", language="en", text=""),
        "undated": (),
        "stale": 0,
        "source_outcomes": (),
        "warnings": (),
        "stop": stop,
        "trace": (),
    }
    return SearchResult(**{**facts, **more})
