"""What the kinds that ask research memory share: nothing is fetched, and the plan holds the answer already."""

from collections.abc import Mapping

from signal_search.contracts.document import Document
from signal_search.contracts.job import JobEvent
from signal_search.contracts.outcome import AnyResult
from signal_search.contracts.plan import Plan, PlannedCall
from signal_search.contracts.query import Intent, Tier
from signal_search.contracts.result import Stop, StopReason
from signal_search.contracts.source import SourceQuery
from signal_search.errors import Broken

from infra.job_store import StoredJob
from scoring.stop_rule import Evidence
from scoring.stop_texts import TEXTS
from scoring.text import is_chinese
from workers.pipeline.assess import Moment
from workers.pipeline.decide import Decision
from workers.pipeline.rules import Rules
from workers.pipeline.state import JobView
from workers.registry import Source
from workers.toolbox import Toolbox

_BASIS = "research memory"


def empty_plan(stored: StoredJob, words: str, why: str) -> Plan:
    """Return a plan of no calls for `words`; `why` it has no tier. What was answered is still to be put into it."""
    return Plan(
        query=words,
        language="zh" if is_chinese(words) else "en",
        intent=Intent.RESEARCH,
        intent_confidence=1.0,
        tier=Tier.L0,
        tier_reason=why,
        questions=(),
        calls=(),
        limits={},
        max_sources=0,
        max_rounds=0,
        deadline_ms=stored.spec.deadline_ms,
    )


def stopped_at_once(plan: Plan, reason: StopReason, *, coverage: float, now_ms: int) -> Decision:
    """Return the decision to stop a job whose plan is the answer."""
    stop = Stop(
        reason=reason,
        text=TEXTS[reason]["zh" if plan.language == "zh" else "en"],
        exhausted=False,
        coverage=coverage,
        saturation=0.0,
        rounds=1,
        basis=_BASIS,
    )
    evidence = Evidence(tier=Tier.L0, outstanding=0, unmade=0)
    return Decision(stop, evidence, Moment(now_ms, is_last=True))


class PlannedAnswer:
    """The steps of `Strategy` that are the same for all such kinds."""

    asks_at_once = False

    def check(self, tools: Toolbox, stored: StoredJob) -> None:
        """Let all through: the door has checked who may ask about the scope."""

    def ask(
        self, tools: Toolbox, plan: Plan, call: PlannedCall, source: Source, stored: StoredJob
    ) -> SourceQuery:
        """Ask no source.

        Raises:
            Broken: always; such a plan has no calls.
        """
        raise Broken

    def evidence(
        self, view: JobView, documents: Mapping[str, Document], decision: Decision
    ) -> tuple[str, ...]:
        return ()

    def prepare(
        self, tools: Toolbox, view: JobView, documents: Mapping[str, Document], rules: Rules
    ) -> bool:
        """Ask nothing: the answer is in the log."""
        return False

    def rest(
        self, tools: Toolbox, view: JobView, documents: Mapping[str, Document], rules: Rules
    ) -> AnyResult | None:
        """Leave nothing: an unfinished answer is none."""
        return None

    def event(self, stop: Stop) -> JobEvent:
        return JobEvent.SUCCEED
