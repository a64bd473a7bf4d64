"""What a search asks: one request for the search guide and the scorer guide, and the survey's own.

Fields that only one of the documents knows are optional here; names of both that mean the same are kept, so that
callers of either need no change.
"""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from signal_search.contracts.budget import Budget, Limit
from signal_search.contracts.query import FRESHNESS_PATTERN, Name
from signal_search.contracts.scorer import ScorerProgram
from signal_search.contracts.search_plan import SearchIntent, SearchMode
from signal_search.contracts.texts import QueryText

RankingMode = Literal["auto", "scorer"]
Identity = Annotated[str, Meta(max_length=500)]
Freshness = Annotated[str, Meta(pattern=FRESHNESS_PATTERN)]
Sources = Annotated[tuple[Name, ...], Meta(max_length=32)]
HitCount = Annotated[int, Meta(ge=1, le=100)]
Year = Annotated[int, Meta(ge=1600, le=2100)]
ResultTtl = Annotated[int, Meta(ge=60, le=2_592_000)]


class SearchConstraints(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Language of what is searched, and after how many seconds the search answers with what it has."""

    language: Annotated[str, Meta(pattern=r"^[a-z]{2}(-[A-Za-z]{2,4})?$")] | None = None
    deadline_s: Annotated[float, Meta(gt=0, le=600)] | None = None


class SearchRequest(Struct, frozen=True, kw_only=True):
    """A search as submitted.

    At least one of query, queries, doi, arxiv_id and title. num: hits from each source and query; max_results: hits in
    the answer. ranking: absent or null, the fixed formula; auto, weights chosen by the operator's model; scorer, the
    program in `scorer`. agent: add a summary by the operator's model.

    Fields that are not known are left out of account and not refused: callers of the scorer guide rely on that. So keys
    of sources that a caller may send are never read, stored or logged.
    """

    query: Annotated[str, Meta(max_length=4000)] | None = None
    queries: Annotated[tuple[QueryText, ...], Meta(max_length=10)] = ()
    doi: Identity | None = None
    arxiv_id: Identity | None = None
    title: Identity | None = None
    sources: Sources | None = None
    mode: SearchMode | None = None
    intent: SearchIntent | None = None
    freshness: Freshness | None = None
    domain_boost: Annotated[tuple[Name, ...], Meta(max_length=50)] = ()
    num: HitCount | None = None
    max_results: HitCount | None = None
    ranking: RankingMode | UnsetType | None = UNSET
    scorer: ScorerProgram | None = None
    explain: bool = False
    agent: bool = False
    constraints: SearchConstraints = SearchConstraints()
    budget: Limit | Budget | None = None
    result_ttl_s: ResultTtl | None = None


class SurveyRules(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which papers count, and in which order. Authors and venues: any of the named, as a part of theirs."""

    authors: Annotated[tuple[Name, ...], Meta(max_length=50)] = ()
    venues: Annotated[tuple[Name, ...], Meta(max_length=50)] = ()
    year_from: Year | None = None
    year_to: Year | None = None
    min_citations: Annotated[int, Meta(ge=0, le=10**9)] | None = None
    sort: Literal["relevance", "newest", "citations"] = "relevance"


class SurveyRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A survey as submitted: a goal is looked at from several sides.

    queries: the sides, one search each; without them they follow from the goal. agentic: the operator's model may name
    them instead. There is no ranking program here.
    """

    goal: Annotated[str, Meta(min_length=1, max_length=16_000)]
    queries: Annotated[tuple[QueryText, ...], Meta(max_length=6)] = ()
    rules: SurveyRules = SurveyRules()
    sources: Sources | None = None
    max_results: HitCount | None = None
    agentic: bool = False
    constraints: SearchConstraints = SearchConstraints()
    result_ttl_s: ResultTtl | None = None


SOURCE_NAMES = {"semantic_scholar": "semanticscholar"}
"""Names of sources in the scorer guide -> ids of the catalogue, where they differ."""

FOREIGN_SOURCES = frozenset(
    {"ads", "catalog", "ieee", "kagi", "openaire", "rag", "scopus", "serper", "springer"}
)
"""Names that callers of the scorer guide may give and that no row here answers to: not configured, and no error."""
