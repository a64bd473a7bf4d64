"""Firecrawl's `/v2/crawl` over a retrieve job on one site: from request to job. Pure.

The site is read through the frontier, its robots.txt and the caller's budget like any other. Without a prompt the
question is `*`, which no page speaks to more than another: the walk goes by depth and address, and ends with the site
or at a limit. With a prompt the most promising pages come first, and the stop rule may end it.
"""

from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from msgspec import Meta, Struct, field
from signal_search.contracts.budget import Budget
from signal_search.contracts.query import Constraints, RetrieveRequest, SourcePrefs
from signal_search.errors import Unsupported

from api_gateway.checks import check_address, check_text
from api_gateway.compat.asked import refuse_unsupported

EVERYTHING: Final = "*"
SITE: Final = "site:"
_UNSUPPORTED: Final = (
    "includePaths",
    "excludePaths",
    "maxDiscoveryDepth",
    "ignoreQueryParameters",
    "allowExternalLinks",
    "allowSubdomains",
    "ignoreRobotsTxt",
    "robotsUserAgent",
    "webhook",
    "regexOnFullURL",
    "zeroDataRetention",
)


class ScrapeOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """How a page is told: as its main text in Markdown, which is all there is."""

    formats: tuple[Any, ...] = ("markdown",)
    only_main_content: bool = True


class CrawlRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """A crawl as Firecrawl's callers send it. limit: pages at most; delay: seconds between requests.

    Fields of type Any are refused by name unless they ask for nothing. One request at a time is made at a host, so that
    any maxConcurrency is kept; the same page under several addresses is read once, so that similar ones need no flag.
    """

    url: Annotated[str, Meta(min_length=1, max_length=2000)]
    prompt: Annotated[str, Meta(min_length=1, max_length=4000)] | None = None
    limit: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    sitemap: str = "include"
    crawl_entire_domain: bool = False
    delay: Annotated[float, Meta(ge=0)] | None = None
    max_concurrency: Annotated[int, Meta(ge=1)] | None = None
    deduplicate_similar_urls: bool | None = field(default=None, name="deduplicateSimilarURLs")
    scrape_options: ScrapeOptions = ScrapeOptions()
    origin: str | None = None
    integration: str | None = None
    include_paths: Any = None
    exclude_paths: Any = None
    max_discovery_depth: Any = None
    ignore_query_parameters: Any = None
    allow_external_links: Any = None
    allow_subdomains: Any = None
    ignore_robots_txt: Any = None
    robots_user_agent: Any = None
    webhook: Any = None
    regex_on_full_url: Any = field(default=None, name="regexOnFullURL")
    zero_data_retention: Any = None


def request_of(asked: CrawlRequest, *, most_pages: int, pause_s: float) -> RetrieveRequest:
    """Return the job for a crawl.

    most_pages: pages of a site that are read here at most; pause_s: seconds that a host rests between requests.

    Raises:
        Unsupported: a field that the engine would leave out of account.
        Invalid: no plain address of the web, or a prompt that says nothing.
    """
    check_address(asked.url, "url")
    if asked.prompt is not None:
        check_text("prompt", asked.prompt, layout=True)
    refuse_unsupported(asked, _UNSUPPORTED)
    if asked.sitemap != "include":
        raise Unsupported("A sitemap is read where robots.txt names one.", field="sitemap")
    if asked.delay is not None and asked.delay > pause_s:
        raise Unsupported("A host rests for less than that here.", field="delay")
    options = asked.scrape_options
    if not options.only_main_content or any(not _is_markdown(each) for each in options.formats):
        raise Unsupported("The main text as markdown is all there is.", field="scrapeOptions")
    pages = min(asked.limit or most_pages, most_pages)
    if pages > 1 and not asked.crawl_entire_domain and not _is_front(asked.url):
        message = "A whole host is crawled: start at its front page, or say crawlEntireDomain."
        raise Unsupported(message, field="url")
    return RetrieveRequest(
        query=asked.prompt or EVERYTHING,
        depth="deep",
        budget=Budget(fetches=pages),
        constraints=Constraints(source_prefs=SourcePrefs(only=(f"{SITE}{asked.url}",))),
    )


def _is_markdown(wanted: object) -> bool:
    return wanted in ("markdown", {"type": "markdown"})


def _is_front(url: str) -> bool:
    parts = urlsplit(url)
    return parts.path in {"", "/"} and not parts.query


def clamped(asked: CrawlRequest, *, most_pages: int) -> str | None:
    """Return the warning for a caller who may expect more pages than are read here; None where there is none."""
    if asked.limit is not None and asked.limit <= most_pages:
        return None
    return f"at most {most_pages} pages of a site are read here (sources.site.max_pages)"


def is_crawl(request: object) -> bool:
    """Return whether a job is one that this face made, or might have."""
    if not isinstance(request, RetrieveRequest):
        return False
    only = request.constraints.source_prefs.only
    return len(only) == 1 and only[0].startswith(SITE)
