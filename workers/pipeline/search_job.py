"""The kind `search`: hits at once. Sources are asked by intent and mode, their answers merged and ordered."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace
from signal_search.contracts.budget import Amounts, Budget, Dimension
from signal_search.contracts.document import Document
from signal_search.contracts.hit import HitWeights
from signal_search.contracts.job import JobEvent, JobState, SearchSpec
from signal_search.contracts.plan import Plan, PlannedCall, SearchFrame, SubQuestion
from signal_search.contracts.query import Intent, Tier
from signal_search.contracts.result import Stop, StopReason
from signal_search.contracts.search import SearchRequest
from signal_search.contracts.search_plan import SearchPlan
from signal_search.contracts.search_result import SearchResult
from signal_search.contracts.source import SourceQuery
from signal_search.contracts.trace import Summarised
from signal_search.errors import Broken, SignalSearchError

from budget.policy import limits_for
from infra.job_store import StoredJob
from infra.settings import Search
from scoring.hit_rules import HitRules
from workers.pipeline.decide import Decision
from workers.pipeline.model_calls import asking, figures_for
from workers.pipeline.rules import Rules
from workers.pipeline.search_decide import decide_search
from workers.pipeline.search_publish import found_by, frame_of, publish_search, summary_of
from workers.pipeline.state import JobView
from workers.planning.auto_weights import choose_weights
from workers.planning.search_plan import ask_of
from workers.planning.search_reading import named_sources, plan_request, queries_of
from workers.registry import Source
from workers.synthesis.summary import Shown, Summary, summarise
from workers.toolbox import Toolbox

_ROUNDS = 2  # the second one is for sources that stand in for a failed one
BEFORE_SOURCES = 0.4
"""Of a search's time: for a model that is asked before the sources."""

_AFTER_SOURCES = 1.0  # of what is left, and a little at least, for one that is asked after them
_PARTIAL = frozenset({StopReason.DEADLINE, StopReason.NO_SOURCE_REACHED})


class SearchJob:
    """`Strategy` of searches."""

    asks_at_once = True

    def check(self, tools: Toolbox, stored: StoredJob) -> None:
        """Let all through: what cannot be asked here is told beside the hits."""

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

    def event(self, stop: Stop) -> JobEvent:
        return event_of(stop)


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


def event_of(stop: Stop) -> JobEvent:
    """Return how a search that stopped so has ended."""
    return JobEvent.DEGRADE if stop.reason in _PARTIAL else JobEvent.SUCCEED


def asked_of(plan: Plan, call: PlannedCall) -> SourceQuery:
    """Return what a source is asked in a call of a search.

    Raises:
        Broken: the call is none of this plan's.
    """
    if plan.search is None:
        raise Broken
    found = next((each for each in plan.search.plan.calls if each.id == call.id), None)
    if found is None:
        raise Broken
    return ask_of(plan.search.plan, found)


def hit_rules(search: Search) -> HitRules:
    """Return the figures of the search layer that a plan looks up."""
    weights = {
        intent.value: HitWeights(**each.model_dump()) for intent, each in search.weights.items()
    }
    return HitRules(weights=weights, domain_boost=search.domain_boost, per_source=search.per_source)


def configured(tools: Toolbox, named: tuple[str, ...]) -> set[str]:
    """Return the sources that can be asked here: the enabled ones, and of those named what has its key or address."""
    found = {each.row.id for each in tools.registry.enabled()}
    for name in named:
        try:
            tools.registry.source(name)
        except SignalSearchError:
            continue
        found.add(name)
    return found


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


def limits_of(tools: Toolbox, budget: int | Budget | None) -> Amounts:
    """Return what a search may spend: the request's own limits, for the rest the settings'."""
    return limits_for({**tools.settings.search.limits.model_dump(), "rounds": _ROUNDS}, budget)


def framed(tools: Toolbox, stored: StoredJob, frame: SearchFrame) -> Plan:
    """Return the plan that the walk carries out for a search's own; what the purse is too small for is cut."""
    plan = frame.plan
    budget = stored.spec.request.budget if isinstance(stored.spec, SearchSpec) else None
    purse = {each.value: amount for each, amount in limits_of(tools, budget).items()}
    calls = _calls(plan)
    return Plan(
        query=plan.scored_against,
        language=plan.language,
        intent=Intent.FACT,
        intent_confidence=1.0,
        tier=Tier.L0,
        tier_reason="a search has no tier",
        questions=tuple(
            SubQuestion(id=each.id, text=each.text, terms=each.terms) for each in plan.sub_queries
        ),
        calls=calls[: purse["calls"]],
        limits=purse,
        max_sources=len({each.source_id for each in calls}),
        max_rounds=_ROUNDS,
        deadline_ms=stored.spec.deadline_ms,
        search=frame,
    )


def _calls(plan: SearchPlan) -> tuple[PlannedCall, ...]:
    """Return the calls; those of stand-ins belong to a second round that may never open."""
    return tuple(
        PlannedCall(
            id=each.id,
            source_id=each.source_id,
            question_id=each.query_id,
            round=_ROUNDS if each.instead_of else 1,
        )
        for each in plan.calls
    )
