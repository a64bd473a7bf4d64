"""The academic ranking of merged candidates: by the fixed formula, or by a caller's program in place of it."""

import math
from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from signal_search.contracts.scorer import LANGUAGE, RankingUsed, RankingWeights, ScoreDetail
from signal_search.errors import ProgramError

from scoring.candidates import Candidate
from scoring.expression.executor import execute
from scoring.expression.explain import explanations
from scoring.expression.limits import MAX_CANDIDATES
from scoring.expression.program import Program
from scoring.features import Features, known_citations, known_year

# What each further source adds, times the logarithm of how many there are (search guide).
AGREEMENT = 0.15
# Unknown citations stand in the middle, since absence says nothing; so do all when all known ones are equal.
_NEUTRAL = 0.5
_DECIMALS = 4


class Ranking(Struct, frozen=True, kw_only=True):
    """The best candidates, best first; all tuples are parallel.

    `order` are indexes into the candidates. `details` are the parts of a score by the fixed formula, empty for a
    program. `explanations` are JSON values, empty unless they were asked for and a program was run. `kept` counts what
    passed the filter before the cut.
    """

    order: tuple[int, ...]
    scores: tuple[float, ...]
    details: tuple[ScoreDetail, ...] = ()
    explanations: tuple[dict[str, Any], ...] = ()
    kept: int
    used: RankingUsed


def rank(  # noqa: PLR0913  # what a request says, by name
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
    features = Features(candidates, query, as_of_year)
    top = max(top, 0)
    if program is None:
        return _by_formula(candidates, features, weights, top)
    if len(candidates) > MAX_CANDIDATES:
        message = f"A program scores {MAX_CANDIDATES} candidates at most."
        raise ProgramError(message, code="candidate_limit")
    run = execute(program, features, len(candidates), traced=explain)
    return Ranking(
        order=run.scored.order[:top],
        scores=run.scored.scores[:top],
        explanations=explanations(program, run, top) if explain else (),
        kept=len(run.scored.order),
        used=_used(program, as_of_year),
    )


def _used(program: Program, as_of_year: int) -> RankingUsed:
    return RankingUsed(
        source="scorer",
        weights=None,
        language=LANGUAGE,
        feature_version=program.feature_version,
        scorer_hash=program.hash,
        as_of_year=as_of_year,
        score_scale="custom",
        scorer=program.normal,
    )


# --- the fixed formula ------------------------------------------------------------------------------------------------


def _by_formula(
    candidates: Sequence[Candidate],
    features: Features,
    chosen: RankingWeights | None,
    top: int,
) -> Ranking:
    parts = _parts(candidates, features, chosen or RankingWeights())
    scores = [sum(each) for each in parts]
    order = sorted(range(len(scores)), key=scores.__getitem__, reverse=True)[:top]
    return Ranking(
        order=tuple(order),
        scores=tuple(scores[at] for at in order),
        details=tuple(_detail(parts[at]) for at in order),
        kept=len(candidates),
        used=RankingUsed(
            source="default" if chosen is None else "auto", weights=chosen or RankingWeights()
        ),
    )


Parts = tuple[float, float, float, float, float]


def _parts(
    candidates: Sequence[Candidate], features: Features, weights: RankingWeights
) -> list[Parts]:
    """Return lexical, phrase, citation, recency and agreement of each candidate, weighted (search guide)."""
    rows = range(len(candidates))
    return [
        (
            weights.lexical * (lexical or 0.0),
            weights.lexical * (phrase or 0.0),
            weights.citation * citation,
            weights.recency * recency,
            AGREEMENT * math.log(max(sources or 0.0, 1.0)),
        )
        for lexical, phrase, citation, recency, sources in zip(
            features.column("lexical", rows),
            features.column("phrase", rows),
            citation_shares([known_citations(each) for each in candidates]),
            recency_shares([known_year(each) for each in candidates]),
            features.column("source_count", rows),
            strict=True,
        )
    ]


def citation_shares(counts: Sequence[int | None]) -> list[float]:
    """Return where ln(1 + citations) stands between the least and the most of the set, 0 to 1.

    Unknown ones are 0.5, and so are all when all known ones are equal; when none is known all are 0.
    """
    logs = [None if count is None else math.log1p(count) for count in counts]
    known = [each for each in logs if each is not None]
    if not known:
        return [0.0] * len(logs)
    least, most = min(known), max(known)
    if least == most:
        return [_NEUTRAL] * len(logs)
    return [_NEUTRAL if each is None else (each - least) / (most - least) for each in logs]


def recency_shares(years: Sequence[int | None]) -> list[float]:
    """Return where the year stands between the first and the last of the set, 0 to 1.

    Unknown ones are 0; when all known ones are equal they are 1.
    """
    known = [year for year in years if year is not None]
    if not known:
        return [0.0] * len(years)
    first, last = min(known), max(known)
    if first == last:
        return [0.0 if year is None else 1.0 for year in years]
    return [0.0 if year is None else (year - first) / (last - first) for year in years]


def _detail(parts: Parts) -> ScoreDetail:
    lexical, phrase, citation, recency, agreement = (round(each, _DECIMALS) for each in parts)
    return ScoreDetail(
        lexical=lexical, phrase=phrase, citation=citation, recency=recency, agreement=agreement
    )
