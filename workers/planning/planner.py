"""From a request to a plan: the one entry of this folder, pure and the same on every run.

Nothing is asked of a model and nothing is fetched; what was cut or could not be used is in the plan's notes.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct
from signal_search.contracts.budget import Budget, Dimension
from signal_search.contracts.plan import Plan, PlannedCall, SubQuestion
from signal_search.contracts.query import DelegationKind, RetrieveRequest, Tier
from signal_search.contracts.source import SourceView

from budget.policy import forecast, limits_for
from workers.planning.aspects import aspect_note, by_aspects
from workers.planning.choose_sources import IDENTIFIED, Choice, choose_sources, constraint_use
from workers.planning.decompose import Decomposition, decompose, is_covered
from workers.planning.expand import expand
from workers.planning.identifiers import find_identifiers
from workers.planning.intent import IntentReading, needs_clarification, read_intent
from workers.planning.language import language_of
from workers.planning.override import ordered_tier, split_override
from workers.planning.subject import contrary_question
from workers.planning.tier import TierReading, read_tier
from workers.planning.topics import SCHEME_TOPICS, topics_of

CLARIFY_NOTE = "clarification_suggested"
SHARED_QUESTION = "*"


class TierLimits(Protocol):
    """What a tier may spend and how wide and deep it looks; the settings' section has this form."""

    @property
    def tokens(self) -> int: ...
    @property
    def max_sources(self) -> int: ...
    @property
    def width(self) -> int: ...
    @property
    def max_rounds(self) -> int: ...
    @property
    def calls(self) -> int: ...
    @property
    def fetches(self) -> int: ...
    @property
    def bytes(self) -> int: ...


def make_plan(  # noqa: PLR0913 - all but the first are keywords, each a part of the deployment or of the wish
    request: RetrieveRequest,
    *,
    sources: Sequence[SourceView],
    tiers: Mapping[Any, TierLimits],
    shared: Callable[[str], bool] = lambda _: False,
    ceilings: Mapping[str, int] | None = None,
    clarify_below: float = 0.6,
    outline: Decomposition | None = None,
) -> Plan:
    """Plan a retrieve job.

    `tiers` by name (L0 to L3). `shared` says of a source id whether one call serves all sub-questions. Limits are the
    tier's, replaced by the request's own budget (an explicit 0 counts) and cut to `ceilings` where one is named.
    `outline` takes the place of our own decomposition; the tier's width and its contrary sub-question stay.
    """
    asked = _read(request)
    tier = tiers[asked.tier.tier.value]
    most = request.constraints.max_sources or tier.max_sources
    outline = outline or _aspects(asked, request, tier.width)
    split, questions = _questions(asked, tier.width, outline)
    choice = _choose(asked, request, sources, most, shared)
    purse = _limits(tier, request.budget, ceilings or {})
    rounds = min(tier.max_rounds, purse[Dimension.ROUNDS])
    calls, cut = _calls(questions, choice, purse[Dimension.CALLS], max(1, rounds))
    return Plan(
        query=asked.text,
        language=asked.language,
        intent=asked.intent.intent,
        intent_confidence=asked.intent.confidence,
        tier=asked.tier.tier,
        tier_reason=asked.tier.reason,
        questions=questions,
        calls=calls,
        limits=purse,
        max_sources=most,
        max_rounds=rounds,
        constraint_use=constraint_use(choice.ids, sources, request.constraints),
        notes=_notes(asked, split, questions, choice, cut, (purse, clarify_below)),
    )


class _Asked(Struct, frozen=True):
    text: str
    language: str
    intent: IntentReading
    tier: TierReading


def _read(request: RetrieveRequest) -> _Asked:
    override = split_override(request.query)
    text, wanted = override.query, request.constraints
    ordered = ordered_tier(override.tier, request.depth, wanted.required_tier)
    intent = read_intent(text)
    tier = read_tier(text, intent.intent, ordered)
    return _Asked(text, language_of(text, wanted.language), intent, tier)


# --- questions --------------------------------------------------------------------------------------------------------


def _questions(
    asked: _Asked, width: int, outline: Decomposition | None
) -> tuple[Decomposition, tuple[SubQuestion, ...]]:
    """Split the question; L2 and L3 keep one place of their width for the contrary sub-question."""
    has_contrary = asked.tier.tier in {Tier.L2, Tier.L3} and width > 1
    split = decompose(asked.text, width - has_contrary) if outline is None else outline
    found = split.questions
    if has_contrary and not any(each.role == "contrary" for each in found):
        found = found[: width - 1]
        found = (*found, contrary_question(asked.text, len(found) + 1))
    return split, tuple(expand(each) for each in found)


