"""The figures that the pure part of a job depends on, as a snapshot that goes into its log.

A replay needs no settings: the same log gives the same answer; and it can be folded again with other figures.
"""

from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from infra.settings import Settings
from scoring.claims.rules import VerifyRules
from scoring.identity import site_of
from scoring.sba import SbaRules
from scoring.stop_rule import StopRules
from workers.pipeline.state import JobView


class SiteRules(Struct, frozen=True, kw_only=True):
    """Limits of a crawl of one site."""

    max_pages: int
    max_depth: int


class Rules(Struct, frozen=True, kw_only=True):
    """Everything that deciding and publishing look up."""

    sba: SbaRules
    stop: StopRules
    verify: VerifyRules
    site: SiteRules
    passage_tokens: int
    conflict_ratio: float
    max_redirects: int
    max_follow_ups: int = 5
    max_hits: int = 10
    domain_boost: float = 0.2
    page_ttl_s: int = 1800


def snapshot(settings: Settings) -> Rules:
    """Return the rules of these settings."""
    plain: dict[str, Any] = settings.model_dump(include={"sba", "stop", "verify"})
    return msgspec.convert(
        {
            **plain,
            "site": settings.sources.site.model_dump(exclude={"max_links"}),
            "passage_tokens": settings.planning.passage_tokens,
            "conflict_ratio": settings.sba.preferences.conflict_ratio,
            "max_redirects": settings.fetch.max_redirects,
            "max_hits": settings.search.max_results,
            "domain_boost": settings.search.domain_boost,
            "page_ttl_s": settings.adaptive.page_ttl_s,
        },
        Rules,
    )


def stop_rules_for(view: JobView, rules: Rules, heard_sites: int) -> StopRules:
    """Return the stop rule's figures for a job: no more agreement than there are voices, and a whole round quiet.

    A round of many calls is not over because the first few of them, all to one source, brought nothing.
    `heard_sites`: the independent sites among the documents so far.
    """
    voices = max(1, heard_sites, _voices(view))
    asked = sum(not each.call.shared for each in view.active_calls())
    stop = rules.stop
    return replace(
        stop,
        agreement=min(stop.agreement, voices),
        min_sources=min(stop.min_sources, voices),
        quiet_arrivals=max(stop.quiet_arrivals, asked),
        quiet_arrivals_wide=max(stop.quiet_arrivals_wide, asked),
        saturated_arrivals=max(stop.saturated_arrivals, asked),
    )


def _voices(view: JobView) -> int:
    """Return how many can say the same: each source, or, where one leads on to pages, the sites of those pages."""
    sources = {each.call.source_id for each in view.calls.values()}
    pages = {
        site_of(each.queued.request.url)
        for each in view.fetches()
        if each.queued is not None and each.queued.request.kind == "page"
    }
    return max(len(sources), len(pages))


def to_log(rules: Rules) -> dict[str, object]:
    """Return rules as plain data for a log entry."""
    plain: dict[str, object] = msgspec.to_builtins(rules)
    return plain


def from_log(plain: dict[str, object]) -> Rules:
    """Return the rules in a log entry."""
    return msgspec.convert(plain, Rules)
