"""Measuring the stop rule: it is asked after every reply of a simulated search, and the labels check its decision.

"Saturated" is wrong when less than FOUND_ENOUGH of what all rounds can reach was found; "complete" when a sub-question
lacks the sources it needs. Beside the rule stand rules that end after a fixed number of rounds: the price of knowing.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import fmean

from msgspec import Struct
from signal_search.contracts.query import Tier
from signal_search.contracts.result import Stop, StopReason

from scoring.simulated_search import ROUNDS, Judge, Progress, Search, by_labels, with_errors
from scoring.stop_rule import Evidence, QuestionEvidence, StopRules, decide

FOUND_ENOUGH = 0.8
# With fewer useful documents a share says nothing.
LEAST_USEFUL = 4
LEAST_REACHABLE = 2
FIXED_ROUNDS = (2, 4, 8)

_SATURATED = frozenset({StopReason.SATURATED, StopReason.NOTHING_NEW})


class Ended(Struct, frozen=True, kw_only=True):
    """Where a rule ended a search: why, after what share of the replies, with what share found (0..1)."""

    reason: StopReason
    share: float
    recall: float


class CoverageReport(Struct, frozen=True, kw_only=True):
    """The searches of a collection under one rule; shares are 0..1, None where there is nothing to divide by."""

    n: int
    recall_mean: float | None
    recall_p10: float | None
    rounds_mean: float | None
    rounds_share: float | None
    declared_saturated: int
    false_saturated: float | None
    reasons: dict[str, int]


class ChecklistReport(Struct, frozen=True, kw_only=True):
    """Jobs of two sub-questions: how many ended as complete, and how many of these with a sub-question open."""

    n: int
    complete: int
    complete_but_open: int
    without_reason: int
    rounds_mean: float | None


class AgreementReport(Struct, frozen=True, kw_only=True):
    """Single facts: how many ended in agreement, the share of these that agreed on a useful document, the replies."""

    n: int
    agreed: int
    right: float | None
    replies_mean: float | None


class StopReport(Struct, frozen=True, kw_only=True):
    """Everything about one collection."""

    saturation: CoverageReport
    saturation_erring_judge: CoverageReport
    fixed_rounds: dict[str, CoverageReport]
    checklist: ChecklistReport
    agreement: dict[str, AgreementReport]


def evaluate_stop(searches: Sequence[Search], rules: StopRules) -> StopReport:
    """Return the figures of one collection."""
    rich = [each for each in searches if _is_rich(each)]
    return StopReport(
        saturation=_report([_until_saturated(each, rules, by_labels) for each in rich]),
        saturation_erring_judge=_report([_until_saturated(e, rules, with_errors) for e in rich]),
        fixed_rounds={str(n): _report([_after(each, n) for each in rich]) for n in FIXED_ROUNDS},
        checklist=_checklist(searches, rules),
        agreement={tier.value: _agreement(searches, tier, rules) for tier in (Tier.L0, Tier.L1)},
    )


# --- saturation -------------------------------------------------------------------------------------------------------


def _is_rich(search: Search) -> bool:
    return len(search.useful) >= LEAST_USEFUL and len(search.reachable()) >= LEAST_REACHABLE


def _until_saturated(search: Search, rules: StopRules, judge: Judge) -> Ended:
    """Search with a second sub-question that nothing answers, so that only saturation or the budget can end it."""
    progress = Progress(search, judge)
    for reply in search.shown():
        progress.take(*reply)
        found = decide(_wide(search, [progress], open_ids=("unanswerable",)), rules)
        if isinstance(found, Stop):
            return _ended(search, found.reason, len(progress.arrivals), progress)
    return _ended(search, StopReason.PLAN_COMPLETE, search.replies, progress)


def _wide(search: Search, parts: Sequence[Progress], *, open_ids: Sequence[str] = ()) -> Evidence:
    """Return the evidence of a coverage job with these sub-questions; the purse ends with the last reply."""
    arrivals = [each for part in parts for each in part.arrivals]
    waiting = -len(arrivals) % (len(search.orders) * len(parts))
    is_over = len(arrivals) == search.replies * len(parts)
    return Evidence(
        tier=Tier.L3,
        questions=(
            *(QuestionEvidence(question_id=str(n), sites=p.sources) for n, p in enumerate(parts)),
            *(QuestionEvidence(question_id=each, pending=1) for each in open_ids),
        ),
        arrivals=tuple(sorted(arrivals, key=lambda each: each.round)),
        finds=tuple(count for part in parts for count in part.finds),
        sites=max(part.sources for part in parts),
        left={"calls": 0 if is_over else 1},
        outstanding=waiting,
        unmade=1,
        rounds=max(each.round for each in arrivals),
        max_rounds=ROUNDS,
    )


def _ended(search: Search, reason: StopReason, replies: int, progress: Progress) -> Ended:
    reachable = search.reachable()
    recall = len(reachable & progress.met.keys()) / len(reachable)
    return Ended(reason=reason, share=replies / search.replies, recall=recall)


def _after(search: Search, rounds: int) -> Ended:
    progress = Progress(search, by_labels)
    for in_round, source, shown in search.shown():
        if in_round <= rounds:
            progress.take(in_round, source, shown)
    return _ended(search, StopReason.NOTHING_NEW, len(progress.arrivals), progress)


def _report(ended: Sequence[Ended]) -> CoverageReport:
    declared = [each for each in ended if each.reason in _SATURATED]
    recalls = sorted(each.recall for each in ended)
    share = _mean([each.share for each in ended])
    return CoverageReport(
        n=len(ended),
        recall_mean=_mean(recalls),
        recall_p10=round(recalls[len(recalls) // 10], 4) if recalls else None,
        rounds_mean=None if share is None else round(share * ROUNDS, 2),
        rounds_share=share,
        declared_saturated=len(declared),
        false_saturated=_mean([each.recall < FOUND_ENOUGH for each in declared]),
        reasons=dict(sorted(Counter(each.reason.value for each in ended).items())),
    )


def _mean(values: Sequence[float]) -> float | None:
    return round(fmean(values), 4) if values else None


# --- the checklist ----------------------------------------------------------------------------------------------------


def _checklist(searches: Sequence[Search], rules: StopRules) -> ChecklistReport:
    """Search neighbours as the two sub-questions of one job; whether they are closed is counted anew."""
    ended = [_until_stopped(first, second, rules) for first, second in pairwise(searches)]
    complete = [each for each in ended if each[0] is StopReason.CHECKLIST_CLOSED]
    return ChecklistReport(
        n=len(ended),
        complete=len(complete),
        complete_but_open=sum(not is_closed for _reason, is_closed, _rounds in complete),
        without_reason=sum(reason is None for reason, _closed, _rounds in ended),
        rounds_mean=_mean([rounds for _reason, _closed, rounds in ended]),
    )


def _until_stopped(
    first: Search, second: Search, rules: StopRules
) -> tuple[StopReason | None, bool, float]:
    """Return the reason, whether the labels call both sub-questions closed, and the rounds it took."""
    parts = [Progress(first, by_labels), Progress(second, by_labels)]
    brought: dict[str, set[int]] = {"first": set(), "second": set()}
    turns = enumerate(_in_turns(first, second, parts), 1)
    for seen, (name, part, search, (in_round, source, shown)) in turns:
        part.take(in_round, source, shown)
        if search.useful.intersection(shown):
            brought[name].add(source)
        found = decide(_wide(first, parts), rules)
        if isinstance(found, Stop):
            is_closed = all(len(each) >= rules.min_sources for each in brought.values())
            return found.reason, is_closed, seen / (2 * len(first.orders))
    return None, False, float(ROUNDS)


_Turn = tuple[str, Progress, Search, tuple[int, int, tuple[str, ...]]]


def _in_turns(first: Search, second: Search, parts: Sequence[Progress]) -> Iterator[_Turn]:
    for one, other in zip(first.shown(), second.shown(), strict=True):
        yield "first", parts[0], first, one
        yield "second", parts[1], second, other


# --- agreement --------------------------------------------------------------------------------------------------------


def _agreement(searches: Sequence[Search], tier: Tier, rules: StopRules) -> AgreementReport:
    """Ask source after source for its best document; sources that show the same one agree."""
    ended = [_until_agreed(each, tier, rules) for each in searches]
    agreed = [is_right for reason, is_right, _replies in ended if reason is StopReason.AGREEMENT]
    return AgreementReport(
        n=len(ended),
        agreed=len(agreed),
        right=_mean(agreed),
        replies_mean=_mean([replies for _reason, _right, replies in ended]),
    )


def _until_agreed(search: Search, tier: Tier, rules: StopRules) -> tuple[StopReason, bool, int]:
    votes: Counter[str] = Counter()
    for number, order in enumerate(search.orders, 1):
        votes.update(order[:1])
        best, agreeing = votes.most_common(1)[0] if votes else ("", 0)
        found = decide(
            Evidence(
                tier=tier,
                questions=(
                    QuestionEvidence(question_id="q", sites=votes.total(), agreeing=agreeing),
                ),
                outstanding=len(search.orders) - number,
            ),
            rules,
        )
        if isinstance(found, Stop):
            return found.reason, best in search.useful, number
    return StopReason.PLAN_COMPLETE, False, len(search.orders)
