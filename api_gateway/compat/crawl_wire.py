"""Firecrawl's crawl on the wire, outwards: a job begun, its state with pages of the site, its faults."""

from datetime import UTC, datetime
from typing import Literal

from msgspec import UNSET, Struct, UnsetType, field

Status = Literal["scraping", "completed", "failed", "cancelled"]


class Metadata(Struct, frozen=True, kw_only=True, rename="camel"):
    """Where a page is from: source_url as it was asked for, url as it was read."""

    title: str
    source_url: str = field(name="sourceURL")
    url: str
    status_code: int
    language: str | UnsetType = UNSET
    published_time: str | UnsetType = UNSET


class Page(Struct, frozen=True, kw_only=True):
    """One page: its main text, and where it is from."""

    markdown: str
    metadata: Metadata


class FaultLine(Struct, frozen=True, kw_only=True):
    """One page that was not read, and why; code: the engine's own reason."""

    id: str
    timestamp: str
    url: str
    code: str
    error: str


class Faults(Struct, frozen=True, kw_only=True, rename="camel"):
    """The pages of a crawl that were not read."""

    errors: tuple[FaultLine, ...]
    robots_blocked: tuple[str, ...]


class Begun(Struct, frozen=True, kw_only=True):
    """A crawl that was accepted; url: where its state is."""

    id: str
    url: str
    warning: str | UnsetType = UNSET
    success: bool = True


class CrawlStatus(Struct, frozen=True, kw_only=True, rename="camel"):
    """The state of a crawl. total and completed: pages asked for and ended, equal once it is over; duration: seconds.

    credits_used: pages that were fetched for it; those that another job's fetch or the cache gave are not counted.
    """

    status: Status
    total: int
    completed: int
    credits_used: int
    created_at: str
    expires_at: str
    data: tuple[Page, ...]
    next: str | None = None
    completed_at: str | UnsetType = UNSET
    duration: float | UnsetType = UNSET
    warning: str | UnsetType = UNSET
    success: bool = True


class Cancelled(Struct, frozen=True, kw_only=True):
    """A crawl was ended."""

    status: Status = "cancelled"
    success: bool = True


def instant(ms: int) -> str:
    """Return an instant in epoch milliseconds as ISO 8601 in UTC."""
    text = datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")
