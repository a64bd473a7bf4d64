"""Arguments of `search` and `survey_search` -> checked requests, so that a mistake is told before anything is sent."""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, TypeVar, Unpack

import msgspec

from signal_search.client.request import checked
from signal_search.contracts.budget import Budget
from signal_search.contracts.scorer import ScorerProgram
from signal_search.contracts.search import (
    RankingMode,
    SearchConstraints,
    SearchRequest,
    SurveyRequest,
    SurveyRules,
)
from signal_search.contracts.search_plan import SearchIntent, SearchMode
from signal_search.errors import Invalid

T = TypeVar("T", bound=msgspec.Struct)


class SearchOptions(TypedDict, total=False):
    """What a search may say besides its query: the fields of `SearchRequest`."""

    queries: Sequence[str]
    doi: str
    arxiv_id: str
    title: str
    sources: Sequence[str]
    mode: SearchMode
    intent: SearchIntent | str
    freshness: str
    domain_boost: Sequence[str]
    num: int
    max_results: int
    ranking: RankingMode | None
    scorer: ScorerProgram | Mapping[str, str]
    explain: bool
    agent: bool
    constraints: SearchConstraints | Mapping[str, Any]
    budget: int | Budget | Mapping[str, int]
    result_ttl_s: int


class SurveyOptions(TypedDict, total=False):
    """What a survey may say besides its goal: the fields of `SurveyRequest`."""

    queries: Sequence[str]
    rules: SurveyRules | Mapping[str, Any]
    sources: Sequence[str]
    max_results: int
    agentic: bool
    constraints: SearchConstraints | Mapping[str, Any]
    result_ttl_s: int


def build_search(query: str | None = None, **options: Unpack[SearchOptions]) -> SearchRequest:
    """Return the request of a search. An explicit `ranking=None` asks for the fixed formula, as null does over HTTP.

    Raises:
        Invalid: a field that does not exist, or a value out of its bounds; `field` says which.
    """
    named = {"query": query} if query is not None else {}
    return _built({**named, **options}, SearchRequest)


def build_survey(goal: str, **options: Unpack[SurveyOptions]) -> SurveyRequest:
    """Return the request of a survey; raises as `build_search`."""
    return _built({"goal": goal, **options}, SurveyRequest)


def _built(values: Mapping[str, object], kind: type[T]) -> T:
    known = {each.encode_name for each in msgspec.structs.fields(kind)}
    strange = sorted(values.keys() - known)
    if strange:
        raise Invalid("there is no such option", field=strange[0])
    return checked(values, kind, "")