def _aspects(asked: _Asked, request: RetrieveRequest, width: int) -> Decomposition | None:
    """Return the default aspects of a research: a job whose caller confirms the outline. Others have none."""
    if DelegationKind.OUTLINE_CONFIRM not in request.delegate:
        return None
    return by_aspects(asked.text, asked.tier.tier, width)


def _choose(
    asked: _Asked,
    request: RetrieveRequest,
    sources: Sequence[SourceView],
    most: int,
    shared: Callable[[str], bool],
) -> Choice:
    return choose_sources(
        _topics(asked.text),
        sources,
        request.constraints,
        language=asked.language,
        cap=most,
        shared=shared,
    )


def _topics(text: str) -> dict[str, float]:
    topics = topics_of(text)
    for each in find_identifiers(text):
        topic = SCHEME_TOPICS[each.scheme]
        topics[topic] = topics.get(topic, 0.0) + 2 * IDENTIFIED
    return topics


# --- limits -----------------------------------------------------------------------------------------------------------


def _limits(
    tier: TierLimits, budget: int | Budget | None, ceilings: Mapping[str, int]
) -> dict[str, int]:
    plain = {
        each.value: getattr(tier, each.value) for each in Dimension if each != Dimension.ROUNDS
    }
    found = limits_for({**plain, Dimension.ROUNDS.value: tier.max_rounds}, budget)
    return {
        each.value: min(amount, ceilings.get(each.value, amount)) for each, amount in found.items()
    }


# --- calls ------------------------------------------------------------------------------------------------------------


def _calls(
    questions: Sequence[SubQuestion], choice: Choice, limit: int, max_rounds: int
) -> tuple[tuple[PlannedCall, ...], int]:
    """Return the calls that fit the limit and how many do not.

    Shared calls come first, then source by source over all questions: a cut takes the last source from the last
    question, and never a whole question. A question that waits for another belongs to a later round.
    """
    shared = [
        _shared_call(i, each) for i, each in enumerate(choice.ids, 1) if each in choice.shared
    ]
    single = [each for each in choice.ids if each not in choice.shared]
    rounds = rounds_of(questions, max_rounds)
    rest = [_call(question, each, rounds[question.id]) for each in single for question in questions]
    calls = (*shared, *rest)
    return calls[:limit], max(0, len(calls) - limit)


def _shared_call(number: int, source_id: str) -> PlannedCall:
    name = f"all.{source_id}" if ":" not in source_id else f"all.{source_id[:4]}{number}"
    return PlannedCall(id=name, source_id=source_id, question_id=SHARED_QUESTION, shared=True)


def _call(question: SubQuestion, source_id: str, in_round: int) -> PlannedCall:
    return PlannedCall(
        id=f"{question.id}.{source_id}",
        source_id=source_id,
        question_id=question.id,
        round=in_round,
    )


def rounds_of(questions: Sequence[SubQuestion], max_rounds: int) -> dict[str, int]:
    """Return the round of each question: one after the latest it waits for, within the rounds there are."""
    found: dict[str, int] = {}
    for each in questions:
        after = max((found.get(other, 0) for other in each.depends_on), default=0)
        found[each.id] = min(after + 1, max_rounds)
    return found


# --- notes ------------------------------------------------------------------------------------------------------------


def _notes(
    asked: _Asked,
    split: Decomposition,
    questions: Sequence[SubQuestion],
    choice: Choice,
    cut: int,
    figures: tuple[Mapping[str, int], float],
) -> tuple[str, ...]:
    purse, clarify_below = figures
    is_unclear = needs_clarification(asked.intent.confidence, clarify_below)
    found = [
        f"intent cue: {asked.intent.reason}",
        f"decomposition: {split.pattern}",
        f"expected_tokens: {forecast(purse[Dimension.TOKENS])}",
        split.note,
        aspect_note(questions, asked.tier.tier),
        "" if is_covered(split) else "a part of the question is covered by no sub-question",
        CLARIFY_NOTE if is_unclear else "",
        f"calls beyond the limit: {cut}" if cut else "",
        *choice.notes,
    ]
    return tuple(each for each in found if each)
