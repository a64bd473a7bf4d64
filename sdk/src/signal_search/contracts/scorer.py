"""The scoring program that a caller may send, and what a ranked answer says about how it was ranked."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

Language = Literal["qatlas-expr-v1"]
LANGUAGE: Language = "qatlas-expr-v1"

Weight = Annotated[float, Meta(ge=0, le=1_000_000)]


class ScorerProgram(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A program: keep the candidates for which `filter` is true, order them by `score`, highest first."""

    language: Language
    score: str
    filter: str = "true"


class RankingWeights(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the parts of the fixed formula count. The agreement of sources has a weight of its own, always the same."""

    lexical: Weight = 1.0
    citation: Weight = 0.6
    recency: Weight = 0.2


class ScoreDetail(Struct, frozen=True, kw_only=True):
    """The five parts of a score by the fixed formula, weighted, each to four decimals; unrounded they add up to it."""

    lexical: float
    phrase: float
    citation: float
    recency: float
    agreement: float


class RankingUsed(Struct, frozen=True, kw_only=True):
    """How an answer was ranked. Below `weights` are facts of a scoring program, absent when none was used."""

    source: Literal["default", "auto", "scorer"]
    weights: RankingWeights | None
    language: str | UnsetType = UNSET
    feature_version: str | UnsetType = UNSET
    scorer_hash: str | UnsetType = UNSET
    as_of_year: int | UnsetType = UNSET
    score_scale: Literal["custom"] | UnsetType = UNSET
    scorer: ScorerProgram | UnsetType = UNSET
