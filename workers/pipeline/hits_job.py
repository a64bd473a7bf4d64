"""What the kinds have in common that answer with hits: searches and surveys, apart from what they plan and publish."""

from collections.abc import Mapping

from signal_search.contracts.budget import Amounts, Budget
from signal_search.contracts.document import Document
from signal_search.contracts.hit import HitWeights
from signal_search.contracts.job import JobEvent, SearchSpec
from signal_search.contracts.outcome import AnyResult
from signal_search.contracts.plan import Plan, PlannedCall, SearchFrame, SubQuestion
from signal_search.contracts.query import Intent, Tier
from signal_search.contracts.result import Stop, StopReason
from signal_search.contracts.search_plan import SearchPlan
from signal_search.contracts.source import SourceQuery
from signal_search.errors import Broken, SignalSearchError

from budget.policy import limits_for
from infra.job_store import StoredJob
from infra.settings import Search
from scoring.hit_rules import HitRules
from workers.pipeline.decide import Decision
from workers.pipeline.rules import Rules
from workers.pipeline.search_decide import decide_search
from workers.pipeline.state import JobView
from workers.planning.search_plan import ask_of
from workers.registry import Source
from workers.toolbox import Toolbox

_ROUNDS = 2  # the second one is for sources that stand in for a failed one
BEFORE_SOURCES = 0.4
"""Of a search's time: for a model that is asked before the sources."""

_PARTIAL = frozenset({StopReason.DEADLINE, StopReason.NO_SOURCE_REACHED})


class HitsJob:
    """The part of `Strategy` in which searches and surveys are alike."""

    asks_at_once = True

    def check(self, tools: Toolbox, stored: StoredJob) -> None:
        """Let all through: what cannot be asked here is told beside the hits."""

    def ask(
        self, tools: Toolbox, plan: Plan, call: PlannedCall, source: Source, stored: StoredJob
    ) -> SourceQuery:
        return _asked_of(plan, call)

    def decide(
        self, view: JobView, documents: Mapping[str, Document], rules: Rules, *, now_ms: int
    ) -> Decision:
        return decide_search(view, rules, now_ms=now_ms)

    def evidence(
        self, view: JobView, documents: Mapping[str, Document], decision: Decision
    ) -> tuple[str, ...]:
        return tuple(documents)

    def rest(
        self, tools: Toolbox, view: JobView, documents: Mapping[str, Document], rules: Rules
    ) -> AnyResult | None:
        """Leave nothing: an unfinished answer is none."""
        return None

    def event(self, stop: Stop) -> JobEvent:
        return JobEvent.DEGRADE if stop.reason in _PARTIAL else JobEvent.SUCCEED


def _asked_of(plan: Plan, call: PlannedCall) -> SourceQuery:
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
