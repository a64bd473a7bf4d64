"""A job, its states and the one table of what may follow what."""

from enum import StrEnum

from msgspec import Struct

from signal_search.contracts.adaptive import AdaptiveRequest
from signal_search.contracts.memory import MemoryRequest
from signal_search.contracts.query import RetrieveRequest
from signal_search.contracts.research import ResearchRequest
from signal_search.contracts.result import Stop
from signal_search.contracts.search import SearchRequest, SurveyRequest


class JobState(StrEnum):
    """Where a job is in its life."""

    QUEUED = "queued"
    PLANNING = "planning"
    CRAWLING = "crawling"
    REDUCING = "reducing"
    DELEGATED = "delegated"
    SUCCEEDED = "succeeded"
    PARTIAL = "partial"
    FAILED = "failed"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


class JobEvent(StrEnum):
    """What can happen to a job."""

    PLAN = "plan"
    CRAWL = "crawl"
    REDUCE = "reduce"
    DELEGATE = "delegate"
    SUCCEED = "succeed"
    DEGRADE = "degrade"
    FAIL = "fail"
    CANCEL = "cancel"
    EXPIRE = "expire"


TERMINAL_STATES = frozenset(
    {
        JobState.SUCCEEDED,
        JobState.PARTIAL,
        JobState.FAILED,
        JobState.CANCELLED,
        JobState.EXPIRED,
    }
)

_ENDINGS = {
    JobEvent.SUCCEED: JobState.SUCCEEDED,
    JobEvent.DEGRADE: JobState.PARTIAL,
    JobEvent.FAIL: JobState.FAILED,
    JobEvent.CANCEL: JobState.CANCELLED,
    JobEvent.EXPIRE: JobState.EXPIRED,
}

# (state, event) -> state. What is absent is refused, here and in infra/lua/job_transition.lua.
TRANSITIONS: dict[tuple[JobState, JobEvent], JobState] = {
    (JobState.QUEUED, JobEvent.PLAN): JobState.PLANNING,
    (JobState.PLANNING, JobEvent.CRAWL): JobState.CRAWLING,
    (JobState.PLANNING, JobEvent.REDUCE): JobState.REDUCING,
    (JobState.PLANNING, JobEvent.DELEGATE): JobState.DELEGATED,
    (JobState.CRAWLING, JobEvent.REDUCE): JobState.REDUCING,
    (JobState.CRAWLING, JobEvent.DELEGATE): JobState.DELEGATED,
    (JobState.REDUCING, JobEvent.CRAWL): JobState.CRAWLING,
    (JobState.REDUCING, JobEvent.DELEGATE): JobState.DELEGATED,
    (JobState.DELEGATED, JobEvent.PLAN): JobState.PLANNING,
    (JobState.DELEGATED, JobEvent.CRAWL): JobState.CRAWLING,
    (JobState.DELEGATED, JobEvent.REDUCE): JobState.REDUCING,
    **{
        (state, event): ending
        for state in JobState
        if state not in TERMINAL_STATES
        for event, ending in _ENDINGS.items()
        # An answer needs at least a plan; everything else can end a job at any time.
        if not (state is JobState.QUEUED and event in {JobEvent.SUCCEED, JobEvent.DEGRADE})
    },
}


class Progress(Struct, frozen=True, kw_only=True):
    """How far a job is. eta_ms: lower bound until every open fetch had its turn, from the politeness ledger.

    round, coverage, saturation and verdict are the stop rule's latest assessment (None and '' before the first).
    """

    calls_planned: int = 0
    calls_done: int = 0
    fetches_queued: int = 0
    fetches_done: int = 0
    fetches_refused: int = 0
    documents: int = 0
    used: dict[str, int] = {}
    left: dict[str, int] = {}
    round: int = 0
    coverage: float | None = None
    saturation: float | None = None
    verdict: str = ""
    stop: Stop | None = None
    eta_ms: int | None = None
    waiting_on: tuple[str, ...] = ()


class Job(Struct, frozen=True, kw_only=True):
    """A job as its owner sees it. Times are epoch milliseconds."""

    id: str
    kind: str
    state: JobState
    query: str
    created_at_ms: int
    deadline_ms: int
    finished_at_ms: int | None = None
    expires_at_ms: int | None = None
    progress: Progress = Progress()
    links: dict[str, str] = {}
    error_code: str = ""
    error_message: str = ""


class JobSpec(Struct, frozen=True, kw_only=True, tag_field="kind"):
    """What is stored of a submission of any kind; `AnySpec` names the kinds, each with the request it has.

    token: the id of the caller's token, where that has limits of its own. owner: whose the job is, where that is not
    all of the tenant; who pays for it is the tenant all the same.
    """

    id: str
    tenant: str
    created_at_ms: int
    deadline_ms: int
    result_ttl_s: int
    request_id: str = ""
    token: str = ""
    owner: str = ""

    @property
    def belongs_to(self) -> str:
        """Return whose the job is: under this name it is listed, and only who has the name may read it."""
        return self.owner or self.tenant

    @property
    def kind(self) -> str:
        """Return what kind of job this is: the tag it is stored with."""
        return str(self.__struct_config__.tag)


class RetrieveSpec(JobSpec, frozen=True, kw_only=True, tag="retrieve"):
    """A question to be answered from evidence."""

    request: RetrieveRequest


class SearchSpec(JobSpec, frozen=True, kw_only=True, tag="search"):
    """Hits, at once."""

    request: SearchRequest


class SurveySpec(JobSpec, frozen=True, kw_only=True, tag="survey"):
    """Papers from several sides."""

    request: SurveyRequest


class AdaptiveSpec(JobSpec, frozen=True, kw_only=True, tag="adaptive"):
    """What is worth reading, searched for until a judge has seen enough."""

    request: AdaptiveRequest


class ResearchSpec(JobSpec, frozen=True, kw_only=True, tag="research"):
    """Evidence from the memory of one scope."""

    request: ResearchRequest


class MemorySpec(JobSpec, frozen=True, kw_only=True, tag="memory"):
    """Something to be done to the memories of one scope."""

    request: MemoryRequest


AnySpec = RetrieveSpec | SearchSpec | SurveySpec | ResearchSpec | AdaptiveSpec | MemorySpec
AnySearch = SearchRequest | SurveyRequest | AdaptiveRequest
AnyRequest = RetrieveRequest | AnySearch | ResearchRequest | MemoryRequest
