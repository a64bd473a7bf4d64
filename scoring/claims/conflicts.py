"""Where sources of different sites disagree: pairs of sentences that differ in one number, negation or opposite.

Comparing every sentence with every other is quadratic. Two sentences that share most of their words share one of their
rarest, so only those are indexed (prefix filtering: Chaudhuri, Ganti, Kaushik, "A primitive operator for similarity
joins in data cleaning", ICDE 2006).
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from math import ceil

from msgspec import Struct
from signal_search.contracts.finding import Span

from scoring.claims.alignment import common_length
from scoring.claims.entail import contradiction
from scoring.claims.evidence import PreparedDocument
from scoring.claims.features import compare
from scoring.claims.passage import Passage
from scoring.claims.reasons import Reason
from scoring.claims.rules import VerifyRules

_FEWEST_WORDS = 3
_TOPIC_WORDS = 10
_KINDS = {
    Reason.NUMBER_CONFLICT: "number",
    Reason.NEGATION_CONFLICT: "negation",
    Reason.ANTONYM_CONFLICT: "antonym",
}


class Disagreement(Struct, frozen=True, kw_only=True):
    """Two spans of different sites; `kind` is number, negation or antonym, `topic` the words they share."""

    topic: str
    kind: str
    first: Span
    second: Span


class _Place(Struct, frozen=True):
    source: PreparedDocument
    at: int

    @property
    def passage(self) -> Passage:
        return self.source.passages[self.at]


def find_disagreements(
    documents: Sequence[PreparedDocument], rules: VerifyRules, *, most: int = 20
) -> tuple[Disagreement, ...]:
    """Return up to `most` disagreements in document order, each pair of sentences once."""
    found: dict[tuple[tuple[str, ...], tuple[str, ...]], Disagreement] = {}
    for first, second in _candidates(documents, rules.false_recall):
        kind = _kind(first, second, rules)
        if kind:
            found.setdefault((first.passage.keys, second.passage.keys), _made(first, second, kind))
        if len(found) >= most:
            break
    return tuple(found.values())


def _candidates(
    documents: Sequence[PreparedDocument], share: float
) -> Iterator[tuple[_Place, _Place]]:
    places = [
        _Place(source, at)
        for source in documents
        for at, passage in enumerate(source.passages)
        if len(passage.weights) >= _FEWEST_WORDS
    ]
    spread = Counter(key for place in places for key in place.passage.weights)
    index: dict[str, list[_Place]] = {}
    for place in places:
        rare = _rarest(place.passage, spread, share)
        yield from ((other, place) for other in _met(index, rare, place))
        for key in rare:
            index.setdefault(key, []).append(place)


def _rarest(passage: Passage, spread: Counter[str], share: float) -> list[str]:
    ordered = sorted(passage.weights, key=lambda key: (spread[key], key))
    return ordered[: len(ordered) - ceil(share * len(ordered)) + 1]


def _met(index: dict[str, list[_Place]], rare: Sequence[str], place: _Place) -> list[_Place]:
    """Return earlier sentences of other sites that share a rare word, in the order they were seen."""
    met = {id(other): other for key in rare for other in index.get(key, ())}
    site = place.source.document.site
    return [other for other in met.values() if other.source.document.site != site]


def _kind(first: _Place, second: _Place, rules: VerifyRules) -> str:
    if not _may_be_near(first.passage, second.passage, rules):
        return ""
    seen = compare(first.passage, second.passage, second.source.neighbours(second.at))
    reason = contradiction(seen, rules)
    return _KINDS[reason] if reason else ""


def _may_be_near(first: Passage, second: Passage, rules: VerifyRules) -> bool:
    """Rule out most pairs by what costs little: shared words, then their order."""
    keys = first.keys
    if sum(key in second.key_set for key in keys) < rules.false_order * len(keys):
        return False
    return common_length(keys, second.keys) >= rules.false_order * len(keys)


def _made(first: _Place, second: _Place, kind: str) -> Disagreement:
    words = zip(first.passage.keys, (word for word, _, _ in first.passage.written), strict=True)
    shared = [
        word
        for key, word in words
        if key in first.passage.weights and key in second.passage.key_set
    ]
    return Disagreement(
        topic=("" if first.passage.chinese else " ").join(shared[:_TOPIC_WORDS]),
        kind=kind,
        first=first.source.span(first.at, first.at),
        second=second.source.span(second.at, second.at),
    )
