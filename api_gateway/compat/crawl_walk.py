"""What a job's log says of the site it crawled: the pages that were read, faults, what robots.txt forbids. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec import UNSET, Struct
from signal_search.contracts.document import Document
from signal_search.contracts.job import Job
from signal_search.contracts.source import FetchState, SkipReason
from signal_search.contracts.trace import FetchFinished, FetchQueued, LogEntry

from api_gateway.compat.crawl_wire import FaultLine, Metadata, Page, instant

_ROBOTS: Final = frozenset({SkipReason.ROBOTS, SkipReason.ROBOTS_UNREACHABLE})


class Walked(Struct, frozen=True, kw_only=True):
    """What a log says of a site: the pages that were read, faults, and those that robots.txt forbids.

    asked and ended: how many pages were asked for, and how many of these ended, well or not.
    """

    pages: tuple[Page, ...]
    faults: tuple[FaultLine, ...]
    forbidden: tuple[str, ...]
    asked: int
    ended: int
    paid: int


def walked(entries: Iterable[LogEntry], documents: Mapping[str, Document], *, limit: int) -> Walked:
    """Return what a crawl has come to, with at most `limit` pages in the order in which they came."""
    queued: dict[str, FetchQueued] = {}
    ended: dict[str, FetchFinished] = {}
    for entry in entries:
        if isinstance(entry, FetchQueued) and entry.request.kind == "page":
            queued.setdefault(entry.fetch_id, entry)
        elif isinstance(entry, FetchFinished):
            ended.setdefault(entry.fetch_id, entry)
    over = [each for each in ended.values() if each.fetch_id in queued]
    # A redirect is a step on the way to a page that is counted itself.
    steps = {each.fetch_id for each in over if each.state == FetchState.REDIRECTED}
    found = [page for each in over for page in _pages(each, queued[each.fetch_id], documents)]
    pages = tuple({each.metadata.url: each for each in reversed(found)}.values())[::-1]
    missed = [each for each in over if each.state in {FetchState.MISSED, FetchState.SKIPPED}]
    return Walked(
        pages=pages[:limit],
        faults=tuple(_fault(each) for each in missed if each.reason not in _ROBOTS),
        forbidden=tuple(each.url for each in missed if each.reason in _ROBOTS),
        asked=len(queued) - len(steps),
        ended=len(over) - len(steps),
        paid=sum(each.paid for each in over),
    )


def _pages(
    end: FetchFinished, asked: FetchQueued, documents: Mapping[str, Document]
) -> Iterator[Page]:
    for each in end.documents:
        if each in documents:
            yield _page(documents[each], asked.request.url, end.status)


def _page(document: Document, asked_url: str, status: int) -> Page:
    return Page(
        markdown=document.text,
        metadata=Metadata(
            title=document.title,
            source_url=asked_url,
            url=document.url,
            status_code=status,
            language=document.language or UNSET,
            published_time=document.published or UNSET,
        ),
    )


def _fault(end: FetchFinished) -> FaultLine:
    has_reason = end.detail.startswith(end.reason)
    words = end.detail if has_reason else f"{end.reason}: {end.detail}".rstrip(": ")
    return FaultLine(
        id=end.fetch_id, timestamp=instant(end.at_ms), url=end.url, code=end.reason, error=words
    )


class Crawl(Struct, frozen=True, kw_only=True):
    """A crawl's job, for how many seconds its result is kept, and how far it is."""

    job: Job
    result_ttl_s: int
    walked: Walked
