"""The order of documents for one question: what does not speak to it is left out, the rest goes by weighted score.

Ties go by URL, so the order never depends on which reply came first.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct, structs
from signal_search.contracts.document import Document
from signal_search.contracts.score import SourceScore

from scoring.copies import unique
from scoring.relevance import NO_CORPUS, corpus_of, words_of
from scoring.sba import Asked, SbaRules, is_preferred, score

# Below this share of the question's weight a document is about something else.
LEAST_RELEVANCE = 0.1


class Ranked(Struct, frozen=True, kw_only=True):
    """A document and its score for the question."""

    document: Document
    score: SourceScore


class Ranking(Struct, frozen=True, kw_only=True):
    """The kept documents, best first, and the ids of those left out: blocked, off the question, or copies."""

    kept: tuple[Ranked, ...]
    blocked: tuple[str, ...] = ()
    irrelevant: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()


def rank(
    documents: Sequence[Document],
    asked: Asked,
    rules: SbaRules,
    *,
    least_relevance: float = LEAST_RELEVANCE,
) -> Ranking:
    """Score and order a job's documents; the word statistics are taken from them unless `asked` brings its own."""
    allowed = [each for each in documents if not is_preferred(each, asked.prefs.block)]
    words = {each.doc_id: words_of(each) for each in allowed}
    if asked.corpus == NO_CORPUS:
        asked = structs.replace(asked, corpus=corpus_of(words.values()))
    scored = sorted(
        (
            Ranked(document=each, score=score(each, words[each.doc_id], asked, rules))
            for each in allowed
        ),
        key=lambda each: (-each.score.weighted, each.document.url),
    )
    relevant = [each for each in scored if each.score.relevance.value >= least_relevance]
    kept_ids = {each.doc_id for each in unique([each.document for each in relevant])}
    kept = _first_of_each(relevant, kept_ids)
    return Ranking(
        kept=kept,
        blocked=_ids(documents, {each.doc_id: each for each in allowed}),
        irrelevant=_ids(allowed, {each.document.doc_id: each for each in relevant}),
        copies=_ids([each.document for each in relevant], dict.fromkeys(kept_ids)),
    )


def _first_of_each(ranked: Sequence[Ranked], ids: set[str]) -> tuple[Ranked, ...]:
    found = {each.document.doc_id: each for each in reversed(ranked) if each.document.doc_id in ids}
    return tuple(reversed(found.values()))


def _ids(documents: Sequence[Document], held: Mapping[str, object]) -> tuple[str, ...]:
    return tuple(each.doc_id for each in documents if each.doc_id not in held)


def is_opposing(weights: Sequence[float], ratio: float) -> bool:
    """Say whether the weakest of several sources is an opposing view of low weight: under `ratio` of the strongest."""
    return len(weights) > 1 and min(weights) < ratio * max(weights)
