"""What one document says of a claim: the verdict of its best sentences, the reason, and the span it rests on."""

from collections.abc import Callable

from msgspec import Struct
from signal_search.contracts.finding import Span, Verdict
from signal_search.errors import JudgeTimedOut, SignalSearchError

from scoring.claims.entail import entails, vetoes
from scoring.claims.evidence import PreparedDocument
from scoring.claims.features import Comparison, compare, is_debunked, is_question
from scoring.claims.passage import Passage
from scoring.claims.reasons import Reason
from scoring.claims.rules import VerifyRules

# Asks a model whether a passage entails the claim. It may raise; what it returns is checked.
Judge = Callable[[str, Span], tuple[Verdict, str]]


class NoOpinion(Exception):
    """Raised by a judge that was not asked about this pair: the verdict of the rules stands."""


_RELEVANT_FROM = 0.5  # a document with less of the claim's words is not read
_SENTENCES_READ = 3
_JUDGED = {
    Verdict.TRUE: Reason.JUDGED,
    Verdict.FALSE: Reason.JUDGED_FALSE,
    Verdict.UNCERTAIN: Reason.JUDGED_UNCERTAIN,
}


class Opinion(Struct, frozen=True, kw_only=True):
    """One document's verdict; `recall` is how much of the claim its best sentence holds.

    seen: how the two compare, where that was needed to tell.
    """

    source: PreparedDocument
    verdict: Verdict
    reason: str
    span: Span
    recall: float
    seen: Comparison | None = None
    verbatim: bool = False


def opinion_of(
    source: PreparedDocument, claim: Passage, rules: VerifyRules, judge: Judge | None = None
) -> Opinion | None:
    """Return what the document says of the claim, or None when it is about something else.

    A judge is asked only where the rules cannot tell; its failure leaves the claim uncertain.
    """
    if source.coverage(claim) < _RELEVANT_FROM:
        return None
    found = _verbatim(source, claim) or _by_rules(source, claim, rules)
    if found is None or judge is None or found.verdict is not Verdict.UNCERTAIN:
        return found
    return _by_judge(found, claim, judge)


def _verbatim(source: PreparedDocument, claim: Passage) -> Opinion | None:
    places = source.verbatim(claim)
    if places is None:
        return None
    first, last = places
    sentence = source.passages[first]
    if is_debunked(claim, sentence, source.neighbours(first)) or is_question(claim, sentence):
        return None
    return Opinion(
        source=source,
        verdict=Verdict.TRUE,
        reason=Reason.VERBATIM,
        span=source.span(first, last),
        recall=1.0,
        verbatim=True,
    )


def _by_rules(source: PreparedDocument, claim: Passage, rules: VerifyRules) -> Opinion | None:
    """Return the verdict of the first sentence that states the claim, else that contradicts it, else the best one."""
    found = [
        _on_sentence(source, place, claim, rules)
        for place in source.best_places(claim, _SENTENCES_READ)
    ]
    for wanted in (Verdict.TRUE, Verdict.FALSE, Verdict.UNCERTAIN):
        for each in found:
            if each.verdict is wanted:
                return each
    return None


def _on_sentence(
    source: PreparedDocument, place: int, claim: Passage, rules: VerifyRules
) -> Opinion:
    seen = compare(claim, source.passages[place], source.neighbours(place))
    verdict, reason = entails(seen, rules)
    return Opinion(
        source=source,
        verdict=verdict,
        reason=reason,
        span=source.span(place, place),
        recall=seen.recall,
        seen=seen,
    )


def _by_judge(found: Opinion, claim: Passage, judge: Judge) -> Opinion:
    try:
        verdict, reason = _asked(judge, claim.sentence.text, found.span)
    except NoOpinion:
        return found
    if verdict is Verdict.TRUE and found.seen is not None:
        veto = next(vetoes(found.seen), None)
        verdict, reason = (Verdict.UNCERTAIN, f"vetoed_{veto}") if veto else (verdict, reason)
    return Opinion(
        source=found.source,
        verdict=verdict,
        reason=reason,
        span=found.span,
        recall=found.recall,
        seen=found.seen,
    )


def _asked(judge: Judge, claim: str, span: Span) -> tuple[Verdict, str]:
    try:
        verdict, reason = judge(claim, span)
        return Verdict(verdict), reason or _JUDGED[Verdict(verdict)]
    except JudgeTimedOut:
        return Verdict.UNCERTAIN, Reason.JUDGE_TIMED_OUT
    except (SignalSearchError, TimeoutError, ConnectionError):
        return Verdict.UNCERTAIN, Reason.JUDGE_FAILED
    except (TypeError, ValueError):
        return Verdict.UNCERTAIN, Reason.JUDGE_INVALID
