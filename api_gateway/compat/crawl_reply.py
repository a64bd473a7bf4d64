"""From a crawl's job and what its log says to Firecrawl's replies. Pure."""

from collections.abc import Sequence
from typing import Final

from msgspec import UNSET, UnsetType
from signal_search.contracts.job import TERMINAL_STATES, Job, JobState
from signal_search.contracts.result import StopReason

from api_gateway.compat.crawl_walk import Crawl, Walked
from api_gateway.compat.crawl_wire import CrawlStatus, Faults, Page, Status, instant

_MOST_BYTES: Final = 10 * 1024 * 1024  # of the texts in one answer, as Firecrawl's
_LIMIT: Final = "the limit was reached; the site may have more pages"
_STATUSES: Final[dict[JobState, Status]] = {
    JobState.SUCCEEDED: "completed",
    JobState.PARTIAL: "completed",
    JobState.FAILED: "failed",
    JobState.EXPIRED: "failed",
    JobState.CANCELLED: "cancelled",
}


def status_of(crawl: Crawl, *, first: int, last: int, next_url: str | None) -> CrawlStatus:
    """Return a crawl's state with its pages from `first` up to `last`; what an ended one left open is not counted."""
    job, walked = crawl.job, crawl.walked
    finished = job.finished_at_ms
    return CrawlStatus(
        status=_status(job, has_pages=bool(walked.pages)),
        total=walked.ended if job.state in TERMINAL_STATES else walked.asked,
        completed=walked.ended,
        credits_used=walked.paid,
        created_at=instant(job.created_at_ms),
        expires_at=instant(job.expires_at_ms or job.deadline_ms + crawl.result_ttl_s * 1000),
        data=walked.pages[first:last],
        next=next_url,
        completed_at=instant(finished) if finished else UNSET,
        duration=(finished - job.created_at_ms) / 1000 if finished else UNSET,
        warning=_warning(job),
    )


def last_shown(pages: Sequence[Page], first: int, most: int) -> int:
    """Return where an answer from page `first` on ends: after `most` pages or ten MiB of text, but not before one."""
    last, size = first, 0
    for page in pages[first : first + most]:
        size += len(page.markdown.encode())
        if size > _MOST_BYTES and last > first:
            break
        last += 1
    return last


def _status(job: Job, *, has_pages: bool) -> Status:
    """Return a job's state in Firecrawl's words; one that ended without a single page has failed."""
    if job.state not in TERMINAL_STATES:
        return "scraping"
    found = _STATUSES[job.state]
    return "failed" if found == "completed" and not has_pages else found


def _warning(job: Job) -> str | UnsetType:
    stop = job.progress.stop
    if stop is None or not stop.exhausted:
        return UNSET
    return _LIMIT if stop.reason is StopReason.BUDGET_COVERAGE else stop.text


def faults_of(walked: Walked) -> Faults:
    """Return the pages of a crawl that were not read."""
    return Faults(errors=walked.faults, robots_blocked=walked.forbidden)
