"""Tavily's search on the wire: what its callers send and what they read."""

from typing import Annotated, Any, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

_DEFAULT_RESULTS: Final = 5  # as Tavily's

Day = Annotated[str, Meta(pattern=r"^\d{4}-\d{2}-\d{2}$")]
Sites = Annotated[tuple[str, ...], Meta(max_length=300)]
Language = Annotated[str, Meta(pattern=r"^[a-z]{2}(-[A-Za-z]{2,4})?$")]
Answering = bool | Literal["basic", "advanced"]


class TavilySearch(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A search as Tavily's callers send it.

    days: of news alone, as there. api_key: the caller's token here; it is read at the door and goes no further. Fields
    of type Any are refused by name unless they ask for nothing.
    """

    query: Annotated[str, Meta(min_length=1, max_length=400)]
    api_key: str | None = None
    search_depth: Literal["basic", "advanced", "fast", "ultra-fast"] = "basic"
    topic: Literal["general", "news", "finance"] = "general"
    time_range: Literal["day", "week", "month", "year", "d", "w", "m", "y"] | None = None
    start_date: Day | None = None
    end_date: Day | None = None
    days: Annotated[int, Meta(ge=1, le=3650)] | None = None
    max_results: Annotated[int, Meta(ge=1, le=20)] = _DEFAULT_RESULTS
    chunks_per_source: Annotated[int, Meta(ge=1, le=3)] | None = None
    include_domains: Sites | None = None
    exclude_domains: Sites | None = None
    include_domains_mode: Literal["restrict", "prefer"] = "restrict"
    include_answer: Answering = False
    include_usage: bool = False
    use_cache: bool = True
    language: Language | None = None
    include_raw_content: Any = None
    include_images: Any = None
    include_image_descriptions: Any = None
    include_favicon: Any = None
    auto_parameters: Any = None
    country: Any = None
    exact_match: Any = None
    safe_search: Any = None
    filter_by_language: Any = None
    max_age_hours: Any = None
    fetch_timeout: Any = None
    cache_fallback: Any = None


class TavilyHit(Struct, frozen=True, kw_only=True):
    """One result. score: 0..1; published_date: for news alone, as mail writes dates."""

    title: str
    url: str
    content: str
    score: float
    raw_content: None = None
    published_date: str | UnsetType = UNSET


class Credits(Struct, frozen=True, kw_only=True):
    """How many requests to search services were made."""

    credits: int


class TavilyReply(Struct, frozen=True, kw_only=True):
    """The answer. warnings: ours, absent where there is nothing to say; response_time in seconds."""

    query: str
    results: tuple[TavilyHit, ...]
    response_time: float
    request_id: str
    answer: str | None = None
    images: tuple[str, ...] = ()
    follow_up_questions: None = None
    usage: Credits | UnsetType = UNSET
    warnings: tuple[str, ...] | UnsetType = UNSET
