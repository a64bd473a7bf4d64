"""The kind `research`: evidence from the memory of one scope. Nothing is fetched; the plan holds the answer already."""

from collections.abc import Mapping

from msgspec import structs
from signal_search.contracts.document import Document
from signal_search.contracts.job import ResearchSpec
from signal_search.contracts.plan import Plan
from signal_search.contracts.research import ResearchQuery
from signal_search.contracts.research_result import ResearchResult
from signal_search.contracts.result import StopReason
from signal_search.errors import Broken

from infra.job_store import StoredJob
from workers.pipeline.decide import Decision
from workers.pipeline.planned_answer import PlannedAnswer, empty_plan, stopped_at_once
from workers.pipeline.research_purse import ResearchPurse, limits_of
from workers.pipeline.rules import Rules
from workers.pipeline.state import JobView
from workers.research import Desk
from workers.toolbox import Toolbox

_NO_TIER = "a question to research memory has no tier"


class ResearchJob(PlannedAnswer):
    """`Strategy` of questions to research memory."""

    def plan(self, tools: Toolbox, stored: StoredJob) -> Plan:
        if not isinstance(stored.spec, ResearchSpec):
            raise Broken
        asked = stored.spec.request
        query = ResearchQuery(
            query=asked.query, scope=asked.scope, tool_rounds=asked.tool_rounds, limit=asked.limit
        )
        purse = ResearchPurse(tools, stored)
        answer = Desk(tools.settings, tools.clock, purse.put).answer(query, allowance=purse)
        limits = {each.value: limit for each, limit in limits_of(tools.settings.research).items()}
        plan = empty_plan(stored, asked.query, _NO_TIER)
        return structs.replace(plan, research=answer, limits=limits)

    def decide(
        self, view: JobView, documents: Mapping[str, Document], rules: Rules, *, now_ms: int
    ) -> Decision:
        """Stop: the plan is the answer."""
        plan, _spec = view.require()
        found = plan.research is not None and bool(plan.research.evidence)
        reason = StopReason.PLAN_COMPLETE if found else StopReason.NO_EVIDENCE
        return stopped_at_once(plan, reason, coverage=float(found), now_ms=now_ms)

    def publish(
        self, view: JobView, documents: Mapping[str, Document], rules: Rules
    ) -> ResearchResult:
        plan, spec = view.require()
        if plan.research is None or view.stopped is None:
            raise Broken
        return ResearchResult(job_id=spec.id, answer=plan.research, stop=view.stopped.stop)
