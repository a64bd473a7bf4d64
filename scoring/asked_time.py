"""The time that a question asks about, and whether a sentence is of it: a value of another time is no answer.

A sentence is of the asked time where it names it, or a part of it; one that names another time is not. Where it names
none, what stands nearest tells: its paragraph, the heading above, the title, at last the day of publication. Where
nothing tells, it is not known to be of that time.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from datetime import date
from enum import Enum
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


class _Says(Enum):
    """What a named time says of the asked one.

    IS: it is that time, or a part; HELD: something was so through that time and beyond it; OTHER: it is another one.
    """

    IS = "is"
    HELD = "held"
    OTHER = "other"
    NOTHING = "nothing"


def _said(asked: AskedTime, times: Sequence[Mention], read: DocumentTimes) -> bool | None:
    """Return whether one of the named times is the asked one, only others are, or nothing tells.

    Beside another time, what held through both may be said of either: since 2021, and in 2024.
    """
    found = {_says(asked, each, likely_years(each, times, read)) for each in times}
    if _Says.IS in found:
        return True
    if _Says.HELD in found:
        return None if _Says.OTHER in found else True
    return False if _Says.OTHER in found else None


def _says(asked: AskedTime, named: Mention, likely: Collection[int]) -> _Says:
    found = {_one(each, named, likely, of_amount=asked.of_amount) for each in asked.times}
    for best in (_Says.IS, _Says.HELD, _Says.NOTHING):
        if best in found:
            return best
    return _Says.OTHER if named.is_sure else _Says.NOTHING


def _one(asked: Mention, named: Mention, likely: Collection[int], *, of_amount: bool) -> _Says:
    is_stretch = asked.form != "unit"
    match relation(named.period, asked.period, likely):
        case Relation.SAME:
            return _Says.IS
        case Relation.PART:
            return _Says.IS if is_stretch or not of_amount else _Says.OTHER
        case Relation.OVERLAP:
            return _Says.IS if is_stretch else _Says.NOTHING
        case Relation.WIDER:
            return _held_through(named, of_amount=of_amount)
        case Relation.APART:
            return _Says.OTHER


def _held_through(named: Mention, *, of_amount: bool) -> _Says:
    """What was so from one time to another was so in between, but for amounts; `in 2024` is not said of its May."""
    if named.form != "unit" and not of_amount:
        return _Says.HELD
    return _Says.NOTHING if named.form == "open" else _Says.OTHER
