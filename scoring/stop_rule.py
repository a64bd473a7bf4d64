"""When more searching would not change the answer: pure, asked after every arrival, and always with its numbers.

Narrow tiers (L0, L1) end at agreement or at the budget, and ending there is no cut. Coverage tiers (L2, L3) end when
the checklist is closed or nothing new comes; there the budget or the deadline first means that something is missing.
Saturation is an estimate from few, dependent sources and over-estimates: it is reported with its basis, it counts only
together with replies in a row that brought nothing, and neither a failed source nor a second page of the same site
counts for it. `signal-search eval stop` measures how often it is wrong.
"""

from collections.abc import Callable

from msgspec import Struct
from signal_search.contracts.query import Tier
from signal_search.contracts.result import Stop, StopReason

from scoring.saturation import Saturation, saturation_of
from scoring.stop_texts import TEXTS, would_have

__all__ = [
    "TEXTS",
    "Arrival",
    "Continue",
    "Evidence",
    "QuestionEvidence",
    "StopRules",
    "coverage_of",
    "decide",
    "is_exhausted",
]

_NARROW = frozenset({Tier.L0, Tier.L1})
_CUTS = frozenset({StopReason.BUDGET_COVERAGE, StopReason.DEADLINE})
# An estimate from fewer finds than this says nothing.
_LEAST_FINDS = 4
_LEAST_SITES = 2


class StopRules(Struct, frozen=True, kw_only=True):
    """The section `stop` of the settings, field by field.

    quiet_arrivals end a narrow search, quiet_arrivals_wide one for coverage; saturated_arrivals are those that the
    estimate needs beside it.
    """

    agreement: int = 2
    quiet_arrivals: int = 4
    quiet_arrivals_wide: int = 12
    saturated_arrivals: int = 8
    coverage_at: float = 1.0
    saturation_at: float = 0.9
    min_sources: int = 2


class QuestionEvidence(Struct, frozen=True, kw_only=True):
    """What one sub-question has so far.

    sites: independent sites whose text speaks to it; agreeing: the most of them that say the same; elsewhen: documents
    that speak to it, but not of the time it names; pending: its calls that are not answered yet. A contrary question is
    closed when it was asked, for there may be nothing to find.
    """

    question_id: str
    sites: int = 0
    agreeing: int = 0
    elsewhen: int = 0
    pending: int = 0
    is_contrary: bool = False


class Arrival(Struct, frozen=True, kw_only=True):
    """One reply: what it added to the best passages, and how many documents nobody had met before.

    A failed one is no news about the world.
    """

    new: int
    fresh: int = 0
    round: int = 1
    failed: bool = False


class Evidence(Struct, frozen=True, kw_only=True):
    """The state of a job as the rule sees it.

    finds: for each distinct find, on how many independent sites it was seen; left: what is left of the purse by
    dimension; outstanding: calls and fetches on their way; unmade: calls that could still be made in this or a later
    round; judged_enough, gap_closed: what a judge said; needs_search: false when the given documents suffice.
    """

    tier: Tier
    questions: tuple[QuestionEvidence, ...] = ()
    arrivals: tuple[Arrival, ...] = ()
    finds: tuple[int, ...] = ()
    sites: int = 0
    left: dict[str, int] = {}
    outstanding: int = 0
    unmade: int = 0
    rounds: int = 1
    max_rounds: int = 1
    deadline_passed: bool = False
    cancelled: bool = False
    judged_enough: bool = False
    gap_closed: bool = False
    needs_search: bool = True


class Continue(Struct, frozen=True, kw_only=True):
    """Go on; the numbers of this moment are for the trace."""

    coverage: float
    saturation: float
    basis: str


def decide(evidence: Evidence, rules: StopRules, language: str = "en") -> Continue | Stop:
    """Decide on the evidence so far; every stop has one reason, its text, the numbers, and what would come next."""
    coverage = coverage_of(evidence, rules)
    estimate = saturation_of(evidence.finds)
    tests = _NARROW_TESTS if evidence.tier in _NARROW else _COVERAGE_TESTS
    for reason, test in (*_FIRST_TESTS, *tests, *_LAST_TESTS):
        if test(_View(evidence, rules, coverage, estimate)):
            return _stop(reason, evidence, coverage, estimate, language)
    return Continue(coverage=coverage, saturation=estimate.value, basis=estimate.basis)


def coverage_of(evidence: Evidence, rules: StopRules) -> float:
    """Return the share (0..1) of the sub-questions that are closed; 0 without any."""
    closed = [_is_closed(each, evidence.tier, rules) for each in evidence.questions]
    return round(sum(closed) / len(closed), 4) if closed else 0.0


def is_exhausted(reason: StopReason, tier: Tier) -> bool:
    """Say whether an end means that something is missing: a cut, where coverage was wanted."""
    return reason in _CUTS and tier not in _NARROW


def _is_closed(question: QuestionEvidence, tier: Tier, rules: StopRules) -> bool:
    needed = 1 if tier in _NARROW else rules.min_sources
    return question.sites >= needed or (question.is_contrary and not question.pending)


