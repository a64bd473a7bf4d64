"""The kind `survey`: papers from several sides. Each side asks each register; rules leave out; then it is cut."""

from collections.abc import Mapping

from signal_search.contracts.document import Document
from signal_search.contracts.job import SurveySpec
from signal_search.contracts.plan import Plan, SearchFrame
from signal_search.contracts.search import SurveyRequest
from signal_search.contracts.search_result import SurveyResult
from signal_search.errors import Broken

from infra.job_store import StoredJob
from workers.pipeline.hits_job import (
    BEFORE_SOURCES,
    HitsJob,
    configured,
    framed,
    hit_rules,
    limits_of,
)
from workers.pipeline.model_calls import asking, figures_for
from workers.pipeline.rules import Rules
from workers.pipeline.state import JobView
from workers.pipeline.survey_publish import publish_survey
from workers.planning.search_reading import named_sources, plan_survey
from workers.planning.side_queries import Sides, name_sides
from workers.toolbox import Toolbox


class SurveyJob(HitsJob):
    """`Strategy` of surveys."""

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

    def prepare(
        self, tools: Toolbox, view: JobView, documents: Mapping[str, Document], rules: Rules
    ) -> bool:
        """Ask nothing: the result rests on the registers alone."""
        return False

    def publish(
        self, view: JobView, documents: Mapping[str, Document], rules: Rules
    ) -> SurveyResult:
        return publish_survey(view, documents, rules)


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
