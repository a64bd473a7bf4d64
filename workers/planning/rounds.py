"""One more round for the sub-questions that are still open: other words to the same sources (pattern "rewrite").

A source that was asked in vain is asked once more with the bare terms; asking it the same again would be noise.
"""

from collections.abc import Collection, Mapping

from msgspec import structs
from signal_search.contracts.plan import Plan, PlannedCall, SubQuestion

from workers.planning.language import has_han

# Fewer words match more pages; three name a subject.
_KEPT_TERMS = 3


def rewrite(question: SubQuestion, in_round: int) -> SubQuestion:
    """Return a question as it is asked in a later round; the first round asks it as it stands.

    Round 2 asks with identifiers and the first terms of its own language, later rounds with the other language's.
    """
    if in_round <= 1 or not question.terms:
        return question
    asked_in_chinese = has_han(question.text)
    own = [each for each in question.terms if has_han(each) == asked_in_chinese]
    others = [each for each in question.terms if has_han(each) != asked_in_chinese]
    words = (own if in_round == 2 else others) or own or others
    terms = tuple(dict.fromkeys((*question.identifiers, *words[:_KEPT_TERMS])))
    return structs.replace(question, text=" ".join(terms), terms=terms)


def next_round(
    plan: Plan, open_ids: Collection[str], in_round: int, left: int
) -> tuple[PlannedCall, ...]:
    """Return the calls of round `in_round` (from 2) for the open sub-questions, at most `left`.

    What the plan itself put off to this round comes first; then each source of a question once more, rewritten, as
    long as the rewriting changes what is asked. Ids are `r2.q1.wikipedia`, so that a repeated decision adds nothing.
    """
    if in_round > plan.max_rounds or left <= 0:
        return ()
    waiting = [
        each for each in plan.calls if each.round == in_round and each.question_id in open_ids
    ]
    changed = _changed(plan, in_round)
    again = [
        _again(each, in_round)
        for each in plan.calls
        if not each.shared
        and each.round < in_round
        and each.question_id in open_ids
        and changed.get(each.question_id, False)
    ]
    return tuple((*waiting, *again)[:left])


def _changed(plan: Plan, in_round: int) -> Mapping[str, bool]:
    return {
        each.id: rewrite(each, in_round) != rewrite(each, in_round - 1) for each in plan.questions
    }


def _again(call: PlannedCall, in_round: int) -> PlannedCall:
    return structs.replace(call, id=f"r{in_round}.{call.id}", round=in_round)
