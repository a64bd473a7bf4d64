"""The time that a question asks about, and whether a sentence is of it: a value of another time is no answer.

A sentence is of the asked time where it names it, or a part of it; one that names another time is not. Where it names
none, what stands nearest tells: its paragraph, the heading above, the title, at last the day of publication. Where
nothing tells, it is not known to be of that time.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from datetime import date
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace
from signal_search.contracts.document import Document

from scoring.document_times import DocumentTimes, likely_years, read_times
from scoring.times.mention import Mention
from scoring.times.period import Relation, relation
from scoring.times.reading import times_in

# Whether something was so at a time is answered by the time at which it was so.
_YES_OR_NO = re.compile(
    r"^\s*(?:is|are|was|were|did|does|do|has|have|had|can|could|will|would|should)\b|吗\s*[?？]?\s*$|是否|是不是|有没有",
    re.IGNORECASE,
)
# What is counted over a year is not what is counted over a month of it.
_AMOUNT = re.compile(r"\bhow (?:much|many)\b|\btotal\b|多少|总(?:共|计|量|额|数)", re.IGNORECASE)


class AskedTime(Struct, frozen=True):
    """times: what the question names; words: as it writes them.

    of_amount: it asks for what is added up over the time, so that a part of the time has not all of it.
    """

    times: tuple[Mention, ...]
    of_amount: bool
    words: str


@lru_cache(maxsize=256)
def asked_time(question: str, today: date | None = None) -> AskedTime | None:
    """Return the time that a question asks about; None where it names none for sure, or is answered by yes or no.

    today: the day that `last year` and 去年 are counted from; without it they name nothing.
    """
    if _YES_OR_NO.search(question):
        return None
    times = tuple(each for each in times_in(question, today) if each.is_sure)
    if not times:
        return None
    words = ", ".join(question[each.start : each.end] for each in times)
    return AskedTime(times, _AMOUNT.search(question) is not None, words)


def is_of_time(asked: AskedTime, document: Document, start: int) -> bool | None:
    """Return whether the sentence at byte `start` of a document is of the asked time; None where nothing tells.

    `start` is that of a sentence as `scoring.text.sentences` cuts them. What stands nearest decides. A stretch of years
    is wide: a sentence of which nothing tells the time passes for a part of it.
    """
    read = read_times(document)
    verdicts = (_said(asked, times, read) for times in _nearest_first(read, start))
    found = next((each for each in verdicts if each is not None), None)
    if found is None and read.published is not None:
        # A page that appeared within the time is of it, whatever is added up.
        found = _said(replace(asked, of_amount=False), (Mention(read.published, 0, 0),), read)
    is_stretch = all(each.form != "unit" for each in asked.times)
    return True if found is None and is_stretch else found


def _nearest_first(read: DocumentTimes, start: int) -> Iterator[tuple[Mention, ...]]:
    """Yield what is named in the sentence, before and after it in its paragraph, in the heading above, in the title."""
    at = read.position[start]
    here = read.places[at]
    yield here.times
    paragraph = [n for n, each in enumerate(read.places) if each.paragraph == here.paragraph]
    yield from (read.places[n].times for n in reversed(paragraph) if n < at)
    yield from (read.places[n].times for n in paragraph if n > at)
    headings = (each.times for each in reversed(read.places[: paragraph[0]]) if each.is_heading)
    yield next(headings, ())
    yield read.title


# --- one time beside the asked one ------------------------------------------------------------------------------------


def _said(asked: AskedTime, times: Sequence[Mention], read: DocumentTimes) -> bool | None:
    """Return whether one of the named times is the asked one, only others are, or nothing tells."""
    found = [_answers(asked, each, likely_years(each, times, read)) for each in times]
    if True in found:
        return True
    return False if False in found else None


def _answers(asked: AskedTime, named: Mention, likely: Collection[int]) -> bool | None:
    verdicts = [_one(each, named, likely, of_amount=asked.of_amount) for each in asked.times]
    if True in verdicts:
        return True
    return None if None in verdicts or not named.is_sure else False


def _one(
    asked: Mention, named: Mention, likely: Collection[int], *, of_amount: bool
) -> bool | None:
    is_stretch = asked.form != "unit"
    match relation(named.period, asked.period, likely):
        case Relation.SAME:
            return True
        case Relation.PART:
            return is_stretch or not of_amount
        case Relation.WIDER:
            return _held_through(named, of_amount=of_amount)
        case Relation.OVERLAP:
            return True if is_stretch else None
        case Relation.APART:
            return False


def _held_through(named: Mention, *, of_amount: bool) -> bool | None:
    """What was so from one time to another was so in between, but for amounts; `in 2024` is not said of its May."""
    if named.form == "unit":
        return False
    if not of_amount:
        return True
    return None if named.form == "open" else False
