"""Firecrawl's `/v2/search` over the engine: its request becomes ours, our result becomes its reply. Pure.

Descriptions are what the sources sent: no page is read for a search, so that scrape options are refused.
"""

import re
from collections.abc import Sequence
from datetime import date
from typing import Final

from msgspec import UNSET
from signal_search.contracts.search import SearchConstraints, SearchRequest
from signal_search.contracts.search_plan import SearchIntent
from signal_search.contracts.search_result import SearchHit, SearchResult
from signal_search.errors import Invalid, Unsupported

from api_gateway.checks import check_freshness
from api_gateway.compat.asked import MOST_HITS, NEWS_AGE, between, domains, refuse_unsupported
from api_gateway.compat.firecrawl_wire import (
    FirecrawlHits,
    FirecrawlReply,
    FirecrawlSearch,
    Kind,
    NewsHit,
    WebHit,
)
from api_gateway.compat.told import of_sites, refuse_unreached, searches, warnings

_UNSUPPORTED: Final = (
    "scrapeOptions",
    "location",
    "country",
    "highlights",
    "enterprise",
    "threatProtection",
    "domainTools",
    "toolDetail",
)
_AGES: Final = {"d": "pd", "w": "pw", "m": "pm", "y": "py"}
_RANGE: Final = re.compile(r"cdr:1(?:,cd_min:([\d/]{8,10}))?(?:,cd_max:([\d/]{8,10}))?")
_PER_SOURCE: Final = 20  # as many as every service gives in one page
_SOURCES: Final[dict[str, tuple[str, ...]]] = {
    "github": ("github",),
    "research": ("openalex", "arxiv", "semanticscholar", "crossref"),
}


def request_of(asked: FirecrawlSearch, today: date, *, usual_s: float) -> SearchRequest:
    """Return the engine's search for one of Firecrawl's; usual_s: how long a search takes that names no time.

    Raises:
        Unsupported: a field, source or category that the engine has nothing for.
        Invalid: fields that contradict each other, a domain or a time filter that is none.
    """
    refuse_unsupported(asked, _UNSUPPORTED)
    if asked.include_domains and asked.exclude_domains:
        message = "includeDomains and excludeDomains cannot both be set."
        raise Invalid(message, field="excludeDomains")
    is_chosen = bool(
        domains(asked.include_domains or (), "includeDomains")
        or domains(asked.exclude_domains or (), "excludeDomains")
    )
    news = is_news(asked)
    chosen = _chosen(asked)
    return SearchRequest(
        query=asked.query,
        sources=chosen or None,
        mode=None if news else ("fused" if chosen else "deep"),
        intent=SearchIntent.NEWS if news else None,
        ranking=UNSET if news else None,
        freshness=_freshness(_tbs(asked), today) or (NEWS_AGE if news else None),
        domain_boost=(asked.include_domains or ())[:50],
        num=_PER_SOURCE if is_chosen else min(asked.limit, _PER_SOURCE),
        max_results=MOST_HITS if is_chosen else asked.limit,
        constraints=SearchConstraints(deadline_s=min(asked.timeout / 1000, usual_s)),
    )


def is_news(asked: FirecrawlSearch) -> bool:
    """Return whether news are wanted, and not the web.

    Raises:
        Unsupported: images, another source, or both kinds at once, which would be two searches.
    """
    kinds = _types(asked.sources or ())
    if kinds in ((), ("web",)):
        return False
    if kinds == ("news",) and not asked.categories:
        return True
    raise Unsupported("One of web and news is searched at a time.", field="sources")


def _chosen(asked: FirecrawlSearch) -> tuple[str, ...]:
    found: list[str] = []
    for at, kind in enumerate(_types(asked.categories or ())):
        if kind not in _SOURCES:
            known = "The categories here are github and research."
            raise Unsupported(known, field=f"categories[{at}]")
        found += _SOURCES[kind]
    return tuple(found)


def _types(kinds: Sequence[str | Kind]) -> tuple[str, ...]:
    names = (each if isinstance(each, str) else each.type for each in kinds)
    return tuple(dict.fromkeys(names))


def _tbs(asked: FirecrawlSearch) -> str | None:
    """Return the time filter, of the request or of its one source."""
    kinds = [each for each in asked.sources or () if isinstance(each, Kind)]
    if any(each.location for each in kinds):
        raise Unsupported("This is not supported here.", field="sources[0].location")
    return asked.tbs or next((each.tbs for each in kinds if each.tbs), None)


def _freshness(tbs: str | None, today: date) -> str | None:
    if not tbs:
        return None
    kind, _, age = tbs.partition(":")
    if kind == "qdr" and age in _AGES:
        return _AGES[age]
    found = _RANGE.fullmatch(tbs)
    if found is None:
        raise Unsupported("qdr:d, qdr:w, qdr:m, qdr:y or cdr:1 with its days.", field="tbs")
    days = between(_day(found[1]), _day(found[2]), today)
    check_freshness(days, "tbs")
    return days


def _day(text: str | None) -> str | None:
    if text is None:
        return None
    try:
        month, day, year = (int(each) for each in text.split("/"))
        return date(year, month, day).isoformat()
    except ValueError:
        raise Invalid("A day is written MM/DD/YYYY.", field="tbs") from None


def reply_of(asked: FirecrawlSearch, result: SearchResult) -> FirecrawlReply:
    """Return Firecrawl's reply for the engine's result.

    Raises:
        Failed: no source could be reached.
    """
    refuse_unreached(result)
    wanted, unwanted = asked.include_domains or (), asked.exclude_domains or ()
    hits = of_sites(
        result.hits,
        wanted=domains(wanted, "includeDomains"),
        unwanted=domains(unwanted, "excludeDomains"),
    )[: asked.limit]
    if is_news(asked):
        data = FirecrawlHits(news=tuple(_news(each, at) for at, each in enumerate(hits, 1)))
    else:
        data = FirecrawlHits(web=tuple(_web(each, at) for at, each in enumerate(hits, 1)))
    return FirecrawlReply(
        id=result.job_id,
        credits_used=searches(result),
        data=data,
        warning="; ".join(warnings(result)) or None,
    )


def _web(hit: SearchHit, position: int) -> WebHit:
    kinds = [name for name, ids in _SOURCES.items() if set(hit.sources) & set(ids)]
    return WebHit(
        url=hit.url,
        title=hit.title,
        description=hit.snippet or hit.abstract,
        position=position,
        category=kinds[0] if kinds else UNSET,
    )


def _news(hit: SearchHit, position: int) -> NewsHit:
    return NewsHit(
        url=hit.url,
        title=hit.title,
        snippet=hit.snippet or hit.abstract,
        position=position,
        date=hit.published_date or UNSET,
    )
