"""Tavily's `/search` over the engine: its request becomes ours, our result becomes its reply. Pure.

Snippets are what the sources sent: no page is read for a search. Domains are chosen among the hits, whatever a source
makes of them. What the engine cannot honour is refused by name.
"""

from datetime import UTC, date, datetime
from email.utils import format_datetime
from typing import Final

from msgspec import UNSET
from signal_search.contracts.search import SearchConstraints, SearchRequest
from signal_search.contracts.search_plan import SearchIntent, SearchMode
from signal_search.contracts.search_result import SearchHit, SearchResult
from signal_search.errors import Invalid, Unsupported

from api_gateway.checks import check_freshness
from api_gateway.compat.asked import (
    MOST_HITS,
    PAST,
    between,
    domains,
    past_days,
    refuse_unsupported,
)
from api_gateway.compat.tavily_wire import Credits, TavilyHit, TavilyReply, TavilySearch
from api_gateway.compat.told import of_sites, refuse_unreached, searches, shares, warnings

_UNSUPPORTED: Final = (
    "include_raw_content",
    "include_images",
    "include_image_descriptions",
    "include_favicon",
    "auto_parameters",
    "country",
    "exact_match",
    "safe_search",
    "filter_by_language",
    "max_age_hours",
    "fetch_timeout",
    "cache_fallback",
)
_LEAST_ASKED: Final = 5  # search guide: hits that a source is asked for with each query
_MODES: Final[dict[str, SearchMode]] = {
    "basic": "fast",
    "fast": "fast",
    "ultra-fast": "fast",
    "advanced": "fused",
}
_MOST_ASKED: Final = 20  # as many as every service gives in one page
_MOST_BOOSTED: Final = 50  # the engine's own limit
_FULL_DATE: Final = len("2026-05-28")


def request_of(asked: TavilySearch, today: date) -> SearchRequest:
    """Return the engine's search for one of Tavily's.

    Raises:
        Unsupported: a field that the engine would leave out of account.
        Invalid: fields that contradict each other, or a domain that is none.
    """
    refuse_unsupported(asked, _UNSUPPORTED)
    if not asked.use_cache:
        raise Unsupported("A reply that is fresh is not asked for again.", field="use_cache")
    if asked.topic == "finance":
        raise Invalid("The topics here are general and news.", field="topic")
    wanted = domains(asked.include_domains or (), "include_domains")
    unwanted = domains(asked.exclude_domains or (), "exclude_domains")
    is_news = asked.topic == "news"
    is_chosen = bool(unwanted) or (bool(wanted) and asked.include_domains_mode == "restrict")
    most = MOST_HITS if is_chosen else asked.max_results
    return SearchRequest(
        query=asked.query,
        mode=None if is_news else _MODES[asked.search_depth],
        intent=SearchIntent.NEWS if is_news else None,
        ranking=UNSET if is_news else None,
        freshness=_freshness(asked, today),
        domain_boost=wanted[:_MOST_BOOSTED],
        num=_MOST_ASKED if is_chosen else max(_LEAST_ASKED, most),
        max_results=most,
        agent=asked.include_answer == "advanced",
        constraints=SearchConstraints(language=asked.language),
    )


def _freshness(asked: TavilySearch, today: date) -> str | None:
    has_range = asked.start_date is not None or asked.end_date is not None
    if asked.days is not None and has_range:
        raise Invalid("When days is set, start_date or end_date cannot be set.", field="days")
    is_by_days = asked.days is not None and asked.topic == "news"
    if asked.time_range is not None and (has_range or is_by_days):
        raise Invalid("time_range cannot be set with another time filter.", field="time_range")
    if asked.time_range is not None:
        return PAST[asked.time_range]
    if asked.days is not None and is_by_days:
        return past_days(asked.days, today)
    if not has_range and asked.topic == "news":
        return PAST["week"]  # Tavily's own default for news is seven days
    found = between(asked.start_date, asked.end_date, today)
    check_freshness(found, "start_date" if asked.start_date else "end_date")
    return found


def reply_of(
    asked: TavilySearch, result: SearchResult, *, took_s: float, request_id: str
) -> TavilyReply:
    """Return Tavily's reply for the engine's result; took_s: seconds since the request.

    Raises:
        Failed: no source could be reached.
    """
    refuse_unreached(result)
    restricts = asked.include_domains_mode == "restrict"
    hits = of_sites(
        result.hits,
        wanted=domains(asked.include_domains or (), "include_domains") if restricts else (),
        unwanted=domains(asked.exclude_domains or (), "exclude_domains"),
    )
    scores = shares(result.hits)
    return TavilyReply(
        query=asked.query,
        answer=_answer(result) if asked.include_answer else None,
        results=tuple(_hit(each, asked, scores[each.url]) for each in hits[: asked.max_results]),
        response_time=round(took_s, 2),
        request_id=request_id,
        usage=Credits(credits=searches(result)) if asked.include_usage else UNSET,
        warnings=_warnings(asked, result) or UNSET,
    )


def _warnings(asked: TavilySearch, result: SearchResult) -> tuple[str, ...]:
    """Return what is missing; days are for news there too, and callers send them with everything."""
    is_idle = asked.days is not None and asked.topic != "news"
    own = ("days: not applied; only news are searched by days",) if is_idle else ()
    return (*warnings(result), *own)


def _answer(result: SearchResult) -> str | None:
    """Return the model's summary, else a source's own answer, else the sentence that the hits agree on."""
    if result.conclusion:
        return result.conclusion
    if result.answer is not UNSET and result.answer:
        return result.answer
    said = result.synthesis.answer
    return said.text if said is not None else None


def _hit(hit: SearchHit, asked: TavilySearch, score: float) -> TavilyHit:
    is_dated = asked.topic == "news" and len(hit.published_date) == _FULL_DATE
    return TavilyHit(
        title=hit.title,
        url=hit.url,
        content=hit.snippet or hit.abstract,
        score=score,
        published_date=_mail_date(hit.published_date) if is_dated else UNSET,
    )


def _mail_date(day: str) -> str:
    return format_datetime(datetime.fromisoformat(day).replace(tzinfo=UTC), usegmt=True)
