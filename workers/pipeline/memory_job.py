"""The kind `memory`: something is done to the memories of one scope, by a worker that has their files.

The plan holds what came of it, so that a step which runs twice does it once: what was done is in the log by then, and
where it is not yet, the job's id is the event that the files know.
"""

from collections.abc import Mapping

from msgspec import structs
from signal_search.contracts.document import Document
from signal_search.contracts.job import MemorySpec
from signal_search.contracts.memory import MemoryRequest
from signal_search.contracts.memory_index import IndexFolder
from signal_search.contracts.memory_result import MemoryAnswer, MemoryResult
from signal_search.contracts.plan import Plan
from signal_search.contracts.result import StopReason
from signal_search.errors import Broken

from infra.job_store import StoredJob
from workers.memory.performing import answer, answer_of
from workers.pipeline.decide import Decision
from workers.pipeline.planned_answer import PlannedAnswer, empty_plan, stopped_at_once
from workers.pipeline.rules import Rules
from workers.pipeline.state import JobView
from workers.research import Desk
from workers.toolbox import Toolbox

_NO_TIER = "a command to research memory has no tier"


class MemoryJob(PlannedAnswer):
    """`Strategy` of commands to research memory."""

    def plan(self, tools: Toolbox, stored: StoredJob) -> Plan:
        """Carry the command out. Raises StoreFailed when the files cannot be used; the step is then tried again."""
        if not isinstance(stored.spec, MemorySpec):
            raise Broken
        desk = Desk(tools.settings, tools.clock)
        made = _carried_out(desk, stored.spec.request, stored.spec.id)
        return structs.replace(empty_plan(stored, "", _NO_TIER), memory=made)

    def decide(
        self, view: JobView, documents: Mapping[str, Document], rules: Rules, *, now_ms: int
    ) -> Decision:
        """Stop: the plan is the answer, a refusal too."""
        plan, _spec = view.require()
        return stopped_at_once(plan, StopReason.PLAN_COMPLETE, coverage=1.0, now_ms=now_ms)

    def publish(
        self, view: JobView, documents: Mapping[str, Document], rules: Rules
    ) -> MemoryResult:
        plan, spec = view.require()
        if plan.memory is None or view.stopped is None:
            raise Broken
        return MemoryResult(job_id=spec.id, answer=plan.memory, stop=view.stopped.stop)


def _carried_out(desk: Desk, asked: MemoryRequest, event: str) -> MemoryAnswer:
    """Carry a command out; to compare an index twice with its folder is as good as once, so it needs no event."""
    command = asked.command
    if isinstance(command, IndexFolder):
        return answer_of(lambda: desk.refresh(command.scope, anew=command.anew))
    return answer(desk.store(command.scope), command, actor=asked.actor, event=event)
