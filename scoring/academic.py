"""The academic ranking of merged candidates: by the fixed formula, or by a caller's program in place of it."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from signal_search.contracts.scorer import RankingUsed, RankingWeights, ScoreDetail

from scoring.candidates import Candidate
from scoring.expression.program import Program


class Ranking(Struct, frozen=True, kw_only=True):
    """The best candidates, best first; all tuples are parallel.

    `order` are indexes into the candidates. `details` are the parts of a score by the fixed formula, empty for a program.
    `explanations` are JSON values, empty unless they were asked for and a program was run. `kept` counts what passed the
    filter before the cut.
    """

    order: tuple[int, ...]
    scores: tuple[float, ...]
    details: tuple[ScoreDetail, ...] = ()
    explanations: tuple[dict[str, Any], ...] = ()
    kept: int
    used: RankingUsed


def rank(
    candidates: Sequence[Candidate],
    query: str,
    *,
    as_of_year: int,
    program: Program | None = None,
    weights: RankingWeights | None = None,
    explain: bool = False,
    top: int,
) -> Ranking:
    """Order merged candidates, score descending, ties in merge order, cut to `top` last.

    `weights` says that a model chose them (`auto`); without them and without a program the fixed ones hold. A program
    sees all candidates, whatever `top` is. `explain` changes no score.

    Raises:
        ProgramError: `candidate_limit` above MAX_CANDIDATES with a program; else the first candidate in merge order on
            which the program failed, with `position` and `candidate_index`. There is no partial ranking.
    """
    raise NotImplementedError
