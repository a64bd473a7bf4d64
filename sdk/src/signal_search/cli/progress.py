"""What is going on, on stderr: a live display on a terminal, plain lines elsewhere, or nothing."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from time import monotonic
from typing import Any

from rich.console import Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from signal_search.citations.works import one_line
from signal_search.cli.terminal import Terminal, printable
from signal_search.cli.texts import Texts
from signal_search.client import Update
from signal_search.contracts.job import Job, Progress
from signal_search.contracts.trace import (
    Assessed,
    CallRefused,
    Delegated,
    DelegationAnswered,
    DelegationLapsed,
    Ended,
    Expanded,
    FetchFinished,
    FetchQueued,
    LogEntry,
    Planned,
    Screened,
    Stopped,
    Submitted,
)

Show = Callable[[Update], None]

_HOSTS_SHOWN = 6
_ENTRIES_SHOWN = 3


def showing(terminal: Terminal, *, wanted: bool) -> AbstractContextManager[Show]:
    """Return the fitting display; inside its context it is called with every update."""
    if not wanted:
        return _silent()
    return _live(terminal) if terminal.err.is_terminal else _plain(terminal)


@contextmanager
def _silent() -> Iterator[Show]:
    yield lambda _update: None


@contextmanager
def _plain(terminal: Terminal) -> Iterator[Show]:
    def show(update: Update) -> None:
        text = describe(update.entry, terminal.texts)
        if text:
            terminal.note(text)

    yield show


@contextmanager
def _live(terminal: Terminal) -> Iterator[Show]:
    board = Board(terminal.texts, monotonic)
    with Live(board, console=terminal.err, refresh_per_second=4, transient=True):
        yield board.show


class Board:
    """The live display: rendered a few times a second, so that waits count down between updates."""

    def __init__(self, texts: Texts, seconds: Callable[[], float]) -> None:
        """Start empty; `seconds` is monotonic time."""
        self._texts = texts
        self._seconds = seconds
        self._started = self._seen = seconds()
        self._job: Job | None = None
        self._entries: list[str] = []
        self._spinner = Spinner("dots")

    def show(self, update: Update) -> None:
        """Take in what is new."""
        if update.job != self._job:
            self._job, self._seen = update.job, self._seconds()
        text = describe(update.entry, self._texts)
        if text:
            self._entries = [*self._entries, text][-_ENTRIES_SHOWN:]

    def __rich__(self) -> RenderableType:
        """Render for this moment."""
        self._spinner.update(text=Text(self._head(), style="bold"))
        progress = self._job.progress if self._job else Progress()
        lines = [*self._counts(progress), *self._waits(progress)]
        body = (Text(f"  {printable(line)}") for line in lines)
        tail = (Text(f"  {printable(entry)}", style="dim") for entry in self._entries)
        return Group(self._spinner, *body, *tail)

    def _head(self) -> str:
        state = self._texts(f"state.{self._job.state.value}") if self._job else "…"
        elapsed = self._texts("elapsed", seconds=int(self._seconds() - self._started))
        return f" {state}  {elapsed}"

    def _counts(self, progress: Progress) -> Iterator[str]:
        texts = self._texts
        yield ", ".join(
            (
                texts("calls", done=progress.calls_done, planned=progress.calls_planned),
                texts(
                    "fetches",
                    done=progress.fetches_done,
                    queued=progress.fetches_queued,
                    refused=progress.fetches_refused,
                ),
                texts("documents", count=progress.documents),
            )
        )
        if progress.coverage is not None and progress.saturation is not None:
            yield texts(
                "entry.assessed",
                round=progress.round,
                documents=progress.documents,
                coverage=progress.coverage,
                saturation=progress.saturation,
            )
        for dimension, left in progress.left.items():
            used = progress.used.get(dimension, 0)
            yield texts("budget", dimension=one_line(dimension), used=used, left=left)

    def _waits(self, progress: Progress) -> Iterator[str]:
        if progress.waiting_on:
            hosts = ", ".join(map(one_line, progress.waiting_on[:_HOSTS_SHOWN]))
            more = "…" if len(progress.waiting_on) > _HOSTS_SHOWN else ""
            yield f"{self._texts('waiting')} {hosts}{more}"
        if progress.eta_ms is not None:
            passed = self._seconds() - self._seen
            yield self._texts("at_least", seconds=max(0, round(progress.eta_ms / 1000 - passed)))


def describe(entry: LogEntry | None, texts: Texts) -> str:
    """Return one line for an entry of the log; "" for those not worth one."""
    values = _VALUES.get(type(entry))
    if values is None:
        return ""
    key, named = values(entry, texts)
    return texts(key, **named) if key else ""


_Said = tuple[str, Mapping[str, object]]


def _submitted(entry: Submitted, _texts: Texts) -> _Said:
    return "entry.submitted", {"job_id": one_line(entry.job.id)}


def _planned(entry: Planned, _texts: Texts) -> _Said:
    plan = entry.plan
    return "entry.planned", {
        "tier": plan.tier.value,
        "questions": len(plan.questions),
        "calls": len(plan.calls),
    }


def _refused(entry: CallRefused, texts: Texts) -> _Said:
    return "entry.refused", {
        "source": one_line(entry.source_id),
        "reason": _why(entry.reason, entry.detail, texts),
    }


def _queued(entry: FetchQueued, _texts: Texts) -> _Said:
    if entry.ready_in_ms < 1000:
        return "", {}
    return "entry.queued", {
        "seconds": round(entry.ready_in_ms / 1000),
        "host": one_line(entry.host),
    }


def _finished(entry: FetchFinished, texts: Texts) -> _Said:
    url = one_line(entry.url)
    if entry.reason:
        return "entry.missed", {"url": url, "reason": _why(entry.reason, entry.detail, texts)}
    return "entry.fetched", {"url": url, "documents": len(entry.documents)}


def _assessed(entry: Assessed, _texts: Texts) -> _Said:
    return "entry.assessed", {
        "round": entry.round,
        "documents": entry.documents,
        "coverage": entry.coverage,
        "saturation": entry.saturation,
    }


def _expanded(entry: Expanded, _texts: Texts) -> _Said:
    return "entry.expanded", {
        "round": entry.round,
        "calls": len(entry.calls),
        "why": one_line(entry.why),
    }


def _stopped(entry: Stopped, _texts: Texts) -> _Said:
    return "entry.stopped", {"text": one_line(entry.stop.text)}


def _delegated(entry: Delegated, _texts: Texts) -> _Said:
    asked = entry.delegation
    seconds = (asked.deadline_ms - entry.at_ms) // 1000
    return "entry.delegated", {"name": one_line(asked.id), "seconds": seconds}


def _answered(entry: DelegationAnswered, _texts: Texts) -> _Said:
    return "entry.delegation_answered", {"name": one_line(entry.delegation_id)}


def _lapsed(entry: DelegationLapsed, texts: Texts) -> _Said:
    return "entry.delegation_lapsed", {
        "name": one_line(entry.delegation_id),
        "reason": texts.lookup(f"delegation.{entry.reason}", one_line(entry.reason)),
    }


def _ended(entry: Ended, texts: Texts) -> _Said:
    return "entry.ended", {"state": texts(f"state.{entry.state.value}")}


def _why(reason: str, detail: str, texts: Texts) -> str:
    said = texts.lookup(f"reason.{reason}", one_line(reason))
    return f"{said} ({one_line(detail)})" if detail else said


def _screened(entry: Screened, _texts: Texts) -> _Said:
    said = entry.said
    if said.error:
        return "entry.judge_failed", {"reason": one_line(said.error)}
    return "entry.screened", {"count": len(said.nouls) + len(said.choices)}


_VALUES: Mapping[type, Callable[[Any, Texts], _Said]] = {
    Submitted: _submitted,
    Planned: _planned,
    CallRefused: _refused,
    FetchQueued: _queued,
    FetchFinished: _finished,
    Assessed: _assessed,
    Expanded: _expanded,
    Screened: _screened,
    Stopped: _stopped,
    Delegated: _delegated,
    DelegationAnswered: _answered,
    DelegationLapsed: _lapsed,
    Ended: _ended,
}
