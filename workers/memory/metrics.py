"""How good a list is against a gold answer. Pure."""

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct
from signal_search.contracts.research import ScopeKey
from signal_search.errors import Invalid


class RankingFigures(Struct, frozen=True, kw_only=True):
    """recall_at_k: share of the relevant among the first k. mrr: 1 / rank of the first relevant one in the whole list.

    scope_leak_count: entries of the whole list that are of another scope.
    """

    recall_at_k: float
    mrr: float
    scope_leak_count: int


def evaluate_ranking(
    returned: Sequence[str], scope_ok: Sequence[bool], relevant: Sequence[str], k: int
) -> RankingFigures:
    """Return the figures of one list; recall is 0 when nothing is relevant.

    Raises:
        Invalid: k is no positive number, the lists differ in length, an id comes twice.
    """
    if type(k) is not int or k < 1:
        raise Invalid("k must be a positive whole number.", field="k")
    if len(returned) != len(scope_ok) or len(set(returned)) != len(returned):
        raise Invalid("Every returned id needs one flag and comes once.", field="returned")
    wanted = set(relevant)
    hits = sum(each in wanted for each in returned[:k])
    first = next((rank for rank, each in enumerate(returned, 1) if each in wanted), 0)
    return RankingFigures(
        recall_at_k=hits / len(wanted) if wanted else 0.0,
        mrr=1 / first if first else 0.0,
        scope_leak_count=sum(flag is not True for flag in scope_ok),
    )


def leaks(scopes: Sequence[ScopeKey], wanted: ScopeKey) -> int:
    """Return how many of these are not the wanted scope."""
    return sum(each != wanted for each in scopes)


def ndcg(returned: Sequence[str], grades: Mapping[str, int], k: int) -> float:
    """Return the discounted gain of the first k by the best possible one; 0 when nothing is relevant.

    Järvelin and Kekäläinen (2002), gain = grade, discount = log2(rank + 1), as trec_eval's ndcg_cut.
    """
    gains = [max(grades.get(each, 0), 0) for each in returned[:k]]
    ideal = sorted((grade for grade in grades.values() if grade > 0), reverse=True)[:k]
    best = _discounted(ideal)
    return _discounted(gains) / best if best else 0.0


def _discounted(gains: Sequence[int]) -> float:
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))
