"""What is added to a reply that is kept: until when its host rests, what allowed the fetch, where sitemaps are."""

from msgspec.structs import replace
from signal_search.contracts.source import FetchOutcome, FetchState, Request

from workers.fetching.robots import RobotsRecord
from workers.fetching.stored_reply import Kept

_MAX_SITEMAPS = 3


def with_until(kept: Kept, suspend_ms: int, now_ms: int) -> Kept:
    """Say when a host may be asked again whose own words do not, where nothing came of the request."""
    outcome = kept.reply.outcome
    if not suspend_ms or outcome.state is FetchState.FETCHED or outcome.until_ms is not None:
        return kept
    told = replace(outcome, until_ms=now_ms + suspend_ms)
    return replace(kept, reply=replace(kept.reply, outcome=told))


def with_robots_line(outcome: FetchOutcome, robots: str) -> FetchOutcome:
    """Add what allowed a fetch to its decisions."""
    if not robots:
        return outcome
    return replace(outcome, decisions={"robots": robots, **outcome.decisions})


def with_sitemaps(request: Request, kept: Kept, record: RobotsRecord | None) -> Kept:
    """Add the sitemaps that robots.txt names to the start page of a site crawl."""
    outcome = kept.reply.outcome
    if not request.site or request.depth or request.kind != "page" or record is None:
        return kept
    sitemaps = [url for url in record.sitemaps if url.startswith(request.site)][:_MAX_SITEMAPS]
    asked = tuple(replace(request, url=url, kind="sitemap") for url in sitemaps)
    known = outcome.parsed.requests
    added = (each for each in asked if each not in known)  # a renewed reply has them already
    parsed = replace(outcome.parsed, requests=(*known, *added))
    return replace(kept, reply=replace(kept.reply, outcome=replace(outcome, parsed=parsed)))
