"""The kind `search`: hits at once. Sources are asked by intent and mode, their answers merged and ordered."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace
from signal_search.contracts.budget import Dimension
from signal_search.contracts.document import Document
from signal_search.contracts.job import JobState, SearchSpec
from signal_search.contracts.plan import Plan, SearchFrame
from signal_search.contracts.search import SearchRequest
from signal_search.contracts.search_result import SearchResult
from signal_search.contracts.trace import Summarised
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
from workers.pipeline.search_publish import found_by, frame_of, publish_search, summary_of
from workers.pipeline.state import JobView
from workers.planning.auto_weights import choose_weights
from workers.planning.search_reading import named_sources, plan_request, queries_of
from workers.synthesis.summary import Shown, Summary, summarise
from workers.toolbox import Toolbox

_AFTER_SOURCES = 1.0  # of what is left, and a little at least, for one that is asked after them


class SearchJob(HitsJob):
    """`Strategy` of searches."""

    def plan(self, tools: Toolbox, stored: StoredJob) -> Plan:
        request = request_of(stored)
        search = tools.settings.search
        plan = plan_request(
            request,
            configured=configured(tools, named_sources(request)),
            joining=search.joining,
            rules=hit_rules(search),
            now_ms=stored.spec.created_at_ms,
        )
        return framed(tools, stored, _weighed(tools, stored, SearchFrame(plan=plan)))

    def prepare(
        self, tools: Toolbox, view: JobView, documents: Mapping[str, Document], rules: Rules
    ) -> bool:
        """Let the operator's model summarise the hits, where that was asked for and not done before."""
        _plan, spec = view.require()
        if not isinstance(spec, SearchSpec) or not spec.request.agent or summary_of(view).key:
            return False
        if frame_of(view).plan.mode == "multi":
            return False
        hits = found_by(view, documents, rules).order.hits
        shown = [Shown(title=each.title, snippet=each.snippet) for each in hits]
        said = _said(tools, view, shown)
        entry = Summarised(
            at_ms=tools.clock.now_ms(),
            key="summarised",
            text=said.text,
            error=said.error,
            tokens=said.tokens,
        )
        tools.log.append(spec.id, entry)
        return True

    def publish(
        self, view: JobView, documents: Mapping[str, Document], rules: Rules
    ) -> SearchResult:
        return publish_search(view, documents, rules)


def _said(tools: Toolbox, view: JobView, shown: Sequence[Shown]) -> Summary:
    plan, spec = view.require()
    limits = {Dimension(name): amount for name, amount in plan.limits.items()}
    stored = StoredJob(spec=spec, state=JobState.REDUCING)
    # The sources' time may be over: the summary has a little of its own.
    figures = figures_for(tools, stored, share=_AFTER_SOURCES)
    model = asking(tools, stored, "summary", limits)
    return summarise(plan.query, shown, figures, model)


def request_of(stored: StoredJob) -> SearchRequest:
    """Return what a search was asked.

    Raises:
        Broken: it is a job of another kind.
    """
    if not isinstance(stored.spec, SearchSpec):
        raise Broken
    return stored.spec.request


def _weighed(tools: Toolbox, stored: StoredJob, frame: SearchFrame) -> SearchFrame:
    """Return the frame with the weights that the operator's model chose, where they were asked for."""
    request = request_of(stored)
    if request.ranking != "auto" or frame.plan.mode == "multi":
        return frame
    model = asking(tools, stored, "weights", limits_of(tools, request.budget))
    figures = figures_for(tools, stored, share=BEFORE_SOURCES)
    chosen = choose_weights(queries_of(request)[0], figures, model)
    weights = None if chosen.error else chosen.weights
    return replace(frame, weights=weights, model_error=chosen.error, model_tokens=chosen.tokens)
