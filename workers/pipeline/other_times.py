"""Which questions name a time that nothing found is of: a value of another time is shown, and said to be none. Pure."""

from collections.abc import Iterator, Sequence
from datetime import date

from signal_search.contracts.finding import Uncertainty
from signal_search.contracts.plan import Plan

from workers.pipeline.findings import OTHER_TIME, Statement
from workers.pipeline.reading import time_of
from workers.synthesis.wording import language_of, say


def other_times(
    plan: Plan, statements: Sequence[Statement], asked_on: date
) -> Iterator[Uncertainty]:
    """Yield the questions of a plan that name a time and have statements, none of which is known to be of it.

    A question without any statement is told of as one without evidence.
    """
    spoken = {name for each in statements for name in each.question_ids}
    answered = {
        name for each in statements if each.note != OTHER_TIME for name in each.question_ids
    }
    words = language_of(plan.language)
    for question in plan.questions:
        asked = time_of(question, asked_on)
        if asked is not None and question.id in spoken - answered:
            text = say("not_found_for", words, time=asked.words, question=question.text)
            yield Uncertainty(text=text, reason="asked_time_not_found")
