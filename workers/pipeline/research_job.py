"""The kind `research`: evidence from the memory of one scope. Nothing is fetched; the plan holds the answer already."""

from collections.abc import Mapping

from signal_search.contracts.document import Document
from signal_search.contracts.job import JobEvent, ResearchSpec
from signal_search.contracts.outcome import AnyResult
from signal_search.contracts.plan import Plan, PlannedCall
from signal_search.contracts.query import Intent, Tier
from signal_search.contracts.research import ResearchQuery
from signal_search.contracts.research_result import ResearchResult
from signal_search.contracts.result import Stop, StopReason
from signal_search.contracts.source import SourceQuery
from signal_search.errors import Broken

from infra.job_store import StoredJob
from scoring.stop_rule import Evidence
from scoring.stop_texts import TEXTS
from scoring.text import is_chinese
from workers.pipeline.assess import Moment
from workers.pipeline.decide import Decision
from workers.pipeline.research_purse import ResearchPurse, limits_of
from workers.pipeline.rules import Rules
from workers.pipeline.state import JobView
from workers.registry import Source
from workers.research import Desk
from workers.toolbox import Toolbox


class ResearchJob:
    """`Strategy` of questions to research memory."""

    asks_at_once = False

    def check(self, tools: Toolbox, stored: StoredJob) -> None:
        """Let all through: the door has checked who may ask about the scope."""

    def plan(self, tools: Toolbox, stored: StoredJob) -> Plan:
        if not isinstance(stored.spec, ResearchSpec):
            raise Broken
        asked = stored.spec.request
        query = ResearchQuery(
            query=asked.query, scope=asked.scope, tool_rounds=asked.tool_rounds, limit=asked.limit
        )
        purse = ResearchPurse(tools, stored)
        desk = Desk(tools.settings, tools.clock, purse.put)
        answer = desk.answer(query, allowance=purse)
        return Plan(
            query=asked.query,
            language="zh" if is_chinese(asked.query) else "en",
            intent=Intent.RESEARCH,
            intent_confidence=1.0,
            tier=Tier.L0,
            tier_reason="a question to research memory has no tier",
            questions=(),
            calls=(),
            limits={
                each.value: limit for each, limit in limits_of(tools.settings.research).items()
            },
            max_sources=0,
            max_rounds=0,
            deadline_ms=stored.spec.deadline_ms,
            research=answer,
        )

    def ask(
        self, tools: Toolbox, plan: Plan, call: PlannedCall, source: Source, stored: StoredJob
    ) -> SourceQuery:
        """Ask no source.

        Raises:
            Broken: always; such a plan has no calls.
        """
        raise Broken

    def decide(
        self, view: JobView, documents: Mapping[str, Document], rules: Rules, *, now_ms: int
    ) -> Decision:
        """Stop: the plan is the answer."""
        plan, _spec = view.require()
        found = plan.research is not None and bool(plan.research.evidence)
        reason = StopReason.PLAN_COMPLETE if found else StopReason.NO_EVIDENCE
        stop = Stop(
            reason=reason,
            text=TEXTS[reason]["zh" if plan.language == "zh" else "en"],
            exhausted=False,
            coverage=float(found),
            saturation=0.0,
            rounds=1,
            basis="research memory",
        )
        evidence = Evidence(tier=Tier.L0, outstanding=0, unmade=0)
        return Decision(stop, evidence, Moment(now_ms, is_last=True))

    def evidence(
        self, view: JobView, documents: Mapping[str, Document], decision: Decision
    ) -> tuple[str, ...]:
        return ()

    def prepare(
        self, tools: Toolbox, view: JobView, documents: Mapping[str, Document], rules: Rules
    ) -> bool:
        """Ask nothing: the answer is in the log."""
        return False

    def publish(
        self, view: JobView, documents: Mapping[str, Document], rules: Rules
    ) -> ResearchResult:
        plan, spec = view.require()
        if plan.research is None or view.stopped is None:
            raise Broken
        return ResearchResult(job_id=spec.id, answer=plan.research, stop=view.stopped.stop)

    def rest(
        self, tools: Toolbox, view: JobView, documents: Mapping[str, Document], rules: Rules
    ) -> AnyResult | None:
        """Leave nothing: an unfinished answer is none."""
        return None

    def event(self, stop: Stop) -> JobEvent:
        return JobEvent.SUCCEED
