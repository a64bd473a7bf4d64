"""The adaptive loop run on a log: its replies are the judge's entries and the searches that are complete. Pure.

Running it again from the beginning for every arrival would cost the square of a job's length. So a process keeps the
last few runs and goes on with them, as long as the log begins as it did; a run that is gone is only made again.
"""

from collections import OrderedDict
from collections.abc import Collection, Mapping

from signal_search.contracts.adaptive_plan import AdaptiveFrame
from signal_search.contracts.adaptive_result import AdaptiveStop
from signal_search.contracts.document import Document
from signal_search.contracts.judging import Judgements
from signal_search.errors import Broken

from workers.pipeline.adaptive_rows import calls_of, found_of
from workers.pipeline.state import JobView
from workers.screening.actions import Action, Begin, Judge, Reply, Searches
from workers.screening.loop import screen
from workers.screening.state import LoopState, begin

_KEPT = 8


class Run:
    """The loop as far as the replies go. waits_for: what it asks for now, None at its end (then `stop` says why)."""

    def __init__(self, frame: AdaptiveFrame) -> None:
        """Begin, up to the first question."""
        self.frame = frame
        self.state: LoopState = begin(frame)
        self._loop = screen(self.state)
        self.waits_for: Action | None = None
        self.stop: AdaptiveStop | None = None
        self.begins_round = False
        self._fed: list[tuple[int, Judgements]] = []
        self._send(None)

    def _send(self, reply: Reply) -> None:
        try:
            self.begins_round = False
            action = self._loop.send(reply)
            while isinstance(action, Begin):
                self.begins_round = True
                action = self._loop.send(None)
        except StopIteration as end:
            self.waits_for, self.stop = None, end.value
        else:
            self.waits_for = action

    def agrees_with(self, view: JobView, frame: AdaptiveFrame) -> bool:
        """Return whether all that this run was told stands in the log."""
        heard = (view.screened.get(number) for number, _said in self._fed)
        pairs = zip(heard, self._fed, strict=True)
        return frame == self.frame and all(
            e is not None and e.said == said for e, (_n, said) in pairs
        )

    def follow(
        self, view: JobView, documents: Mapping[str, Document], busy: Collection[str]
    ) -> None:
        """Go on as far as the log has replies. busy: calls that have requests still to make."""
        while True:
            action = self.waits_for
            if isinstance(action, Judge) and action.number in view.screened:
                said = view.screened[action.number].said
                self._fed.append((action.number, said))
                self._send(said)
            elif isinstance(action, Searches) and is_complete(view, action, busy):
                self.take(view, documents)
            else:
                return

    def take(self, view: JobView, documents: Mapping[str, Document]) -> None:
        """Go on with what the searches brought so far."""
        if isinstance(self.waits_for, Searches):
            found = tuple(found_of(view, each, documents) for each in self.waits_for.searches)
            self._send(found)


def is_complete(view: JobView, action: Searches, busy: Collection[str]) -> bool:
    """Return whether every call of the searches was made and has ended."""
    for search in action.searches:
        calls = calls_of(view, search)
        if len(calls) < len(search.sources):
            return False
        if any(each.is_open or each.call.id in busy for each in calls):
            return False
    return True


def frame_of(view: JobView) -> AdaptiveFrame:
    """Return how a job screens.

    Raises:
        Broken: it is no adaptive search.
    """
    plan, _spec = view.require()
    if plan.adaptive is None:
        raise Broken
    return plan.adaptive


_RUNS: OrderedDict[str, Run] = OrderedDict()


def run_of(view: JobView, documents: Mapping[str, Document], busy: Collection[str]) -> Run:
    """Return the loop where the log has brought it, a kept run where there is one."""
    _plan, spec = view.require()
    frame = frame_of(view)
    run = _RUNS.pop(spec.id, None)
    if run is None or not run.agrees_with(view, frame):
        run = Run(frame)
    run.follow(view, documents, busy)
    if run.waits_for is not None:
        _RUNS[spec.id] = run
    while len(_RUNS) > _KEPT:
        _RUNS.popitem(last=False)
    return run


def finished_run(view: JobView, documents: Mapping[str, Document]) -> Run:
    """Return the loop of a stopped job, from the beginning; searches under way count with what they brought."""
    run = Run(frame_of(view))
    run.follow(view, documents, frozenset())
    run.take(view, documents)
    return run
