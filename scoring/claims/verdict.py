"""One claim against all fetched documents: TRUE, FALSE or UNCERTAIN, why, and the spans for and against.

How it is decided. TRUE: a document states the claim and no other site contradicts it. FALSE: a near-verbatim sentence
differs in exactly one number, negation or opposite, and no document states the claim. Stated by one and contradicted
by another is UNCERTAIN with both spans: which side weighs more is for the ranking to say, not for a count.
"""

from collections.abc import Sequence

from signal_search.contracts.document import Document
from signal_search.contracts.finding import Claim, Verdict

from scoring.claims.copies import independent_sites
from scoring.claims.evidence import PreparedDocument, prepare
from scoring.claims.opinion import Judge, Opinion, opinion_of
from scoring.claims.passage import Passage
from scoring.claims.reasons import Reason
from scoring.claims.rules import VerifyRules
from scoring.text import Sentence


def verify(
    claim_text: str,
    documents: Sequence[Document],
    *,
    own_doc_ids: set[str],
    rules: VerifyRules,
    judge: Judge | None = None,
) -> Claim:
    """Return the verdict on one claim; `own_doc_ids` are the documents it was drawn from.

    `supporting` and `contradicting` hold the best span of each document that speaks, own documents first;
    `independent` counts the other sites that state it, near-copies once. For many claims see `verify_all`.
    """
    return verify_prepared(
        claim_text, prepare(documents), own_doc_ids=own_doc_ids, rules=rules, judge=judge
    )


def verify_all(
    claim_texts: Sequence[str],
    documents: Sequence[Document],
    *,
    own_doc_ids: set[str],
    rules: VerifyRules,
    judge: Judge | None = None,
) -> tuple[Claim, ...]:
    """Return the verdicts on the first `rules.max_claims` claims, preparing the documents once."""
    ready = prepare(documents)
    wanted = claim_texts[: rules.max_claims]
    return tuple(
        verify_prepared(each, ready, own_doc_ids=own_doc_ids, rules=rules, judge=judge)
        for each in wanted
    )


def verify_prepared(
    claim_text: str,
    documents: Sequence[PreparedDocument],
    *,
    own_doc_ids: set[str],
    rules: VerifyRules,
    judge: Judge | None = None,
) -> Claim:
    """Return the verdict on one claim from documents that are prepared already."""
    claim = Passage(Sentence(claim_text, 0, len(claim_text.encode("utf-8", "surrogatepass"))))
    if not claim.weights:
        return Claim(text=claim_text, verdict=Verdict.UNCERTAIN, reason=Reason.NO_WORDS)
    own_first = sorted(documents, key=lambda each: each.document.doc_id not in own_doc_ids)
    opinions = [
        found for each in own_first if (found := opinion_of(each, claim, rules, judge)) is not None
    ]
    return _settled(claim_text, opinions, own_doc_ids, own_first)


def _settled(
    claim_text: str,
    opinions: Sequence[Opinion],
    own_doc_ids: set[str],
    documents: Sequence[PreparedDocument],
) -> Claim:
    stating = [each for each in opinions if each.verdict is Verdict.TRUE]
    against = [each for each in opinions if each.verdict is Verdict.FALSE]
    verdict, reason = _decided(opinions, stating, against, own_doc_ids)
    own = [each for each in documents if each.document.doc_id in own_doc_ids]
    others = [each.source for each in stating if each.source.document.doc_id not in own_doc_ids]
    return Claim(
        text=claim_text,
        verdict=verdict,
        reason=reason,
        supporting=tuple(each.span for each in stating),
        contradicting=tuple(each.span for each in against),
        independent=independent_sites(own, others),
    )


def _decided(
    opinions: Sequence[Opinion],
    stating: Sequence[Opinion],
    against: Sequence[Opinion],
    own_doc_ids: set[str],
) -> tuple[Verdict, str]:
    if stating:
        sites = {each.source.document.site for each in stating}
        if any(each.source.document.site not in sites for each in against):
            return Verdict.UNCERTAIN, Reason.CONTRADICTED_ELSEWHERE
        return Verdict.TRUE, _why_true(stating, own_doc_ids)
    if against:
        return Verdict.FALSE, against[0].reason
    if not opinions:
        return Verdict.UNCERTAIN, Reason.NO_SOURCE
    return Verdict.UNCERTAIN, max(opinions, key=lambda each: each.recall).reason


def _why_true(stating: Sequence[Opinion], own_doc_ids: set[str]) -> str:
    if any(each.verbatim and each.source.document.doc_id in own_doc_ids for each in stating):
        return Reason.VERBATIM_IN_SOURCE
    return stating[0].reason
