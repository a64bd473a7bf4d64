"""The kind `survey`: papers from several sides. Each side asks each register; rules leave out; then it is cut."""

from collections.abc import Mapping

from signal_search.contracts.document import Document
from signal_search.contracts.job import JobEvent, SurveySpec
from signal_search.contracts.plan import Plan, PlannedCall, SearchFrame
from signal_search.contracts.result import Stop
from signal_search.contracts.search import SurveyRequest
from signal_search.contracts.search_result import SurveyResult
from signal_search.contracts.source import SourceQuery
from signal_search.errors import Broken

from infra.job_store import StoredJob
from workers.pipeline.decide import Decision
from workers.pipeline.model_calls import asking, figures_for
from workers.pipeline.rules import Rules
from workers.pipeline.search_decide import decide_search
from workers.pipeline.search_job import (
    BEFORE_SOURCES,
    asked_of,
    configured,
    event_of,
    framed,
    hit_rules,
    limits_of,
)
from workers.pipeline.state import JobView
from workers.pipeline.survey_publish import publish_survey
from workers.planning.search_reading import named_sources, plan_survey
from workers.planning.side_queries import Sides, name_sides
from workers.registry import Source
from workers.toolbox import Toolbox


class SurveyJob:
    """`Strategy` of surveys."""

    asks_at_once = True

    def check(self, tools: Toolbox, stored: StoredJob) -> None:
        """Let all through: what cannot be asked here is told beside the hits."""

    def plan(self, tools: Toolbox, stored: StoredJob) -> Plan:
        request, search = _request_of(stored), tools.settings.search
        wanted = named_sources(request) or tuple(search.survey_sources)
        named = _sides(tools, stored, request)
        plan = plan_survey(
            request,
            configured=configured(tools, wanted),
            wanted=wanted,
            rules=hit_rules(search),
            now_ms=stored.spec.created_at_ms,
            queries=named.queries,
        )
        frame = SearchFrame(
            plan=plan,
            queries_by="caller" if request.queries else "model" if named.queries else "goal",
            model_error=named.error,
            model_tokens=named.tokens,
        )
        return framed(tools, stored, frame)

    def ask(
        self, tools: Toolbox, plan: Plan, call: PlannedCall, source: Source, stored: StoredJob
    ) -> SourceQuery:
        return asked_of(plan, call)

    def decide(
        self, view: JobView, documents: Mapping[str, Document], rules: Rules, *, now_ms: int
    ) -> Decision:
        return decide_search(view, rules, now_ms=now_ms)

    def evidence(
        self, view: JobView, documents: Mapping[str, Document], decision: Decision
    ) -> tuple[str, ...]:
        return tuple(documents)

    def prepare(
        self, tools: Toolbox, view: JobView, documents: Mapping[str, Document], rules: Rules
    ) -> bool:
        """Ask nothing: the result rests on the registers alone."""
        return False

    def publish(
        self, view: JobView, documents: Mapping[str, Document], rules: Rules
    ) -> SurveyResult:
        return publish_survey(view, documents, rules)

    def event(self, stop: Stop) -> JobEvent:
        return event_of(stop)


def _sides(tools: Toolbox, stored: StoredJob, request: SurveyRequest) -> Sides:
    """Return the sides that the operator's model names, where it was asked to and the caller named none."""
    if not request.agentic or request.queries:
        return Sides()
    model = asking(tools, stored, "sides", limits_of(tools, None))
    return name_sides(request.goal, figures_for(tools, stored, share=BEFORE_SOURCES), model)


def _request_of(stored: StoredJob) -> SurveyRequest:
    if not isinstance(stored.spec, SurveySpec):
        raise Broken
    return stored.spec.request
