"""The reducer's state: a pure fold over a job's log. The same log gives the same state on any machine."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from signal_search.contracts.job import AnySpec, RetrieveSpec
from signal_search.contracts.plan import Plan, PlannedCall
from signal_search.contracts.query import RetrieveRequest
from signal_search.contracts.source import FetchState
from signal_search.contracts.trace import (
    Assessed,
    CallRefused,
    CallStarted,
    Delegated,
    DelegationAnswered,
    DelegationLapsed,
    Ended,
    Entry,
    Expanded,
    FetchFinished,
    FetchQueued,
    Judged,
    LogEntry,
    Planned,
    Recalled,
    Screened,
    Stopped,
    Submitted,
)
from signal_search.errors import Broken


def call_of(fetch_id: str) -> str:
    """Return the call that a fetch belongs to: a fetch id is `CALL#NUMBER`."""
    return fetch_id.rsplit("#", 1)[0]


def number_of(fetch_id: str) -> tuple[int, ...]:
    """Return a fetch's place in its call: `q1.wikipedia#1.2` (the second follow-up of the first) is (1, 2)."""
    return tuple(int(each) for each in fetch_id.rsplit("#", 1)[1].split("."))


def retrieve_request(spec: AnySpec) -> RetrieveRequest:
    """Return what a retrieve job was asked.

    Raises:
        Broken: it is a job of another kind.
    """
    if not isinstance(spec, RetrieveSpec):
        raise Broken
    return spec.request


@dataclass
class FetchView:
    """One fetch of a job: what was asked, and how it ended (None: it is still open)."""

    fetch_id: str
    call_id: str
    queued: FetchQueued | None = None
    finished: FetchFinished | None = None

    @property
    def is_open(self) -> bool:
        """Whether the answer is still to come."""
        return self.finished is None

    @property
    def has_arrived(self) -> bool:
        """Whether a reply was fetched and parsed."""
        return self.finished is not None and self.finished.state == FetchState.FETCHED

    @property
    def was_refused(self) -> bool:
        """Whether it was skipped before the frontier took it: by the purse, the host's queue or the address."""
        return self.queued is None and self._ended_as(FetchState.SKIPPED)

    @property
    def lacks_request(self) -> bool:
        """Whether it was fetched but its request is not in the log: the step that offered it died in between."""
        return self.queued is None and not self.is_open and not self.was_refused

    def _ended_as(self, state: FetchState) -> bool:
        return self.finished is not None and self.finished.state == state


@dataclass
class CallView:
    """One call of the plan: not started, refused, or with its fetches in the order they were decided."""

    call: PlannedCall
    started: CallStarted | None = None
    refused: CallRefused | None = None
    fetches: dict[str, FetchView] = field(default_factory=dict)

    def in_order(self) -> list[FetchView]:
        """Return the fetches by number: 1, 1.1, 1.2, 2. Of a refused call only those that were asked for."""
        asked = (
            each
            for each in self.fetches.values()
            if self.refused is None or each.queued is not None or each.finished is not None
        )
        return sorted(asked, key=lambda each: number_of(each.fetch_id))

    @property
    def lacks_requests(self) -> bool:
        """Whether a reply is there whose request the call's own step has yet to note: it died before it could."""
        return self.refused is None and any(each.lacks_request for each in self._named())

    @property
    def is_asked(self) -> bool:
        """Whether the call's step has nothing left to do: it was refused, or all it named was offered or skipped."""
        if self.refused is not None:
            return True
        named = (each.queued is not None or each.was_refused for each in self._named())
        return self.started is not None and all(named)

    @property
    def is_open(self) -> bool:
        """Whether something of this call is still to come."""
        if self.refused is not None:
            return False
        if self.started is None or self.lacks_requests:
            return True
        return any(each.is_open for each in self.fetches.values())

    def _named(self) -> list[FetchView]:
        """Return the first fetches: those that the step decided, not what followed from replies."""
        return [self.fetches[each] for each in self.started.fetches] if self.started else []


@dataclass
class AskedView:
    """One question to the caller: as it was asked (None: it never was), and what became of it (None: it is open)."""

    asked: Delegated | None = None
    closed: DelegationAnswered | DelegationLapsed | None = None


