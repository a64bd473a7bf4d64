"""A plan with its caller's help: how deep, what is meant, which sources, which sub-questions.

Each question is asked only where the caller offers it and where something is open to it: an ordered tier is not
classified, named sources are not chosen again. Limits, constraints and the tenant's quota stay what they are.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace
from signal_search.contracts.delegation import (
    Candidate,
    Clarify,
    OutlineAnswer,
    OutlineConfirm,
    Route,
    RouteAnswer,
    TextAnswer,
    TierAnswer,
    TierClassify,
)
from signal_search.contracts.plan import Plan
from signal_search.contracts.query import DelegationKind, RetrieveRequest, Tier
from signal_search.contracts.source import SourceView

from workers.pipeline.delegating import Asking
from workers.planning.choose_sources import is_usable
from workers.planning.clarifying import clarified, clarifying_question
from workers.planning.decompose import Decomposition
from workers.planning.outline import UNREADABLE_NOTE, read_outline, write_outline
from workers.planning.override import ordered_tier, split_override

Draft = Callable[[RetrieveRequest, Decomposition | None], Plan]
"""Make a plan for a request, with an outline of the caller's or without."""


@dataclass(frozen=True)
class Around:
    """What the deployment adds: its sources, the width of each tier, and when a question counts as unclear."""

    sources: Sequence[SourceView]
    widths: Mapping[str, int]
    clarify_below: float


CLASSIFIED = "the caller's model classified it"


def consulted(
    asking: Asking,
    request: RetrieveRequest,
    draft: Draft,
    around: Around,
) -> Plan:
    """Return the plan after every question that is open to the caller.

    Raises:
        Postpone: an answer may still come.
    """
    request, is_classified = _classified(asking, request, draft(request, None))
    request = _clarified(asking, request, draft(request, None), around.clarify_below)
    request = _routed(asking, request, draft(request, None), around.sources)
    plan = _outlined(asking, request, draft, around.widths)
    return replace(plan, tier_reason=CLASSIFIED) if is_classified else plan


def _classified(
    asking: Asking, request: RetrieveRequest, plan: Plan
) -> tuple[RetrieveRequest, bool]:
    wanted = request.constraints
    prefix = split_override(request.query).tier
    if ordered_tier(prefix, request.depth, wanted.required_tier) is not None:
        return request, False
    question = TierClassify(query=plan.query, suggested=plan.tier, options=tuple(Tier))
    answer = asking.answer("tier_classify", question)
    if not isinstance(answer, TierAnswer):
        return request, False
    return replace(request, constraints=replace(wanted, required_tier=answer.tier)), True


def _clarified(
    asking: Asking, request: RetrieveRequest, plan: Plan, below: float
) -> RetrieveRequest:
    if plan.intent_confidence >= below:
        return request
    question = Clarify(
        query=plan.query, text=clarifying_question(plan.query), suggested=plan.intent
    )
    answer = asking.answer("clarify", question)
    if not isinstance(answer, TextAnswer) or not answer.text.strip():
        return request
    return replace(request, query=clarified(request.query, answer.text))


def _routed(
    asking: Asking, request: RetrieveRequest, plan: Plan, sources: Sequence[SourceView]
) -> RetrieveRequest:
    """Let the caller choose among the sources that may be asked; one that the caller blocks is none of them."""
    prefs = request.constraints.source_prefs
    candidates = tuple(
        Candidate(id=each.id, name=each.name, category=each.category)
        for each in sources
        if is_usable(each) and each.id not in prefs.block
    )
    if prefs.only or request.constraints.domain or not candidates:
        return request  # where to look is said already
    suggested = tuple(dict.fromkeys(each.source_id for each in plan.calls))
    most = min(len(candidates), plan.max_sources)
    question = Route(query=plan.query, candidates=candidates, suggested=suggested, most=most)
    answer = asking.answer("route", question)
    if not isinstance(answer, RouteAnswer) or not answer.sources:
        return request
    chosen = replace(prefs, only=answer.sources)
    return replace(request, constraints=replace(request.constraints, source_prefs=chosen))


def _outlined(
    asking: Asking, request: RetrieveRequest, draft: Draft, widths: Mapping[str, int]
) -> Plan:
    plan = draft(request, None)
    most = widths[plan.tier.value]
    if not asking.offers(DelegationKind.OUTLINE_CONFIRM) or not plan.calls or most == 1:
        return plan
    shown = write_outline(plan.query, plan.questions)
    question = OutlineConfirm(query=plan.query, outline=shown, most=most)
    answer = asking.answer("outline_confirm", question)
    if not isinstance(answer, OutlineAnswer):
        return plan
    outline = read_outline(answer.outline, plan.questions, most)
    if outline is None:
        return replace(plan, notes=(*plan.notes, UNREADABLE_NOTE))
    return draft(request, outline)
