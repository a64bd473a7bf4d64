"""Does a sentence state the claim? Guarded rules, no model: TRUE needs everything to agree, FALSE just one conflict.

Trained classifiers of this size do not transfer between kinds of text and embeddings cannot tell a statement from its
negation; rules that say UNCERTAIN when anything is left over are precise, and they can say why.
"""

from collections.abc import Iterator

from signal_search.contracts.finding import Verdict

from scoring.claims import lexicon, numerals
from scoring.claims.features import Comparison
from scoring.claims.numbers import Agreement
from scoring.claims.reasons import Reason
from scoring.claims.rules import VerifyRules

_FEWEST_WORDS = 3
_NEAR = 0.6  # in a sentence so close to the claim, a name out of place is another statement
_DENSE_FALSE = 0.5
# Of a stretch, what the claim repeats: below it the words are picked from here and there. Chinese leaves out less.
_DENSE_TRUE, _DENSE_TRUE_CHINESE = 0.4, 0.3
# A Han character is about half a word, so one may differ (筑成, 建成); two in a row may be another name.
_LEFT, _LEFT_CHINESE = 0, 1


def entails(comparison: Comparison, rules: VerifyRules) -> tuple[Verdict, Reason]:
    """Return the verdict of the rules on a claim and one sentence, and the reason for it."""
    conflict = contradiction(comparison, rules)
    if conflict is not None:
        return Verdict.FALSE, conflict
    doubt = next(_doubts(comparison, rules), None)
    if doubt is not None:
        return Verdict.UNCERTAIN, doubt
    return Verdict.TRUE, Reason.SAME_STATEMENT


def contradiction(seen: Comparison, rules: VerifyRules) -> Reason | None:
    """Return what a near-verbatim sentence states otherwise, if it is exactly one thing; else None."""
    if not _is_near_verbatim(seen, rules) or _is_not_stated(seen):
        return None
    numbers, other = seen.numbers.count(Agreement.CONFLICT), len(seen.antonyms)
    if Agreement.MISSING in seen.numbers or numbers + other + seen.negations % 2 != 1:
        return None
    if any(not _is_explained(key, seen) for key in seen.left):
        return None
    if seen.negations % 2:
        return Reason.NEGATION_CONFLICT
    return Reason.NUMBER_CONFLICT if numbers else Reason.ANTONYM_CONFLICT


def _is_near_verbatim(seen: Comparison, rules: VerifyRules) -> bool:
    close = seen.order >= rules.false_order and seen.recall >= rules.false_recall
    return (
        close and seen.density >= _DENSE_FALSE and seen.words >= _FEWEST_WORDS and not seen.swapped
    )


def _is_explained(key: str, seen: Comparison) -> bool:
    """Return whether a word that the sentence lacks is the conflict itself."""
    if seen.negations % 2:
        return key in lexicon.NEGATION_KEYS
    if seen.antonyms:
        return any(key == word or (key in word and not key.isascii()) for word in seen.antonyms)
    return key[0].isdigit() or key in numerals.KEYS


def _is_not_stated(seen: Comparison) -> bool:
    return seen.debunked or seen.modal or seen.question


def vetoes(seen: Comparison) -> Iterator[Reason]:
    """Yield each guard that speaks against TRUE whoever says it; a judge's TRUE passes only if there is none."""
    numbers = {Agreement.CONFLICT: Reason.NUMBER_CONFLICT, Agreement.MISSING: Reason.NUMBER_MISSING}
    yield from (numbers[each] for each in seen.numbers if each is not Agreement.MATCH)
    guards = (
        (seen.negations > 0, Reason.NEGATION_DIFFERS),
        (bool(seen.antonyms), Reason.ANTONYM_DIFFERS),
        (seen.names_present < 1, Reason.NAME_MISSING),
        (seen.exclusive, Reason.EXCLUSIVE_UNSUPPORTED),
        (seen.debunked, Reason.DEBUNKED),
        (seen.modal, Reason.MODALITY_DIFFERS),
        (seen.question, Reason.QUESTION),
        (seen.order >= _NEAR and seen.other_name, Reason.NAME_OUT_OF_PLACE),
    )
    yield from (reason for fires, reason in guards if fires)


def _doubts(seen: Comparison, rules: VerifyRules) -> Iterator[Reason]:
    if seen.recall < rules.false_recall:
        yield Reason.WEAK_ANCHOR
    yield from vetoes(seen)
    doubts = (
        (seen.swapped or seen.other_name, Reason.NAME_OUT_OF_PLACE),
        (seen.recall < rules.true_recall or seen.window < rules.true_window, Reason.PARTLY_COVERED),
        (seen.order < rules.true_order, Reason.OTHER_ORDER),
        (seen.left_run > (_LEFT_CHINESE if seen.chinese else _LEFT), Reason.WORD_UNMATCHED),
        (seen.replaced, Reason.WORD_REPLACED),
        (seen.density < (_DENSE_TRUE_CHINESE if seen.chinese else _DENSE_TRUE), Reason.SCATTERED),
        (seen.rivals, Reason.NUMBER_AMBIGUOUS),
    )
    yield from (reason for fires, reason in doubts if fires)
