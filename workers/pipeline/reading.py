"""A job's documents read for its questions: which passages speak to a question, and how many sites state them."""

from collections.abc import Sequence
from functools import cached_property, lru_cache

from signal_search.contracts.document import Document
from signal_search.contracts.finding import Verdict
from signal_search.contracts.plan import SubQuestion

from scoring.claims.evidence import PreparedDocument, prepare
from scoring.claims.rules import VerifyRules
from scoring.claims.verdict import verify_prepared
from scoring.need import Need, need_of
from scoring.passages import Passage, is_named_after, rank_sentences, whole_share
from scoring.relevance import Corpus, corpus_of, words_of

# A passage that carries this share of a question's weight speaks to it; this much, in a document that is named after
# what is asked, answers it. Ours, set on the documentation corpora of bench/site_corpus.py.
SPEAKS = 0.5
ANSWERS = 0.75


class Reading:
    """The documents that count, read once for all questions of a job. Holds no state but what it was given."""

    def __init__(self, documents: Sequence[Document], rules: VerifyRules) -> None:
        """Read `documents`, in plan order."""
        self.documents = tuple(documents)
        self._rules = rules

    @cached_property
    def corpus(self) -> Corpus:
        """Return the word statistics of the documents."""
        return corpus_of(_words(each) for each in self.documents)

    @cached_property
    def ready(self) -> tuple[PreparedDocument, ...]:
        """Return the documents made ready for verification."""
        return tuple(_prepared(each) for each in self.documents)

    def passages(self, question: SubQuestion, document: Document) -> tuple[Passage, ...]:
        """Return a document's passages for a question, best first."""
        return rank_sentences(need_for(question), document, self.corpus)

    def speaking(self, question: SubQuestion) -> list[tuple[Passage, Document]]:
        """Return the documents that speak to a question, each with its best passage."""
        found = ((self.passages(question, each), each) for each in self.documents)
        return [(best[0], each) for best, each in found if best and best[0].share >= SPEAKS]

    def best_answer(self, question: SubQuestion, *, beside: str = "") -> Passage | None:
        """Return the passage that answers a question best, if any does; none of the source `beside`."""
        need = need_for(question)
        answers = [
            passage
            for passage, each in self.speaking(question)
            if each.source_id != beside
            and is_named_after(need, each)
            and min(passage.share, whole_share(need, each, passage)) >= ANSWERS
        ]
        return max(answers, key=lambda each: (each.share, each.span.url), default=None)

    def sites_stating(self, passage: Passage) -> int:
        """Return how many independent sites state a passage; 0 when another one contradicts it."""
        span = passage.span
        claim = verify_prepared(
            span.quote, self.ready, own_doc_ids={span.doc_id}, rules=self._rules
        )
        return 1 + claim.independent if claim.verdict is Verdict.TRUE else 0


def need_for(question: SubQuestion) -> Need:
    """Return what an answer to a sub-question must have."""
    return _need(question.text, question.terms, question.role == "contrary")


@lru_cache(maxsize=256)
def _need(text: str, terms: tuple[str, ...], is_contrary: bool) -> Need:  # noqa: FBT001
    return need_of(text, terms, is_contrary=is_contrary)


@lru_cache(maxsize=128)
def _words(document: Document) -> tuple[str, ...]:
    return tuple(words_of(document))


@lru_cache(maxsize=64)
def _prepared(document: Document) -> PreparedDocument:
    return prepare([document])[0]
