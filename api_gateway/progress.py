"""How far a job is: a fold over its log, then the purse and the hosts it waits for laid beside it. Pure."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from signal_search.contracts.job import Progress
from signal_search.contracts.source import FetchState
from signal_search.contracts.trace import (
    Assessed,
    CallRefused,
    CallStarted,
    Expanded,
    FetchFinished,
    FetchQueued,
    LogEntry,
    Planned,
    Stopped,
)

_MAX_HOSTS = 20


@dataclass
class Tally:
    """What a log amounts to. Sets and maps by id: an entry that comes twice counts once."""

    planned: list[str] = field(default_factory=list)
    refused_calls: set[str] = field(default_factory=set)
    started: dict[str, tuple[str, ...]] = field(default_factory=dict)
    queued: dict[str, FetchQueued] = field(default_factory=dict)
    finished: dict[str, FetchFinished] = field(default_factory=dict)
    assessed: Assessed | None = None
    stopped: Stopped | None = None
    deadline_ms: int | None = None  # the plan's; it may be earlier than the submission's

    def open_fetches(self) -> list[FetchQueued]:
        """Return the fetches that the frontier took and that did not end."""
        return [each for fetch_id, each in self.queued.items() if fetch_id not in self.finished]

    def documents(self) -> list[str]:
        """Return the ids of all documents, in order of arrival, each once."""
        return list(dict.fromkeys(each for end in self.finished.values() for each in end.documents))

    def open_hosts(self) -> Counter[str]:
        """Return how many open fetches wait at each host."""
        return Counter(each.host for each in self.open_fetches() if each.host)

    def calls_done(self) -> int:
        """Return how many calls are refused, or started with every fetch ended."""
        busy = {each.call_id for each in self.open_fetches()}
        over = {
            call_id
            for call_id, first in self.started.items()
            if call_id not in busy and self.finished.keys() >= set(first)
        }
        return len(over | self.refused_calls)


def tally(entries: Iterable[LogEntry]) -> Tally:
    """Return what a log amounts to."""
    state = Tally()
    for entry in entries:
        _count_fetch(state, entry)
        _count_plan(state, entry)
    return state


def _count_fetch(state: Tally, entry: LogEntry) -> None:
    match entry:
        case CallRefused():
            state.refused_calls.add(entry.call_id)
        case CallStarted():
            state.started[entry.call_id] = entry.fetches
        case FetchQueued():
            state.queued[entry.fetch_id] = entry
        case FetchFinished():
            state.finished[entry.fetch_id] = entry
        case _:
            pass


def _count_plan(state: Tally, entry: LogEntry) -> None:
    match entry:
        case Planned():
            state.planned += [each.id for each in entry.plan.calls]
            state.deadline_ms = entry.plan.deadline_ms or None
        case Expanded():
            state.planned += [each.id for each in entry.calls]
        case Assessed():
            state.assessed = entry
        case Stopped():
            state.stopped = entry
        case _:
            pass


def progress(
    state: Tally,
    *,
    used: Mapping[str, int],
    left: Mapping[str, int],
    hosts: Counter[str],
    eta_ms: int | None,
) -> Progress:
    """Return the owner's view of a tally, with the purse by dimension and the hosts it still waits for."""
    ends = Counter(each.state for each in state.finished.values())
    refused = ends[FetchState.SKIPPED]
    assessed = state.assessed
    return Progress(
        calls_planned=len(set(state.planned)),
        calls_done=state.calls_done(),
        fetches_queued=len(state.queued.keys() | state.finished.keys()),
        fetches_done=len(state.finished) - refused,
        fetches_refused=refused,
        documents=len(state.documents()),
        used=dict(used),
        left=dict(left),
        round=assessed.round if assessed else 0,
        coverage=assessed.coverage if assessed else None,
        saturation=assessed.saturation if assessed else None,
        verdict=assessed.verdict if assessed else "",
        stop=state.stopped.stop if state.stopped else None,
        eta_ms=eta_ms,
        waiting_on=tuple(host for host, _ in hosts.most_common(_MAX_HOSTS)),
    )


def eta_ms(
    hosts: Mapping[str, int], next_in_ms: Callable[[str], int], pause_ms: Callable[[str], int]
) -> int | None:
    """Return a lower bound in ms until every open fetch was sent; None when nothing is open.

    A host answers one request at a time: the first at its next turn, each further one a pause later. Hosts do not
    wait for each other.
    """
    waits = [
        max(0, next_in_ms(host)) + (count - 1) * pause_ms(host) for host, count in hosts.items()
    ]
    return max(waits, default=None)
