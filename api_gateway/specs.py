"""From a request of any kind to what is stored of it, and what every kind has in its own way: words, names, time."""

import re
from typing import Any, get_args

from signal_search.contracts.adaptive import AdaptiveRequest
from signal_search.contracts.job import (
    AdaptiveSpec,
    AnyRequest,
    AnySpec,
    Job,
    MemorySpec,
    ResearchSpec,
    RetrieveSpec,
    SearchSpec,
    SurveySpec,
)
from signal_search.contracts.memory import MemoryRequest
from signal_search.contracts.query import MEMORY_SOURCE, RetrieveRequest
from signal_search.contracts.research import ResearchRequest
from signal_search.contracts.search import (
    FOREIGN_SOURCES,
    SOURCE_NAMES,
    SearchRequest,
    SurveyRequest,
)
from signal_search.errors import Broken

from infra.settings import Settings, TierName

_GRACE_S = 10.0  # after the deadline: time to order, to summarise and to publish what is there
_PREFIX = re.compile(r"^\s*/signal\s+(L[0-3])\s+(?=\S)", re.IGNORECASE)
_DEPTHS: dict[str, TierName] = {"quick": "L1", "standard": "L2", "deep": "L3"}
_TIERS: dict[str, TierName] = {each: each for each in get_args(TierName)}
_UNKNOWN_TIER: TierName = "L3"  # the planner chooses a lower one and ends earlier
_SPECS: dict[type[Any], type[Any]] = {
    RetrieveRequest: RetrieveSpec,
    SearchRequest: SearchSpec,
    SurveyRequest: SurveySpec,
    AdaptiveRequest: AdaptiveSpec,
    ResearchRequest: ResearchSpec,
    MemoryRequest: MemorySpec,
}


def spec_of(request: AnyRequest, **facts: Any) -> AnySpec:
    """Return the specification of a job for a request; `facts` are the fields that all kinds share.

    Raises:
        Broken: no kind has such requests.
    """
    try:
        made: AnySpec = _SPECS[type(request)](request=request, **facts)
    except KeyError as error:
        raise Broken from error
    return made


def words_of(spec: AnySpec) -> str:
    """Return what a job is about, for lists: the question, the first query or identifier, the goal."""
    if isinstance(spec, RetrieveSpec | ResearchSpec):
        return spec.request.query
    if isinstance(spec, MemorySpec):
        return ""  # nothing of what is kept there
    if isinstance(spec, SurveySpec):
        return spec.request.goal
    if isinstance(spec, AdaptiveSpec):
        return _first_question(spec.request)
    return _of_search(spec)


def _first_question(asked: AdaptiveRequest) -> str:
    if isinstance(asked.questions, tuple):
        return asked.questions[0]
    return asked.tasks[0].targets[0].question if isinstance(asked.tasks, tuple) else ""


def _of_search(spec: SearchSpec) -> str:
    asked = spec.request
    given = (asked.query, *asked.queries, asked.title, asked.doi, asked.arxiv_id)
    return next((each for each in given if each), "")


def named_sources(request: AnyRequest) -> tuple[tuple[str, ...], str]:
    """Return the sources that a request names, by the ids of the catalogue, and the field they stand in.

    Names of the scorer guide that this catalogue has no row for are left out: they are told as not configured.
    """
    if isinstance(request, RetrieveRequest):
        only = request.constraints.source_prefs.only
        return tuple(
            each for each in only if each != MEMORY_SOURCE
        ), "constraints.source_prefs.only"
    if isinstance(request, ResearchRequest | MemoryRequest):
        return (), "sources"
    names = (SOURCE_NAMES.get(each, each) for each in request.sources or ())
    return tuple(each for each in names if each not in FOREIGN_SOURCES), "sources"


def deadline_s(request: AnyRequest, settings: Settings) -> float:
    """Return the seconds a job may take: as the request says, else as is usual for its kind and tier."""
    if request.constraints.deadline_s is not None:
        return request.constraints.deadline_s
    if isinstance(request, RetrieveRequest):
        return settings.jobs.deadline_s[tier_of(request)]
    if isinstance(request, AdaptiveRequest):
        return settings.adaptive.deadline_s
    if isinstance(request, ResearchRequest | MemoryRequest):
        return settings.research.deadline_s
    is_search = isinstance(request, SearchRequest)
    return settings.search.deadline_s if is_search else settings.search.survey_deadline_s


def patience_s(job: Job, settings: Settings) -> float:
    """Return how long a search's caller waits: to its deadline and a little, but never longer than anybody may."""
    left_s = (job.deadline_ms - job.created_at_ms) / 1000 + _GRACE_S
    return min(left_s, settings.gateway.max_wait_s)


def tier_of(request: RetrieveRequest) -> TierName:
    """Return the tier the caller ordered (prefix, then depth, then required_tier), L2 when the planner decides."""
    prefix = _PREFIX.match(request.query)
    if prefix is not None:
        return _TIERS[prefix[1].upper()]
    if request.depth is not None:
        return _DEPTHS[request.depth]
    return _TIERS.get(request.constraints.required_tier or "", _UNKNOWN_TIER)
