"""The sentences of a document that speak to a question, byte for byte: what is quoted and paid for."""

from collections.abc import Sequence

from msgspec import Struct
from signal_search.contracts.document import Document
from signal_search.contracts.finding import Span

from scoring.relevance import Corpus, Variants, corpus_of, variants_of, weight_of
from scoring.text import Sentence, sentences, tokens

# A sentence must carry this share of the question's weight to be worth quoting.
LEAST_SHARE = 0.15
_FEWEST_WORDS = 3
_MOST_WORDS = 120
_CJK = range(0x4E00, 0x9FA6)
_CHARACTERS_PER_TOKEN = 4


class Passage(Struct, frozen=True):
    """A span and the share (0..1) of the question's weight that it carries."""

    span: Span
    share: float


def estimate_tokens(text: str) -> int:
    """Estimate a model's tokens: one for each character from U+4E00 to U+9FA5, a quarter for any other, truncated."""
    cjk = sum(ord(each) in _CJK for each in text)
    return cjk + (len(text) - cjk) // _CHARACTERS_PER_TOKEN


def best_passages(
    question: str, document: Document, limit_tokens: int, terms: Sequence[str] = ()
) -> tuple[Span, ...]:
    """Return the most relevant whole sentences within `limit_tokens`, best first; none when none fits.

    `terms` are the question's search words, for documents in another language than the question's.
    """
    ranked = rank_sentences(variants_of(question, terms), document)
    found: list[Span] = []
    left = limit_tokens
    for each in ranked:
        cost = estimate_tokens(each.span.quote)
        if cost <= left:
            found.append(each.span)
            left -= cost
    return tuple(found)


def rank_sentences(variants: Variants, document: Document) -> tuple[Passage, ...]:
    """Return the sentences that carry enough of a question, best first, earlier ones first among equals."""
    cut = [(each, tokens(each.text)) for each in sentences(document.text)]
    corpus = corpus_of(words for _, words in cut)
    scored = [
        (_share(variants, words, corpus), each)
        for each, words in cut
        if _FEWEST_WORDS <= len(words) <= _MOST_WORDS
    ]
    scored.sort(key=lambda each: (-each[0], each[1].start))
    return tuple(
        Passage(_span(document, each), share) for share, each in scored if share >= LEAST_SHARE
    )


def _share(variants: Variants, words: Sequence[str], corpus: Corpus) -> float:
    held = set(words)
    return max((_covered(each, held, corpus) for each in variants if each), default=0.0)


def _covered(asked: Sequence[str], held: set[str], corpus: Corpus) -> float:
    """Weigh only words that the document has at all: what it lacks must not make every sentence of it look poor."""
    known = [word for word in asked if word in corpus.frequency]
    total = sum(weight_of(word, corpus) for word in known)
    got = sum(weight_of(word, corpus) for word in known if word in held)
    return (got / total) * (len(known) / len(asked)) if total else 0.0


def _span(document: Document, sentence: Sentence) -> Span:
    return Span(
        doc_id=document.doc_id,
        url=document.url,
        start=sentence.start,
        end=sentence.end,
        quote=sentence.text,
    )
