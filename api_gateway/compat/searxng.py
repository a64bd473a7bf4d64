"""SearXNG's `/search?format=json` over the engine: its parameters become our search, our result its reply. Pure.

Pages are cut from one and the same search, so that no hit comes on two of them. What a page of settings sends besides
(theme, image_proxy, autocomplete) is left out of account, as there; a filter of explicit hits is named as not applied.
"""

from typing import Any, Final
from urllib.parse import urlsplit

from msgspec import UNSET, Struct, UnsetType
from signal_search.contracts.search import SearchConstraints, SearchRequest
from signal_search.contracts.search_plan import SearchIntent, SearchMode
from signal_search.contracts.search_result import SearchHit, SearchResult
from signal_search.errors import Invalid

from api_gateway.compat.asked import MOST_HITS, NEWS_AGE
from api_gateway.compat.searxng_fields import SearxngSearch
from api_gateway.compat.told import notes

_PAGE: Final = 10  # results on a page, as many as each source is asked for

_IT: Final = (
    "github",
    "stackexchange",
    "mdn",
    "hackernews",
)  # what its category of that name asks, and is here
_PARAMETERS: Final = {"query": "q", "sources": "engines"}


class SearxngHit(Struct, frozen=True, kw_only=True):
    """One result. positions: its place among the hits; score: the engine's, else one divided by the place."""

    url: str
    title: str
    content: str
    engine: str
    engines: tuple[str, ...]
    parsed_url: tuple[str, ...]
    positions: tuple[int, ...]
    score: float
    category: str
    publishedDate: str | None  # noqa: N815  the API's own spelling
    pubdate: str
    author: str
    metadata: str
    template: str = "default.html"
    thumbnail: str = ""
    img_src: str = ""
    priority: str = ""


class SearxngReply(Struct, frozen=True, kw_only=True):
    """The answer. unresponsive_engines: pairs of source and reason; warnings: ours, absent where there are none."""

    query: str
    number_of_results: int
    results: tuple[SearxngHit, ...]
    unresponsive_engines: tuple[tuple[str, str], ...]
    answers: tuple[str, ...] = ()
    corrections: tuple[str, ...] = ()
    infoboxes: tuple[dict[str, Any], ...] = ()
    suggestions: tuple[str, ...] = ()
    warnings: tuple[str, ...] | UnsetType = UNSET


def request_of(asked: SearxngSearch) -> SearchRequest:
    """Return the engine's search: news by its intent, science and everything else by the fixed formula."""
    is_news = asked.category == "news"
    return SearchRequest(
        query=asked.query,
        sources=_sources(asked) or None,
        mode=_mode(asked),
        intent=SearchIntent.NEWS if is_news else None,
        ranking=UNSET if is_news else None,
        freshness=asked.freshness or (NEWS_AGE if is_news else None),
        num=_PAGE,
        max_results=MOST_HITS,
        constraints=SearchConstraints(language=asked.language),
    )


def in_its_words(error: Invalid) -> Invalid:
    """Return a refusal of the engine's search that names SearXNG's parameter."""
    name = (error.field or "").partition("[")[0]
    return Invalid(error.message, field=_PARAMETERS.get(name, name) or None)


def _mode(asked: SearxngSearch) -> SearchMode | None:
    if asked.category == "news":
        return None
    return "fused" if asked.category == "science" or _sources(asked) else "deep"


def _sources(asked: SearxngSearch) -> tuple[str, ...]:
    return asked.engines or (_IT if asked.category == "it" else ())


def reply_of(asked: SearxngSearch, result: SearchResult) -> SearxngReply:
    """Return SearXNG's reply for the engine's result; silent sources are told there, so that none is an error."""
    first = (asked.page - 1) * _PAGE
    shown = result.hits[first : first + _PAGE]
    told = list(notes(result))
    if asked.is_filtered:
        told.append("safesearch: not applied; the sources are searched as they are")
    return SearxngReply(
        query=asked.query,
        number_of_results=result.count,
        results=tuple(_hit(each, asked.category, at) for at, each in enumerate(shown, first + 1)),
        unresponsive_engines=tuple(result.errors.items()),
        warnings=tuple(told) or UNSET,
    )


def _hit(hit: SearchHit, category: str, position: int) -> SearxngHit:
    is_full = len(hit.published_date) == len("2026-05-28")
    return SearxngHit(
        url=hit.url,
        title=hit.title,
        content=hit.snippet or hit.abstract,
        engine=hit.sources[0] if hit.sources else "",
        engines=hit.sources,
        parsed_url=_parts(hit.url),
        positions=(position,),
        score=round(hit.score if hit.score is not UNSET else 1 / position, 4),
        category=category,
        publishedDate=f"{hit.published_date}T00:00:00" if is_full else None,
        pubdate=hit.published_date,
        author=", ".join(hit.authors),
        metadata=hit.venue,
    )


def _parts(url: str) -> tuple[str, ...]:
    """Return scheme, host, path, parameters, query and fragment; what stands behind a semicolon stays in the path."""
    try:
        parts = urlsplit(url)
    except ValueError:  # a source may call anything an address
        return ("", "", url, "", "", "")
    return (parts.scheme, parts.netloc, parts.path, "", parts.query, parts.fragment)
