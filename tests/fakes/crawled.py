"""The log of a job that crawls a small site: two pages, a sitemap, a redirect, one that is gone, one that is forbidden."""

from typing import Any

from signal_search.contracts.source import FetchState, Request
from signal_search.contracts.trace import FetchFinished, FetchQueued, LogEntry

from tests.fakes.builders import a_document

SITE = "https://docs.test/"
NOW_MS = 1_790_000_000_000  # 2026-09-21T14:13:20Z


def queued(number: str, path: str = "", kind: Any = "page") -> FetchQueued:
    return FetchQueued(
        at_ms=NOW_MS,
        key=f"q{number}",
        fetch_id=f"all.site1#{number}",
        call_id="all.site1",
        request=Request(url=SITE + path, adapter="site", source_id="site", kind=kind, site=SITE),
        uid=number,
        host="docs.test",
        disposition="queued",
    )


def ended(
    number: str, path: str = "", state: FetchState = FetchState.FETCHED, **more: Any
) -> FetchFinished:
    facts = {"status": 200, "paid": True, **more}
    return FetchFinished(
        at_ms=NOW_MS + 1,
        key=f"f{number}",
        fetch_id=f"all.site1#{number}",
        call_id="all.site1",
        url=SITE + path,
        state=state,
        **facts,
    )


def document(name: str, path: str) -> Any:
    return a_document(doc_id=name, url=SITE + path, title=name, text=f"{name} text", language="en")


FRONT, GUIDE = document("front", ""), document("guide", "guide")
LOG: list[LogEntry] = [
    queued("1"),
    ended("1", documents=("front",)),
    queued("1.1", "sitemap.xml", kind="sitemap"),
    ended("1.1", "sitemap.xml"),
    queued("2", "old"),
    ended("2", "old", FetchState.REDIRECTED, status=301, redirect_to=SITE + "guide"),
    queued("2.0", "guide"),
    ended("2.0", "guide", documents=("guide",), paid=False),
    queued("3", "gone"),
    ended("3", "gone", FetchState.MISSED, status=404, reason="source_not_found", detail="HTTP 404"),
    queued("4", "private"),
    ended(
        "4", "private", FetchState.SKIPPED, status=0, reason="robots", detail="Disallow: /private"
    ),
    queued("5", "later"),
]
DOCUMENTS = {"front": FRONT, "guide": GUIDE}
