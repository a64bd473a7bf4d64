"""The entries of a job's log: everything that is known about a job is a fold of these.

Appending is idempotent by `key`: the same key is stored once, so a step that runs twice leaves one trace.
"""

from msgspec import Struct

from signal_search.contracts.delegation import ClaimPassage, Delegation
from signal_search.contracts.finding import Verdict
from signal_search.contracts.hit import Hit
from signal_search.contracts.job import AnySpec, JobState
from signal_search.contracts.judging import Judgements, Phase
from signal_search.contracts.plan import Plan, PlannedCall
from signal_search.contracts.query import DelegationKind
from signal_search.contracts.research import ToolTrace
from signal_search.contracts.result import Stop
from signal_search.contracts.source import Link, Request
from signal_search.errors import Position


class Entry(Struct, frozen=True, kw_only=True, tag_field="type"):
    """One entry. `at_ms` is epoch milliseconds by the clock of who appends; `key` makes the append idempotent."""

    at_ms: int
    key: str


class Submitted(Entry, frozen=True, kw_only=True, tag="submitted"):
    """The job was accepted."""

    job: AnySpec


class Planned(Entry, frozen=True, kw_only=True, tag="planned"):
    """The plan, and a snapshot of every setting the pure part depends on, so that a replay needs nothing else."""

    plan: Plan
    rules: dict[str, object]


class CallStarted(Entry, frozen=True, kw_only=True, tag="call_started"):
    """A source was asked: these fetches were requested of the frontier. searches: how many of them search."""

    call_id: str
    source_id: str
    fetches: tuple[str, ...]
    searches: int = 0


class CallRefused(Entry, frozen=True, kw_only=True, tag="call_refused"):
    """A source was not asked, and why."""

    call_id: str
    source_id: str
    reason: str
    detail: str = ""


class FetchQueued(Entry, frozen=True, kw_only=True, tag="fetch_queued"):
    """The frontier took a request: queued, joined to an identical one, or answered from the cache.

    uid and host say where it waits; relevance: how promising the link was (1.0 for a first request).
    """

    fetch_id: str
    call_id: str
    request: Request
    uid: str
    host: str
    disposition: str
    ready_in_ms: int = 0
    relevance: float = 1.0


class FetchFinished(Entry, frozen=True, kw_only=True, tag="fetch_finished"):
    """A fetch ended for this job. `paid` is false when another job's request or the cache answered.

    tokens: what the passages that may be quoted from it cost, never more than was reserved.
    decisions: as in the outcome; hits and answer: as in what was parsed.
    """

    fetch_id: str
    call_id: str
    url: str
    state: str
    status: int = 0
    reason: str = ""
    detail: str = ""
    until_ms: int | None = None
    documents: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    requests: tuple[Request, ...] = ()
    redirect_to: str = ""
    note: str = ""
    total: int | None = None
    bytes: int = 0
    tokens: int = 0
    paid: bool = False
    decisions: dict[str, str | float] = {}
    hits: tuple[Hit, ...] = ()
    answer: str = ""


class Recalled(Entry, frozen=True, kw_only=True, tag="recalled"):
    """Research memory was asked for this job: how, and what is missing, as `RouterResult` says it.

    error: the code of why it could not be asked at all.
    """

    call_id: str
    partial: bool = False
    traces: tuple[ToolTrace, ...] = ()
    rejections: tuple[str, ...] = ()
    degradations: tuple[str, ...] = ()
    scope_leak_count: int = 0
    error: str = ""


class Assessed(Entry, frozen=True, kw_only=True, tag="assessed"):
    """The stop rule looked at the evidence so far."""

    round: int
    documents: int
    coverage: float
    saturation: float
    tokens: int
    verdict: str


class Expanded(Entry, frozen=True, kw_only=True, tag="expanded"):
    """One more round was opened."""

    round: int
    calls: tuple[PlannedCall, ...]
    why: str


class Stopped(Entry, frozen=True, kw_only=True, tag="stopped"):
    """The decision to stop. The answer is made from exactly these documents and dated by `at_ms`."""

    stop: Stop
    evidence: tuple[str, ...]


class Summarised(Entry, frozen=True, kw_only=True, tag="summarised"):
    """The operator's model said something about the hits, or failed to (`error`: the code); tokens: as it reported."""

    text: str = ""
    error: str = ""
    tokens: int = 0


class Screened(Entry, frozen=True, kw_only=True, tag="screened"):
    """The judge of an adaptive search answered its request of that number, or failed to.

    tokens: estimated before it was asked.
    """

    number: int
    phase: Phase
    driver: str
    tokens: int
    said: Judgements


class Delegated(Entry, frozen=True, kw_only=True, tag="delegated"):
    """The caller was asked something."""

    delegation: Delegation


class DelegationAnswered(Entry, frozen=True, kw_only=True, tag="delegation_answered"):
    """The caller answered in time and by the question's schema. tokens: as the caller reported."""

    delegation_id: str
    kind: DelegationKind
    answer: dict[str, object]
    tokens: int = 0


class DelegationLapsed(Entry, frozen=True, kw_only=True, tag="delegation_lapsed"):
    """The job goes on by its rules: `deadline`, `declined`, or not asked at all (`budget`, `no_time`)."""

    delegation_id: str
    kind: DelegationKind
    reason: str


class Judged(Entry, frozen=True, kw_only=True, tag="judged"):
    """The operator's model was asked about claims. verdicts: one for each pair; error: the code of why there are none.

    Without pairs it was not asked (`withheld`: the claims may be words of research memory). tokens: as it reported.
    """

    pairs: tuple[ClaimPassage, ...]
    verdicts: tuple[Verdict, ...] = ()
    error: str = ""
    tokens: int = 0


class Ended(Entry, frozen=True, kw_only=True, tag="ended"):
    """The one terminal entry of a job. Below error_message: where in the request a failure lies, if it does."""

    state: JobState
    error_code: str = ""
    error_message: str = ""
    result_digest: str = ""
    error_field: str = ""
    error_position: Position | None = None
    candidate_index: int | None = None


LogEntry = (
    Submitted
    | Planned
    | CallStarted
    | CallRefused
    | FetchQueued
    | FetchFinished
    | Recalled
    | Assessed
    | Expanded
    | Stopped
    | Summarised
    | Screened
    | Delegated
    | DelegationAnswered
    | DelegationLapsed
    | Judged
    | Ended
)
