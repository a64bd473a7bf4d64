"""The table of job kinds: what a job's specification is -> the strategy that carries it out."""

from signal_search.contracts.job import (
    AdaptiveSpec,
    AnySpec,
    JobSpec,
    MemorySpec,
    ResearchSpec,
    RetrieveSpec,
    SearchSpec,
    SurveySpec,
)
from signal_search.errors import Broken

from workers.pipeline.adaptive_job import AdaptiveJob
from workers.pipeline.memory_job import MemoryJob
from workers.pipeline.research_job import ResearchJob
from workers.pipeline.retrieve_job import RetrieveJob
from workers.pipeline.search_job import SearchJob
from workers.pipeline.strategy import Strategy
from workers.pipeline.survey_job import SurveyJob

_KINDS: dict[type[JobSpec], Strategy] = {
    RetrieveSpec: RetrieveJob(),
    SearchSpec: SearchJob(),
    SurveySpec: SurveyJob(),
    AdaptiveSpec: AdaptiveJob(),
    ResearchSpec: ResearchJob(),
    MemorySpec: MemoryJob(),
}


def strategy_of(spec: AnySpec) -> Strategy:
    """Return the strategy for a job.

    Raises:
        Broken: a kind without one; the contracts name no other.
    """
    try:
        return _KINDS[type(spec)]
    except KeyError as error:
        raise Broken from error
