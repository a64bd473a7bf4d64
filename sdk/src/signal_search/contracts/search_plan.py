"""How a search is carried out: its intent, the words to ask, and which source is asked which of them."""

from enum import StrEnum
from typing import Literal

from msgspec import Struct

from signal_search.contracts.hit import HitWeights


class SearchIntent(StrEnum):
    """What a search is for; it decides mode, freshness, weights and sub-queries (search guide, phase 1)."""

    FACTUAL = "factual"
    STATUS = "status"
    COMPARISON = "comparison"
    TUTORIAL = "tutorial"
    EXPLORATORY = "exploratory"
    NEWS = "news"
    RESOURCE = "resource"


SearchMode = Literal["fast", "deep", "answer", "fused", "multi"]
"""fast, deep, answer: who is asked beside Brave (search guide, phase 3). fused: all, as one list; multi: each apart."""

FreshnessBy = Literal["", "caller", "intent"]


class SubQuery(Struct, frozen=True, kw_only=True):
    """One text to search for. terms: its search words, best first, where a source takes words and not a sentence."""

    id: str
    text: str
    language: str = "en"
    terms: tuple[str, ...] = ()


class SearchCall(Struct, frozen=True, kw_only=True):
    """One source asked one sub-query. `id` is `QUERY.SOURCE`.

    with_answer: the source's own answer is wanted too. instead_of: made only when that source's call fails.
    """

    id: str
    source_id: str
    query_id: str
    with_answer: bool = False
    instead_of: str = ""


class SearchPlan(Struct, frozen=True, kw_only=True):
    """The whole plan of a search.

    queries: what the caller asked, in order; scored_against: the one that hits are compared with, score_variants: the
    same with its other forms (names written out, English), of which the best match counts. intent is read from
    the words where the caller named none (`intent_reason` says by which). freshness: pd, pw, pm, py or `A..B`;
    wider_freshness: what to take next when an intent's own choice finds nothing. sub_queries and calls are in the order
    in which their answers are merged. not_configured: wanted sources that have no key or row here.
    """

    queries: tuple[str, ...]
    scored_against: str
    score_variants: tuple[str, ...]
    language: str
    intent: SearchIntent
    intent_reason: str
    mode: SearchMode
    sub_queries: tuple[SubQuery, ...]
    calls: tuple[SearchCall, ...]
    weights: HitWeights
    domain_boost: tuple[str, ...] = ()
    freshness: str | None = None
    freshness_by: FreshnessBy = ""
    wider_freshness: tuple[str, ...] = ()
    is_scored: bool = False
    per_source: int = 5
    today: str = ""
    not_configured: tuple[str, ...] = ()
