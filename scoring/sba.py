"""The SBA record of a source: five components with their reasons, and one weighted value.

Design document: weighted = .35 credibility + .30 relevance + .15 recency + .15 authority + .05 (1 - bias), rounded.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct
from signal_search.contracts.document import Document
from signal_search.contracts.query import Intent, SourcePrefs
from signal_search.contracts.score import Component, SourceScore

from scoring.authority import authority
from scoring.bias import bias
from scoring.credibility import credibility
from scoring.identity import site_of
from scoring.recency import recency
from scoring.relevance import NO_CORPUS, Corpus, Variants, relevance

DECIMALS = 4


class SbaPreferences(Struct, frozen=True, kw_only=True):
    """The section `sba.preferences`: what a wish adds, and when a weaker source is an opposing view."""

    boost: float = 0.1
    conflict_ratio: float = 0.6


class SbaRules(Struct, frozen=True, kw_only=True):
    """The section `sba` of the settings, field by field."""

    weights: dict[str, float]
    credibility: dict[str, float]
    bias: dict[str, float]
    half_life_days: dict[str, float]
    preferences: SbaPreferences = SbaPreferences()


class Asked(Struct, frozen=True, kw_only=True):
    """What a document is scored for: the question's words, what the job's documents hold, the intent and the day."""

    variants: Variants
    intent: Intent
    now_ms: int
    corpus: Corpus = NO_CORPUS
    prefs: SourcePrefs = SourcePrefs()


def score(document: Document, words: Sequence[str], asked: Asked, rules: SbaRules) -> SourceScore:
    """Score a document; `words` are those of `scoring.relevance.words_of`, counted once for all questions."""
    parts = {
        "credibility": credibility(document, rules.credibility),
        "relevance": relevance(asked.variants, words, asked.corpus),
        "recency": recency(document, asked.intent, asked.now_ms, rules.half_life_days),
        "authority": authority(document, rules.credibility),
        "bias": bias(document, rules.bias),
    }
    plain = weighted({name: each.value for name, each in parts.items()}, rules.weights)
    value, reason = _with_boost(plain, document, asked.prefs, rules.preferences.boost)
    return _record(document, parts, value, reason)


def weighted(values: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """Return the weighted sum with bias counted as its absence, four decimals."""
    good = dict(values) | {"bias": 1.0 - values["bias"]}
    return round(sum(weight * good[name] for name, weight in weights.items()), DECIMALS)


def is_preferred(document: Document, names: Sequence[str]) -> bool:
    """Say whether a list names the document's source or its registrable domain."""
    wanted = {each.lower() for each in names}
    site = document.site or site_of(document.url)
    return document.source_id.lower() in wanted or site in wanted or site in map(site_of, wanted)


def _with_boost(
    plain: float, document: Document, prefs: SourcePrefs, boost: float
) -> tuple[float, str]:
    if not is_preferred(document, prefs.boost):
        return plain, "weighted sum"
    return round(
        min(1.0, plain + boost), DECIMALS
    ), f"weighted sum + {boost:g} preferred by the caller"


def _record(
    document: Document, parts: Mapping[str, Component], value: float, reason: str
) -> SourceScore:
    return SourceScore(
        doc_id=document.doc_id,
        url=document.url,
        credibility=parts["credibility"],
        relevance=parts["relevance"],
        recency=parts["recency"],
        authority=parts["authority"],
        bias=parts["bias"],
        weighted=value,
        weighted_reason=reason,
    )
