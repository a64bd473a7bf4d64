"""Firecrawl's search on the wire: what its callers send and what they read."""

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType, field


class Kind(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A source or category by its type; below type: filters of one source."""

    type: str
    tbs: str | None = None
    location: str | None = None


Sites = Annotated[tuple[str, ...], Meta(max_length=100)]
Kinds = Annotated[tuple[str | Kind, ...], Meta(max_length=4)]


class FirecrawlSearch(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"
):
    """A search as Firecrawl's callers send it. timeout: milliseconds.

    origin and integration name the caller's software and are not kept. Fields of type Any are refused by name unless
    they ask for nothing.
    """

    query: Annotated[str, Meta(min_length=1, max_length=500)]
    limit: Annotated[int, Meta(ge=1, le=100)] = 10
    sources: Kinds | None = None
    categories: Kinds | None = None
    include_domains: Sites | None = None
    exclude_domains: Sites | None = None
    tbs: str | None = None
    timeout: Annotated[int, Meta(ge=1000, le=300_000)] = 60_000
    ignore_invalid_urls: bool | None = field(default=None, name="ignoreInvalidURLs")
    origin: str | None = None
    integration: str | None = None
    scrape_options: Any = None
    location: Any = None
    country: Any = None
    highlights: Any = None
    enterprise: Any = None
    threat_protection: Any = None
    domain_tools: Any = None
    tool_detail: Any = None


class WebHit(Struct, frozen=True, kw_only=True):
    """One result of the web. It has no `markdown`: callers take what has one for a page that was read."""

    url: str
    title: str
    description: str
    position: int
    category: str | UnsetType = UNSET


class NewsHit(Struct, frozen=True, kw_only=True):
    """One result of the news; date: ISO year, month or day."""

    url: str
    title: str
    snippet: str
    position: int
    date: str | UnsetType = UNSET


class FirecrawlHits(Struct, frozen=True, kw_only=True):
    """The results by kind; a kind that was not asked for is absent."""

    web: tuple[WebHit, ...] | UnsetType = UNSET
    news: tuple[NewsHit, ...] | UnsetType = UNSET


class FirecrawlReply(Struct, frozen=True, kw_only=True, rename="camel"):
    """The answer. credits_used: requests to search services; warning: what is missing, null where nothing is."""

    id: str
    credits_used: int
    data: FirecrawlHits
    warning: str | None = None
    success: bool = True
