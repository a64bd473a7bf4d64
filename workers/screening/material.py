"""What the reviewed texts of a target come to: what is useful, what is still to be reviewed, what a keyword scores."""

from collections.abc import Sequence

from signal_search.contracts.adaptive_plan import Target

from scoring.screening.algebra import KeywordScore, Row, reading_value, score_keyword
from scoring.screening.dates import DateStatus, Window, date_status
from scoring.screening.gates import credited, is_eligible, is_in_time, is_steering
from scoring.screening.judgement import is_assessed, known
from scoring.screening.progress import Material, Standing, standing
from workers.screening.pool import Association
from workers.screening.state import LoopState, TargetState


def window_of(target: Target) -> Window | None:
    """Return a target's days as the algebra takes them."""
    asked = target.window
    return Window(start=asked.start, end=asked.end, basis=asked.basis) if asked else None


def assessed(each: Association) -> bool:
    """Return whether a current review says all that is needed."""
    said = each.judgement
    return said is not None and is_assessed(said, has_window=each.target.window is not None)


def dated(each: Association) -> DateStatus:
    """Return whether a text lies within its target's days."""
    window = window_of(each.target)
    return date_status(window, published=each.source.published or None, text=each.text)


def is_useful(each: Association) -> bool:
    """Return whether a text may be shown for its target."""
    said = each.judgement
    if not each.text or said is None or not assessed(each) or not is_eligible(said):
        return False
    return each.target.window is None or (dated(each) == "eligible" and is_in_time(said))


def status_of(each: Association) -> str:
    """Return what became of a text: useful_result, or why it is not shown."""
    said = each.judgement
    if not each.text:
        return "no_text"
    if said is None or not assessed(each):
        return "unassessed"
    if is_useful(each):
        return "useful_result"
    if is_steering(said):
        return "excluded_injection"
    is_untimely = dated(each) != "eligible" or not is_in_time(said)
    return "date_unqualified" if each.target.window and is_untimely else "off_topic"


def value_of(each: Association) -> float | None:
    """Return what reading a text is worth, None where it is not known."""
    if each.judgement is None:
        return None
    return reading_value(each.judgement, has_intent=each.target.intent is not None)


def is_pending(each: Association) -> bool:
    """Return whether a text's review is missing or not complete."""
    said = each.judgement
    if not each.text:
        return False
    if said is None or not assessed(each):
        return True
    names = each.target.keywords
    return is_eligible(said) and any(known(said.keywords.get(name)) is None for name in names)


def may_ask(state: LoopState, each: Association) -> bool:
    """Return whether its judge may be asked about a text, now or in a later round."""
    return each.attempts.get(each.attempt, 0) < state.limits.review_attempts


def to_review(state: LoopState, target: Target) -> list[Association]:
    """Return what may be reviewed in this round, most promising first."""
    found = [
        each
        for each in state.pool.of(target)
        if each.round < state.round and is_pending(each) and may_ask(state, each)
    ]
    return sorted(found, key=lambda each: (-each.source.score, each.number))


def has_reviewable(state: LoopState, *, in_this_round: bool) -> bool:
    """Return whether an open target has material that may be reviewed; else, in any later round."""
    return any(
        is_pending(each)
        and may_ask(state, each)
        and (each.round < state.round or not in_this_round)
        for one in state.targets
        if open_keywords(state, one, "continue", "pending")
        for each in state.pool.of(one.target)
    )


def materials(state: LoopState, target: Target) -> list[Material]:
    """Return a target's texts as far as a decision rests on them."""
    return [
        Material(
            id=each.id,
            version=each.version,
            published=each.source.published,
            is_assessed=assessed(each),
            is_useful=is_useful(each),
            can_retry=may_ask(state, each),
            matches=each.judgement.keywords if each.judgement is not None else {},
        )
        for each in state.pool.of(target)
        if each.text
    ]


def standings(state: LoopState, one: TargetState) -> list[Standing]:
    """Return what each keyword's decision is worth now."""
    rows = materials(state, one.target)
    return [
        standing(decision, keyword, rows)
        for decision, keyword in zip(one.decisions, one.target.keywords, strict=True)
    ]


def open_keywords(state: LoopState, one: TargetState, *statuses: str) -> list[int]:
    """Return the numbers (from 0) of a target's keywords that stand so."""
    return [at for at, each in enumerate(standings(state, one)) if each.status in statuses]


def useful_for(state: LoopState, target: Target, keyword: str) -> list[Association]:
    """Return the useful texts that match a keyword, the most worthwhile first."""
    found = [
        each
        for each in state.pool.of(target)
        if is_useful(each) and each.judgement and credited(each.judgement.keywords.get(keyword)) > 0
    ]

    def worth(each: Association) -> float:
        match = each.judgement.keywords.get(keyword) if each.judgement else None
        return (value_of(each) or 0.0) * credited(match)

    return sorted(found, key=lambda each: (-worth(each), each.number))


def score_of(state: LoopState, target: Target, keyword: str) -> KeywordScore:
    """Return A, F, R and S of a keyword."""
    rows = [
        Row(id=each.id, url=each.source.url, text=each.text, judgement=each.judgement)
        for each in state.pool.of(target)
        if is_useful(each) and each.judgement is not None
    ]
    topics = {each.id: 1.0 for each in target.topics}
    return score_keyword(keyword, rows, topics, has_intent=target.intent is not None)


def pending_count(state: LoopState, targets: Sequence[Target]) -> int:
    """Return how many texts of targets are not reviewed to the end."""
    return sum(is_pending(each) for target in targets for each in state.pool.of(target))
