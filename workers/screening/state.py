"""All that an adaptive search knows while it runs. Built again from the log by whoever takes the job over."""

from dataclasses import dataclass, field

from msgspec import Struct
from signal_search.contracts.adaptive_plan import AdaptiveFrame, ScreenLimits, Target

from scoring.screening.progress import Decision, Reason, Status
from workers.screening.actions import Remark
from workers.screening.pool import Pool


@dataclass
class Spent:
    """What was used so far; tokens of input, estimated before sending and as the server reported them."""

    searches: int = 0
    calls: int = 0
    attempts: int = 0
    estimated: int = 0
    reported: int = 0


class Asked(Struct, frozen=True, kw_only=True):
    """What a keyword's question came to in a round."""

    round: int
    status: Status
    reason: Reason


@dataclass
class TargetState:
    """One target: a decision and a history for each keyword, what was searched, who answered."""

    target: Target
    decisions: list[Decision | None]
    history: list[list[Asked]]
    executed: set[tuple[str, str, str]] = field(default_factory=set)
    successes: set[str] = field(default_factory=set)
    searches: int = 0


@dataclass
class LoopState:
    """The whole of it. idle: rounds in a row that judged nothing new; failures: in a row, by source."""

    frame: AdaptiveFrame
    pool: Pool
    targets: list[TargetState]
    spent: Spent = field(default_factory=Spent)
    round: int = 0
    idle: int = 0
    failures: dict[str, int] = field(default_factory=dict)
    remarks: list[Remark] = field(default_factory=list)
    judged: set[tuple[int, str, str]] = field(default_factory=set)
    stop: str = ""

    @property
    def limits(self) -> ScreenLimits:
        """Return the job's bounds."""
        return self.frame.limits

    def remark(self, kind: str, text: str) -> None:
        """Keep a warning, once, as long as there is room."""
        each = Remark(kind=kind, text=text)
        if each not in self.remarks and len(self.remarks) < self.limits.warnings:
            self.remarks.append(each)

    def healthy(self) -> list[str]:
        """Return the sources that did not fail too often in a row, in their fixed order."""
        most = self.limits.source_failures
        return [each for each in self.frame.offered if self.failures.get(each, 0) < most]


def begin(frame: AdaptiveFrame) -> LoopState:
    """Return the state before the first round."""
    targets = [
        TargetState(each, [None] * len(each.keywords), [[] for _ in each.keywords])
        for each in frame.targets
    ]
    return LoopState(frame, Pool(frame.targets, frame.limits.total_pool), targets)
