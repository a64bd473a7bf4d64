"""What a keyword has come to: A + F + R = S (adaptive search guide, V3, "mathematical model"). Pure arithmetic.

u = min(relevance, reading value), times 0.8..1 by direction where an intent was stated. A: the best result for the
keyword. F: the best result for each topic, weighted. R: what further groups of results for the same topic add, each
half of the one before. S = 0.25 A + 0.90 F + 0.10 R; up to 1.25, so it is no probability and no percentage. It says how
worthwhile a further search is, and orders nothing.
"""

from collections.abc import Mapping, Sequence
from math import fsum, isfinite

from msgspec import Struct

from scoring.screening.figures import DIRECTION_SHARE, WEIGHTS, Weights
from scoring.screening.gates import credited, is_eligible
from scoring.screening.groups import Text, source_groups
from scoring.screening.judgement import Judgement, known

_OWN = ""
"""The topic that a keyword is where the caller named none; no id is empty."""


class Row(Struct, frozen=True, kw_only=True):
    """A reviewed result. id: the same one again replaces, it never adds."""

    id: str
    url: str
    text: str
    judgement: Judgement


class KeywordScore(Struct, frozen=True, kw_only=True):
    """A, F, R and S of one keyword. eligible: results that pass the gates and match it; distinct: their groups."""

    best: float = 0.0
    coverage: float = 0.0
    repeated: float = 0.0
    score: float = 0.0
    eligible: int = 0
    distinct: int = 0


def reading_value(said: Judgement, *, has_intent: bool) -> float | None:
    """Return u (0..1) of a result, None where it is not known; an unknown direction earns nothing."""
    relevance, value = known(said.relevance), known(said.reading_value)
    if relevance is None or value is None:
        return None
    least = min(relevance, value)
    if not has_intent:
        return least
    direction = known(said.direction_match) or 0.0
    return least * (1 - DIRECTION_SHARE + DIRECTION_SHARE * direction)


def shares(topics: Mapping[str, float]) -> dict[str, float]:
    """Return topic weights as shares of 1; those of weight 0 are left out.

    Raises:
        ValueError: a weight is negative or not finite, or all are 0.
    """
    if not all(isfinite(each) and each >= 0 for each in topics.values()):
        raise ValueError("topic weights are finite and not negative")
    total = fsum(topics.values())
    if topics and total == 0:
        raise ValueError("all topics weigh nothing")
    return {name: weight / total for name, weight in topics.items() if weight > 0}


def score_keyword(
    keyword: str,
    rows: Sequence[Row],
    topics: Mapping[str, float] | None = None,
    *,
    has_intent: bool,
    weights: Weights = WEIGHTS,
) -> KeywordScore:
    """Return the score of a keyword over rows that are useful otherwise (dates are the caller's to check).

    topics: id -> weight of the caller's topics; without any, the keyword is the only topic and F = A. Rows that do not
    pass the gates count for nothing. The order of rows and topics changes nothing.

    Raises:
        ValueError: the topics' weights are not valid.
    """
    live = [each for each in {row.id: row for row in rows}.values() if is_eligible(each.judgement)]
    values = {row.id: reading_value(row.judgement, has_intent=has_intent) or 0.0 for row in live}
    matching = [each for each in live if _keyword(each, keyword) > 0]
    groups = source_groups([Text(url=each.url, text=each.text) for each in matching])
    group_of = dict(zip((each.id for each in matching), groups, strict=True))
    best = max((values[each.id] * _keyword(each, keyword) for each in matching), default=0.0)
    parts = list(shares(topics).items()) if topics else [(_OWN, 1.0)]
    coverage = fsum(
        share * (best if name == _OWN else _topic_coverage(name, live, values))
        for name, share in parts
    )
    repeated = fsum(
        share * _halving(_again(name, keyword, values, matching, group_of), weights.repetition)
        for name, share in parts
    )
    return KeywordScore(
        best=best,
        coverage=coverage,
        repeated=repeated,
        score=weights.keyword * best + weights.coverage * coverage + weights.repeated * repeated,
        eligible=len(matching),
        distinct=len(set(groups)),
    )


def _keyword(row: Row, keyword: str) -> float:
    return credited(row.judgement.keywords.get(keyword))


def _topic(row: Row, topic: str) -> float:
    return credited(row.judgement.topics.get(topic))


def _topic_coverage(topic: str, rows: Sequence[Row], values: Mapping[str, float]) -> float:
    """Return the best result for a topic, whichever keyword it matches."""
    return max((values[each.id] * _topic(each, topic) for each in rows), default=0.0)


def _again(
    topic: str,
    keyword: str,
    values: Mapping[str, float],
    rows: Sequence[Row],
    group_of: Mapping[str, int],
) -> list[float]:
    """Return the best result of each group for topic and keyword together, best group first."""
    found: dict[int, float] = {}
    for row in rows:
        match = _keyword(row, keyword)
        both = match if topic == _OWN else min(match, _topic(row, topic))
        group = group_of[row.id]
        found[group] = max(found.get(group, 0.0), values[row.id] * both)
    return sorted((each for each in found.values() if each > 0), reverse=True)


def _halving(groups: Sequence[float], repetition: float) -> float:
    """Return what all groups but the first are worth: half, a quarter, ... (for a repetition of 0.5)."""
    return fsum((1 - repetition) * repetition**at * each for at, each in enumerate(groups[1:]))
