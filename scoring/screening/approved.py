"""From reviewed texts to the list of results: useful ones only, one for each address, the most worthwhile first."""

from collections.abc import Sequence

from msgspec import Struct
from signal_search.contracts.adaptive_plan import Origin
from signal_search.contracts.adaptive_result import ScreenedResult, TargetMatch

from scoring.screening.url_key import url_key


class Reviewed(Struct, frozen=True, kw_only=True):
    """A text as it was reviewed for a target. origins: where that target stands in the request."""

    url: str
    title: str
    text: str
    status: str
    is_assessed: bool
    value: float | None
    direction: float | None
    kind: str
    canonical_id: str
    origins: tuple[Origin, ...]


def approved(rows: Sequence[Reviewed]) -> tuple[ScreenedResult, ...]:
    """Return the results, by value, then by address.

    Value, direction, kind and text at the top are those of the strongest row, the longer text where two are as strong;
    matches keep what each target of the request made of it.
    """
    by_key: dict[str, list[Reviewed]] = {}
    for each in rows:
        if each.status == "useful_result" and each.is_assessed and each.value is not None:
            by_key.setdefault(url_key(each.url) or each.url, []).append(each)
    found = [_result(each) for each in by_key.values()]
    return tuple(sorted(found, key=lambda each: (-each.value_score, each.url)))


def _result(rows: Sequence[Reviewed]) -> ScreenedResult:
    best = max(rows, key=lambda each: (each.value or 0.0, len(each.text)))
    return ScreenedResult(
        url=rows[0].url,
        title=best.title,
        description=best.text,
        value_score=best.value or 0.0,
        direction_match=best.direction,
        kind=best.kind,
        matches=_matches(rows),
    )


def _matches(rows: Sequence[Reviewed]) -> tuple[TargetMatch, ...]:
    """Return one match for each target of the request, the strongest of its rows, in the request's order."""
    best: dict[Origin, TargetMatch] = {}
    for row in rows:
        for origin in row.origins:
            match = TargetMatch(
                task_id=origin.task_id,
                target_id=name_of(origin),
                canonical_id=row.canonical_id,
                value_score=row.value or 0.0,
                direction_match=row.direction,
                kind=row.kind,
            )
            known = best.get(origin)
            if known is None or match.value_score > known.value_score:
                best[origin] = match
    return tuple(best[each] for each in sorted(best, key=lambda each: each.number))


def name_of(origin: Origin) -> str:
    """Return what a target of the request is called: as its caller named it, else by its place."""
    return origin.target_id or f"q{origin.number}"