def _stop(
    reason: StopReason, evidence: Evidence, coverage: float, estimate: Saturation, language: str
) -> Stop:
    open_ids = [each.question_id for each in evidence.questions if not each.sites]
    return Stop(
        reason=reason,
        text=TEXTS[reason]["zh" if language == "zh" else "en"],
        exhausted=is_exhausted(reason, evidence.tier),
        coverage=coverage,
        saturation=estimate.value,
        rounds=evidence.rounds,
        basis=estimate.basis,
        would_have=would_have(evidence.outstanding, evidence.unmade, open_ids, language),
    )


# --- the tests, in the order in which they are asked ------------------------------------------------------------------


class _View(Struct, frozen=True):
    evidence: Evidence
    rules: StopRules
    coverage: float
    estimate: Saturation


_Test = tuple[StopReason, Callable[[_View], bool]]


def _agrees(view: _View) -> bool:
    """One source is enough for a checkable value; one fact wants as many as the rules say."""
    needed = 1 if view.evidence.tier is Tier.L0 else view.rules.agreement
    main = [each for each in view.evidence.questions if not each.is_contrary]
    return bool(main) and all(each.agreeing >= needed for each in main)


def _is_spent(view: _View) -> bool:
    return any(amount <= 0 for name, amount in view.evidence.left.items() if name != "rounds")


def _is_covered(view: _View) -> bool:
    is_closed = bool(view.evidence.questions) and view.coverage >= view.rules.coverage_at
    return is_closed or view.evidence.gap_closed or view.evidence.judged_enough


def _is_saturated(view: _View) -> bool:
    has_basis = len(view.evidence.finds) >= _LEAST_FINDS and view.evidence.sites >= _LEAST_SITES
    is_near = has_basis and view.estimate.value >= view.rules.saturation_at
    return is_near and _is_silent(_heard(view), view.rules.saturated_arrivals)


def _is_quiet(view: _View) -> bool:
    return _is_silent(_heard(view), view.rules.quiet_arrivals) or _has_barren_round(view)


def _is_quiet_for_long(view: _View) -> bool:
    return _is_silent(_heard(view), view.rules.quiet_arrivals_wide) or _has_barren_round(view)


def _heard(view: _View) -> list[Arrival]:
    """Return the replies that say something of the world: failed ones are no silence."""
    return [each for each in view.evidence.arrivals if not each.failed]


def _is_silent(heard: list[Arrival], number: int) -> bool:
    """Nothing new in the last `number` replies, after something was: empty first answers are no saturation."""
    last = heard[-number:]
    return any(each.new for each in heard) and len(last) == number and not any(e.new for e in last)


def _has_barren_round(view: _View) -> bool:
    """A whole round after the first brought no document that was not known: these words find nothing more."""
    heard, evidence = _heard(view), view.evidence
    if evidence.outstanding or not any(each.new for each in heard):
        return False
    last = [each for each in heard if each.round == evidence.rounds]
    is_first = all(each.round == evidence.rounds for each in heard)
    return bool(last) and not is_first and not any(each.new or each.fresh for each in last)


def _is_over(view: _View) -> bool:
    return view.evidence.outstanding == 0 and view.evidence.unmade == 0


def _has_dried_up(view: _View) -> bool:
    """Nothing is left to ask, since the last source was left when it said nothing new."""
    return _is_over(view) and _is_silent(_heard(view), view.rules.quiet_arrivals)


def _none_reached(view: _View) -> bool:
    return _is_over(view) and all(each.failed for each in view.evidence.arrivals)


def _none_found(view: _View) -> bool:
    return _is_over(view) and not any(
        each.sites or each.elsewhen for each in view.evidence.questions
    )


_FIRST_TESTS: tuple[_Test, ...] = (
    (StopReason.CANCELLED, lambda view: view.evidence.cancelled),
    (StopReason.NO_SEARCH_NEEDED, lambda view: not view.evidence.needs_search),
)
_NARROW_TESTS: tuple[_Test, ...] = (
    (StopReason.AGREEMENT, _agrees),
    (StopReason.BUDGET_NARROW, _is_spent),
    (StopReason.DEADLINE, lambda view: view.evidence.deadline_passed),
    (StopReason.NOTHING_NEW, _is_quiet),
    (StopReason.NO_SEARCH_NEEDED, lambda view: view.evidence.judged_enough),
)
_COVERAGE_TESTS: tuple[_Test, ...] = (
    (StopReason.CHECKLIST_CLOSED, _is_covered),
    (StopReason.SATURATED, _is_saturated),
    (StopReason.NOTHING_NEW, _is_quiet_for_long),
    (StopReason.BUDGET_COVERAGE, _is_spent),
    (StopReason.DEADLINE, lambda view: view.evidence.deadline_passed),
)
_LAST_TESTS: tuple[_Test, ...] = (
    (StopReason.NO_SOURCE_REACHED, _none_reached),
    (StopReason.NO_EVIDENCE, _none_found),
    (StopReason.NOTHING_NEW, _has_dried_up),
    (StopReason.PLAN_COMPLETE, _is_over),
)
