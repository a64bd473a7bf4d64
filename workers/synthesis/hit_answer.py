"""The sentence that answers a search, word for word from a hit, and how sure it may sound; and where hits disagree.

How sure follows from who says it (search guide, phase 5): several sites and not old, plainly; one site or old, by its
name; sites that disagree, both sides.
"""

from collections.abc import Sequence
from datetime import date
from itertools import islice

from msgspec import Struct
from signal_search.contracts.document import Document
from signal_search.contracts.finding import Claim, Span
from signal_search.contracts.hit import MergedHit, RankedHit
from signal_search.contracts.hit_synthesis import Certainty, HitDisagreement, HitStatement

from scoring.asked_time import asked_time, is_of_time
from scoring.claims.conflicts import find_disagreements
from scoring.claims.evidence import PreparedDocument, prepare
from scoring.claims.rules import VerifyRules
from scoring.claims.verdict import verify_prepared
from scoring.hit_freshness import freshness_score
from scoring.identity import site_of
from scoring.need import Need, need_of
from scoring.passages import ANSWERS, SPEAKS, is_named_after, is_statement, rank_sentences

# Up to a year old (the freshness bands of the search guide) or of unknown age: not old.
_NOT_OLD = 0.3
# The first hits with words of their own are compared sentence by sentence, so far into each: a search cannot wait.
_MOST_READ = 10
_MOST_CHARS = 1000
_MOST_DISAGREEMENTS = 5


class Answer(Struct, frozen=True):
    """The answer, None when no hit has one, and the disagreements among all hits."""

    statement: HitStatement | None
    disagreements: tuple[HitDisagreement, ...]


class _Read(Struct, frozen=True):
    hits: Sequence[RankedHit]
    ready: tuple[PreparedDocument, ...]
    today: date
    rules: VerifyRules

    def position(self, span: Span) -> int:
        return next(at for at, each in enumerate(self.hits, 1) if each.hit.key == span.doc_id)


def answer_of(
    hits: Sequence[RankedHit], query_forms: Sequence[str], today: date, rules: VerifyRules
) -> Answer:
    """Return the answer that hits give, best first. What a model wrote about a page is never quoted as its words."""
    own = (each.hit for each in hits if not each.hit.by_model and each.hit.snippet)
    documents = [_as_document(each) for each in islice(own, _MOST_READ)]
    read = _Read(hits, prepare(documents), today, rules)
    found = find_disagreements(read.ready, rules, most=_MOST_DISAGREEMENTS)
    disagreements = tuple(
        HitDisagreement(
            topic=each.topic,
            kind=each.kind,
            one=_said(each.first, read),
            other=_said(each.second, read),
        )
        for each in found
    )
    return Answer(_statement(documents, query_forms, read, disagreements), disagreements)


def _as_document(hit: MergedHit) -> Document:
    """Return a hit's snippet as a document, so that it is read as documents are; its id is the hit's key."""
    return Document(
        doc_id=hit.key,
        url=hit.url,
        title=hit.title,
        text=hit.snippet[:_MOST_CHARS],
        source_id="",
        site=site_of(hit.url),
        fetched_at_ms=0,
        published=hit.published,
    )


def _said(span: Span, read: _Read) -> HitStatement:
    return HitStatement(text=span.quote, hits=(read.position(span),), certainty="disputed")


def _statement(
    documents: Sequence[Document],
    query_forms: Sequence[str],
    read: _Read,
    disagreements: Sequence[HitDisagreement],
) -> HitStatement | None:
    best = _best_sentence(documents, query_forms, read.today)
    if best is None:
        return None
    claim = verify_prepared(best.quote, read.ready, own_doc_ids={best.doc_id}, rules=read.rules)
    supporting = [read.position(each) for each in claim.supporting]
    hits = tuple(dict.fromkeys((read.position(best), *supporting)))
    return HitStatement(
        text=best.quote.strip(),
        hits=hits,
        certainty=_certainty(best, claim, hits, read, disagreements),
    )


def _best_sentence(
    documents: Sequence[Document], query_forms: Sequence[str], today: date
) -> Span | None:
    """Return the sentence that carries most of the query; of equals the one of the better hit.

    One that is of the time which the query names comes first, one of another time is none. A snippet is short: where
    it does not tell its time, that is not held against it. Then comes what answers in a hit that is named after what is
    asked: another page may have all the words, and speak of the river at the mountain's foot.
    """
    needs: list[Need] = [need_of(each) for each in query_forms]
    named = (asked_time(each, today) for each in query_forms)
    asked = next((each for each in named if each is not None), None)
    best: _Candidate = (False, False, SPEAKS, None)
    for document in documents:
        for need in needs:
            for passage in rank_sentences(need, document):
                time = asked is None or is_of_time(asked, document, passage.span.start)
                if time is False or not is_statement(passage.span.quote):
                    continue
                is_own = passage.share >= ANSWERS and is_named_after(need, document)
                best = _better(best, (time is True, is_own, passage.share, passage.span))
    return best[-1]


# Whether it is of the asked time, whether its page is about what is asked, how much of the query it carries.
_Candidate = tuple[bool, bool, float, Span | None]


def _better(best: _Candidate, other: _Candidate) -> _Candidate:
    """Return the other one where it speaks and has time, page or share on its side, in this order."""
    if other[2] < SPEAKS:
        return best
    return other if best[-1] is None or other[:3] > best[:3] else best


def _certainty(
    best: Span,
    claim: Claim,
    hits: Sequence[int],
    read: _Read,
    disagreements: Sequence[HitDisagreement],
) -> Certainty:
    disputed = any(best.quote in {each.one.text, each.other.text} for each in disagreements)
    if claim.contradicting or disputed:
        return "disputed"
    agreed = claim.independent > 0
    newest = max(_freshness(read.hits[at - 1].hit, read.today) for at in hits)
    return "stated" if agreed and newest >= _NOT_OLD else "attributed"


def _freshness(hit: MergedHit, today: date) -> float:
    value, _reason = freshness_score(hit.published, hit.snippet, today)
    return value
