"""Where kinds of jobs differ: what is planned, asked, decided and published. The walk between is the same for all.

Log, budgets, politeness and caches know nothing of kinds. A new kind is one strategy and one row in `kinds.py`.
"""

from collections.abc import Mapping
from typing import Protocol

from signal_search.contracts.document import Document
from signal_search.contracts.job import JobEvent
from signal_search.contracts.outcome import AnyResult
from signal_search.contracts.plan import Plan, PlannedCall
from signal_search.contracts.result import Stop
from signal_search.contracts.source import SourceQuery

from infra.job_store import StoredJob
from workers.pipeline.decide import Decision
from workers.pipeline.rules import Rules
from workers.pipeline.state import JobView
from workers.registry import Source
from workers.toolbox import Toolbox


class Strategy(Protocol):
    """One kind of job. `decide`, `evidence`, `publish` and `event` are pure: a log gives the same result anywhere.

    asks_at_once: the plan step asks the first calls itself, instead of making a step for each.
    """

    @property
    def asks_at_once(self) -> bool: ...

    def check(self, tools: Toolbox, stored: StoredJob) -> None:
        """Refuse what cannot be planned here.

        Raises:
            SignalSearchError: the job fails with it.
        """
        ...

    def plan(self, tools: Toolbox, stored: StoredJob) -> Plan:
        """Return the plan, its deadline included; what a model had to say about it too, so that it is asked once.

        Raises:
            Postpone: the caller was asked something, and its answer may still come.
        """
        ...

    def ask(
        self, tools: Toolbox, plan: Plan, call: PlannedCall, source: Source, stored: StoredJob
    ) -> SourceQuery:
        """Return what a source is asked in a call."""
        ...

    def decide(
        self, view: JobView, documents: Mapping[str, Document], rules: Rules, *, now_ms: int
    ) -> Decision:
        """Return what to do next for a planned job that has not stopped."""
        ...

    def evidence(
        self, view: JobView, documents: Mapping[str, Document], decision: Decision
    ) -> tuple[str, ...]:
        """Return the ids of the documents that count when the job stops."""
        ...

    def prepare(
        self, tools: Toolbox, view: JobView, documents: Mapping[str, Document], rules: Rules
    ) -> bool:
        """Ask, once the job has stopped, what its result needs from outside; True when the log has more since.

        Raises:
            Postpone: the caller was asked something, and its answer may still come.
        """
        ...

    def publish(self, view: JobView, documents: Mapping[str, Document], rules: Rules) -> AnyResult:
        """Return the result of a stopped job.

        Raises:
            Refused: there can be none; the job fails with it.
        """
        ...

    def rest(
        self, tools: Toolbox, view: JobView, documents: Mapping[str, Document], rules: Rules
    ) -> AnyResult | None:
        """Return what a cancelled job leaves to be read, None where that is nothing; may be made again."""
        ...

    def event(self, stop: Stop) -> JobEvent:
        """Return how a job that stopped so has ended: with what was wanted, or with less."""
        ...
