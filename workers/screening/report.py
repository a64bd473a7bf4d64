"""From the loop's state to what the caller is told: results, progress of every keyword, and all that is missing."""

from signal_search.contracts.adaptive_plan import Origin
from signal_search.contracts.adaptive_result import (
    AdaptiveResult,
    AdaptiveStop,
    JudgeUse,
    KeywordProgress,
    ScreenedResult,
)

from scoring.screening.approved import Reviewed, approved, name_of
from scoring.screening.progress import Status, target_status
from workers.screening.material import (
    assessed,
    is_pending,
    pending_count,
    score_of,
    standings,
    status_of,
    value_of,
)
from workers.screening.pool import Association
from workers.screening.state import LoopState, TargetState


def results_of(state: LoopState) -> tuple[ScreenedResult, ...]:
    """Return what was approved."""
    return approved([reviewed(each) for one in state.targets for each in state.pool.of(one.target)])


def reviewed(each: Association) -> Reviewed:
    """Return an association as the list of results looks at it."""
    said = each.judgement
    return Reviewed(
        url=each.source.url,
        title=each.source.title,
        text=each.text,
        status=status_of(each),
        is_assessed=assessed(each),
        value=value_of(each) if assessed(each) else None,
        direction=said.direction_match if said is not None else None,
        kind=said.kind if said is not None else "unknown",
        canonical_id=each.target.id,
        origins=each.target.origins,
    )


def is_sufficient(state: LoopState) -> bool:
    """Return whether every keyword of every target is satisfied: enough to read, not an answer."""
    statuses = [each.status for one in state.targets for each in standings(state, one)]
    return bool(statuses) and set(statuses) == {"satisfied"}


def progress_of(state: LoopState) -> tuple[KeywordProgress, ...]:
    """Return the progress of every keyword, for every place that its target has in the request, in that order."""
    placed = [
        (origin, each)
        for one in state.targets
        for each in _own(state, one)
        for origin in one.target.origins
    ]
    placed.sort(key=lambda pair: pair[0].number)
    return tuple(_at(origin, each) for origin, each in placed)


def _at(origin: Origin, each: KeywordProgress) -> KeywordProgress:
    values = {name: getattr(each, name) for name in each.__struct_fields__}
    return KeywordProgress(**{**values, "task_id": origin.task_id, "target_id": name_of(origin)})


def _own(state: LoopState, one: TargetState) -> list[KeywordProgress]:
    found = standings(state, one)
    statuses: list[Status] = [each.status for each in found]
    rows = []
    for keyword, each in zip(one.target.keywords, found, strict=True):
        score = score_of(state, one.target, keyword)
        rows.append(
            KeywordProgress(
                target_id=None,
                task_id=None,
                canonical_id=one.target.id,
                keyword=keyword,
                status=each.status,
                reason=each.reason,
                score=score.score,
                best=score.best,
                coverage=score.coverage,
                repeated=score.repeated,
                distinct_evidence=score.distinct,
                final_status=target_status(statuses),
            )
        )
    return rows


def warnings_of(state: LoopState) -> tuple[str, ...]:
    """Return what the reader should know: of the dates, of the run, and how much was left out and why."""
    texts = [*state.frame.notes, *(each.text for each in state.remarks)]
    associations = [each for one in state.targets for each in state.pool.of(one.target)]
    untimely = sum(status_of(each) == "date_unqualified" for each in associations)
    unknown = sum(is_pending(each) for each in associations)
    closed = [
        target_status([each.status for each in standings(state, one)]) for one in state.targets
    ]
    unresolved = sum(each != "satisfied" for each in closed)
    counted = (
        (untimely, "texts left out by their dates"),
        (unknown, "texts not reviewed to the end"),
        (unresolved, "targets not satisfied"),
    )
    return (*texts, *(f"{text}: {number}" for number, text in counted if number))


def page_base(
    state: LoopState, stop: AdaptiveStop, *, expires_at: str | None = None
) -> AdaptiveResult:
    """Return what all pages repeat, without results."""
    return AdaptiveResult(
        results=(),
        total_results=0,
        next_cursor=None,
        expires_at=expires_at,
        retrieval_sufficient=is_sufficient(state),
        keyword_progress=progress_of(state),
        pending_assessments=pending_count(state, [one.target for one in state.targets]),
        stop_reason=stop,
        warnings=warnings_of(state),
    )


def judge_use(state: LoopState) -> JudgeUse:
    """Return what the judge was asked and what it cost."""
    spent = state.spent
    return JudgeUse(
        driver=state.frame.driver,
        calls=spent.calls,
        http_attempts=spent.attempts,
        estimated_tokens=spent.estimated,
        reported_tokens=spent.reported,
    )