@dataclass
class JobView:
    """All that is known of a job."""

    entries: list[LogEntry] = field(default_factory=list)
    spec: AnySpec | None = None
    planned: Planned | None = None
    calls: dict[str, CallView] = field(default_factory=dict)
    assessments: list[Assessed] = field(default_factory=list)
    round: int = 1
    stopped: Stopped | None = None
    ended: Ended | None = None
    delegations: dict[str, AskedView] = field(default_factory=dict)
    judged: Judged | None = None
    screened: dict[int, Screened] = field(default_factory=dict)
    recalled: dict[str, Recalled] = field(default_factory=dict)

    @property
    def plan(self) -> Plan | None:
        """Return the plan, if there is one yet."""
        return self.planned.plan if self.planned else None

    def require(self) -> tuple[Plan, AnySpec]:
        """Return plan and specification of a planned job.

        Raises:
            Broken: the log has none; nobody may ask before.
        """
        if self.planned is None or self.spec is None:
            raise Broken
        return self.planned.plan, self.spec

    def fetches(self) -> Iterator[FetchView]:
        """Yield every fetch in plan order: by call, then by number. Not by arrival: that would be luck."""
        for call in self.calls.values():
            yield from call.in_order()

    def active_calls(self) -> list[CallView]:
        """Return the calls of the rounds that were opened so far, in plan order."""
        return [each for each in self.calls.values() if each.call.round <= self.round]

    def open_fetches(self) -> list[FetchView]:
        """Return the fetches whose answer is still to come."""
        return [each for each in self.fetches() if each.is_open]

    def settled_fetches(self, busy: Collection[str] = ()) -> list[FetchView]:
        """Return the fetches before the first open one, in plan order.

        Only these count while a job runs, so that what is decided does not depend on which host was quicker. `busy`
        are calls with follow-ups that are still to be asked for: nothing behind them is settled.
        """
        found: list[FetchView] = []
        for call in self.active_calls():
            for each in call.in_order():
                if each.is_open:
                    return found
                found.append(each)
            if call.is_open or call.call.id in busy:
                return found
        return found


def spent_on_answers(view: JobView) -> tuple[int, int]:
    """Return how many questions the caller was asked, and the tokens it reported for its answers."""
    asked = sum(each.asked is not None for each in view.delegations.values())
    ends = [each.closed for each in view.delegations.values()]
    return asked, sum(each.tokens for each in ends if isinstance(each, DelegationAnswered))


def fold(entries: Iterable[LogEntry]) -> JobView:
    """Return the state that a log describes."""
    view = JobView()
    for entry in entries:
        view.entries.append(entry)
        _apply(view, entry)
    return view


def _apply(view: JobView, entry: Entry) -> None:
    if isinstance(entry, FetchQueued | FetchFinished):
        _apply_fetch(view, entry)
    elif isinstance(entry, CallStarted | CallRefused):
        _apply_call(view, entry)
    elif isinstance(entry, Planned | Expanded):
        _apply_plan(view, entry)
    elif isinstance(entry, Delegated | DelegationAnswered | DelegationLapsed):
        _apply_delegation(view, entry)
    else:
        _apply_life(view, entry)


def _apply_life(view: JobView, entry: Entry) -> None:
    match entry:
        case Submitted():
            view.spec = entry.job
        case Assessed():
            view.assessments.append(entry)
        case Stopped():
            view.stopped = entry
        case Judged():
            view.judged = entry
        case Screened():
            view.screened.setdefault(entry.number, entry)
        case Recalled():
            view.recalled.setdefault(entry.call_id, entry)
        case Ended():
            view.ended = entry


def _apply_delegation(
    view: JobView, entry: Delegated | DelegationAnswered | DelegationLapsed
) -> None:
    if isinstance(entry, Delegated):
        view.delegations.setdefault(entry.delegation.id, AskedView()).asked = entry
        return
    known = view.delegations.setdefault(entry.delegation_id, AskedView())
    known.closed = known.closed or entry


def _apply_plan(view: JobView, entry: Planned | Expanded) -> None:
    if isinstance(entry, Planned):
        view.planned = entry
        calls = entry.plan.calls
    else:
        view.round = entry.round
        calls = entry.calls
    for call in calls:
        view.calls.setdefault(call.id, CallView(call=call))


def _apply_call(view: JobView, entry: CallStarted | CallRefused) -> None:
    call = view.calls.get(entry.call_id)
    if call is None:
        return
    if isinstance(entry, CallRefused):
        call.refused = entry
        return
    call.started = entry
    for fetch_id in entry.fetches:
        call.fetches.setdefault(fetch_id, FetchView(fetch_id=fetch_id, call_id=entry.call_id))


def _apply_fetch(view: JobView, entry: FetchQueued | FetchFinished) -> None:
    call = view.calls.get(entry.call_id)
    if call is None:
        return
    fetch = call.fetches.setdefault(
        entry.fetch_id, FetchView(fetch_id=entry.fetch_id, call_id=entry.call_id)
    )
    if isinstance(entry, FetchQueued):
        fetch.queued = entry
    else:
        fetch.finished = entry
