"""The sentences of a document that speak to a question, byte for byte: what is quoted and paid for."""

import re
from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct
from signal_search.contracts.document import Document
from signal_search.contracts.finding import Span

from scoring.asked_value import is_value_word
from scoring.need import (
    Need,
    is_about,
    is_answered,
    is_wanted,
    need_of,
    weight_in_question,
)
from scoring.relevance import NO_CORPUS, Corpus, weight_of
from scoring.text import Sentence, sentences, tokens

# A passage that carries this share (0..1) of a question's weight speaks to it; this much, in a document that is named
# after what is asked, answers it. Ours, set on the documentation corpora of bench/site_corpus.py.
SPEAKS = 0.5
ANSWERS = 0.75
# A sentence must carry this share of the question's weight itself to be worth quoting.
LEAST_SHARE = 0.15
# What a word counts for when only the title has it: the sentence is about it, but does not say so.
_BY_TITLE = 0.7
# What a passage keeps when it lacks the kind of value that is asked for, when it is a table's row, or a heading.
_WITHOUT_VALUE = 0.85
_TABLE_ROW = 0.7
# A line without an end mark is a heading or an entry of a list: it names, but does not state.
_STATES = re.compile(r"[.!?。！？；;：:…][\"'”’」』）)\]]*$")
_HEADING = 0.7  # below what counts as an answer
_NAMED_AFTER = 0.5
_FEWEST_WORDS = 3
_FEWEST_DOCUMENTS = 2  # for statistics
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
    found: list[Span] = []
    left = limit_tokens
    for each in rank_sentences(need_of(question, terms), document):
        cost = estimate_tokens(each.span.quote)
        if cost <= left:
            found.append(each.span)
            left -= cost
    return tuple(found)


def rank_sentences(
    need: Need, document: Document, corpus: Corpus = NO_CORPUS
) -> tuple[Passage, ...]:
    """Return the sentences that carry enough of a question, best first, earlier ones first among equals.

    `corpus` are the job's documents: a word that all of them have says little. A document without any of the names
    that the question is about has no passages.
    """
    cut, words, title = _cut(document)
    if not is_about(need, words):
        return ()
    weigh = _Weights(corpus)
    scored = [(_share(need, weigh, each.text, held, title), each) for each, held in cut]
    kept = [(share, each) for share, each in scored if share >= LEAST_SHARE]
    kept.sort(key=lambda each: (-each[0], each[1].start))
    return tuple(Passage(_span(document, each), round(share, 4)) for share, each in kept)


def is_named_after(need: Need, document: Document) -> bool:
    """Return whether a document's title holds one of the names the question is about, and half of its words."""
    _, _, title = _cut(document)
    return is_about(need, title) and title_share(need, document) >= _NAMED_AFTER


def whole_share(need: Need, document: Document, passage: Passage) -> float:
    """Return a passage's share with every word of the question counting alike.

    A word that no source has yet must not be forgiven when the question is whether the passage answers.
    """
    shares = {each.span.start: each.share for each in rank_sentences(need, document)}
    return shares.get(passage.span.start, 0.0)


def is_statement(sentence: str) -> bool:
    """Return whether a sentence ends like one; a heading or an entry of a list does not."""
    return _STATES.search(sentence) is not None


def title_share(need: Need, document: Document) -> float:
    """Return the share (0..1) of the question's words that the document's title carries."""
    _, _, title = _cut(document)
    weigh = _Weights(NO_CORPUS)
    return max((_held(each, weigh, title) for each in need.variants if each), default=0.0)


_Cut = tuple[tuple[tuple[Sentence, frozenset[str]], ...], frozenset[str], frozenset[str]]


@lru_cache(maxsize=128)
def _cut(document: Document) -> _Cut:
    """Return a document's sentences with their words, all its words, and its title's; every question asks again."""
    cut = [(each, tokens(each.text)) for each in sentences(document.text)]
    title = frozenset(tokens(document.title))
    words = frozenset(word for _, held in cut for word in held) | title
    usable = tuple(
        (each, frozenset(held)) for each, held in cut if _FEWEST_WORDS <= len(held) <= _MOST_WORDS
    )
    return usable, words, title


class _Weights:
    """What a word counts for: 1.25 down to .75 by how many of the job's documents have it, .5 if none has.

    What no source says at all tells none from another; verbs that any question may have count a third of that.
    """

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._most = weight_of("", corpus)

    def __call__(self, word: str) -> float:
        return self._rarity(word) * weight_in_question(word)

    def _rarity(self, word: str) -> float:
        if self._corpus.documents < _FEWEST_DOCUMENTS:
            return 1.0
        if word not in self._corpus.frequency:
            return 0.5
        return 0.75 + 0.5 * weight_of(word, self._corpus) / self._most


def _share(
    need: Need, weigh: _Weights, sentence: str, held: frozenset[str], title: frozenset[str]
) -> float:
    answered = is_answered(need, sentence)
    by_value = answered is True
    variants = [each for each in need.variants if each]
    own = max((_held(each, weigh, held, by_value=by_value) for each in variants), default=0.0)
    if own < LEAST_SHARE or not is_wanted(need, held):
        return 0.0
    best = max(_held(each, weigh, held, title, by_value=by_value) for each in variants)
    if "\t" in sentence:
        best *= _TABLE_ROW
    elif not is_statement(sentence):
        best *= _HEADING
    return best * _WITHOUT_VALUE if answered is False else best


def _held(
    asked: Sequence[str],
    weigh: _Weights,
    held: frozenset[str],
    title: frozenset[str] = frozenset(),
    *,
    by_value: bool = False,
) -> float:
    total = got = 0.0
    for word in asked:
        weight = weigh(word)
        total += weight
        if word in held or (by_value and is_value_word(word)):
            got += weight
        elif word in title:
            got += weight * _BY_TITLE
    return got / total if total else 0.0


def _span(document: Document, sentence: Sentence) -> Span:
    return Span(
        doc_id=document.doc_id,
        url=document.url,
        start=sentence.start,
        end=sentence.end,
        quote=sentence.text,
    )
