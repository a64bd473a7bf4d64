"""A job's documents read for its questions: which passages speak to a question, and how many sites state them."""

from collections.abc import Sequence
from datetime import date
from functools import cached_property, lru_cache

from signal_search.contracts.document import Document
from signal_search.contracts.finding import Verdict
from signal_search.contracts.plan import SubQuestion

from scoring.asked_time import AskedTime, asked_time, is_of_time
from scoring.claims.evidence import PreparedDocument, prepare
from scoring.claims.rules import VerifyRules
from scoring.claims.verdict import verify_prepared
from scoring.need import Need, need_of
from scoring.passages import ANSWERS, SPEAKS, Passage, is_named_after, rank_sentences, whole_share
from scoring.relevance import Corpus, corpus_of, words_of


class Reading:
    """The documents that count, read once for all questions of a job. Holds no state but what it was given."""

    def __init__(
        self, documents: Sequence[Document], rules: VerifyRules, asked_on: date | None = None
    ) -> None:
        """Read `documents`, in plan order, for questions of the day `asked_on`."""
        self.documents = tuple(documents)
        self._rules = rules
        self._asked_on = asked_on

    @cached_property
    def corpus(self) -> Corpus:
        """Return the word statistics of the documents."""
        return corpus_of(_words(each) for each in self.documents)

    @cached_property
    def ready(self) -> tuple[PreparedDocument, ...]:
        """Return the documents made ready for verification."""
        return tuple(_prepared(each) for each in self.documents)

    def passages(self, question: SubQuestion, document: Document) -> tuple[Passage, ...]:
        """Return a document's passages for a question, best first: of those that speak, the ones of the asked time."""
        found = rank_sentences(need_for(question), document, self.corpus)
        if time_of(question, self._asked_on) is None:
            return found
        return tuple(sorted(found, key=lambda each: not self._may_answer(question, each, document)))

    def of_time(self, question: SubQuestion, passage: Passage, document: Document) -> bool | None:
        """Return whether a passage is of the time that a question names; None where nothing tells, true without one."""
        asked = time_of(question, self._asked_on)
        return asked is None or is_of_time(asked, document, passage.span.start)

    def _may_answer(self, question: SubQuestion, passage: Passage, document: Document) -> bool:
        return passage.share >= SPEAKS and self.of_time(question, passage, document) is True

    def speaking(self, question: SubQuestion) -> list[tuple[Passage, Document]]:
        """Return the documents that speak to a question, each with its best passage."""
        found = ((self.passages(question, each), each) for each in self.documents)
        return [(best[0], each) for best, each in found if best and best[0].share >= SPEAKS]

    def answering(self, question: SubQuestion) -> list[tuple[Passage, Document]]:
        """Return of the documents that speak to a question those that do so of the time that it names."""
        return [
            (best, each)
            for best, each in self.speaking(question)
            if self._may_answer(question, best, each)
        ]

    def best_answer(self, question: SubQuestion, *, beside: str = "") -> Passage | None:
        """Return the passage that answers a question best, if any does; none of the source `beside`."""
        need = need_for(question)
        answers = [
            passage
            for passage, each in self.answering(question)
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


def time_of(question: SubQuestion, asked_on: date | None) -> AskedTime | None:
    """Return the time that a sub-question names, for what is asked on a day; what speaks against is of any time."""
    return None if question.role == "contrary" else asked_time(question.text, asked_on)


@lru_cache(maxsize=256)
def _need(text: str, terms: tuple[str, ...], is_contrary: bool) -> Need:  # noqa: FBT001
    return need_of(text, terms, is_contrary=is_contrary)


@lru_cache(maxsize=128)
def _words(document: Document) -> tuple[str, ...]:
    return tuple(words_of(document))


@lru_cache(maxsize=64)
def _prepared(document: Document) -> PreparedDocument:
    return prepare([document])[0]
