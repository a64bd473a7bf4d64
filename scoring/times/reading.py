"""The times that a text names, in English and Chinese: units of the calendar, and the words between and beside them."""

import re
from collections.abc import Callable, Iterator
from datetime import date
from itertools import pairwise

from msgspec.structs import replace

from scoring.times import period
from scoring.times.chinese import chinese_times
from scoring.times.english import english_times
from scoring.times.mention import Mention
from scoring.times.period import Period

_TO = re.compile(r"\s*(?:-|–|—|~|～|to|through|until|till|至|到)\s*")
_AND = re.compile(r"\s*(?:and|和|与)\s*")
_BETWEEN = re.compile(r"(?:\bbetween\s+|在|介于|从)$", re.IGNORECASE)
# What opens a time: the words before or after it, and what of the time they leave.
_BEFORE_IT: tuple[tuple[re.Pattern[str], Callable[[Period], Period | None]], ...] = (
    (
        re.compile(r"\bsince\s+(?:the\s+)?(?:early\s+|late\s+|mid[\s-]*)?$|自从?$", re.IGNORECASE),
        period.since,
    ),
    (re.compile(r"\bafter\s+(?:the\s+)?$", re.IGNORECASE), period.after),
    (
        re.compile(
            r"\b(?:until|till|up to|by)\s+(?:the\s+end\s+of\s+)?(?:the\s+)?$", re.IGNORECASE
        ),
        period.until,
    ),
    (re.compile(r"\b(?:before|prior to)\s+(?:the\s+)?$", re.IGNORECASE), period.before),
)
_AFTER_IT: tuple[tuple[re.Pattern[str], Callable[[Period], Period | None]], ...] = (
    (re.compile(r"\s*(?:以来|起|开始|至今)|\s+on(?:wards?)?\b"), period.since),
    (re.compile(r"\s*(?:之后|以后|后)"), period.after),
    (re.compile(r"\s*(?:之前|以前|前(?!后))"), period.before),
    (re.compile(r"\s*为止"), period.until),
)
_BEFORE_CHARS = 24
_ANY_DAY = date(2000, 1, 1)  # `last year` is a time, whichever it is


def times_in(text: str, today: date | None) -> tuple[Mention, ...]:
    """Return the times that a text names, in order and apart from each other.

    today: the day that `last year` and 昨天 are counted from; without it they name nothing.
    """
    units = sorted(
        (*english_times(text, today), *chinese_times(text, today)), key=lambda each: each.start
    )
    apart = [each for at, each in enumerate(units) if at == 0 or units[at - 1].end <= each.start]
    return tuple(_opened(text, each) for each in _joined(text, apart))


def without_times(text: str) -> str:
    """Return a text with a space in place of what is a time for sure."""
    for each in reversed(times_in(text, _ANY_DAY)):
        if each.is_sure:
            text = f"{text[: each.start]} {text[each.end :]}"
    return text


def _joined(text: str, units: list[Mention]) -> Iterator[Mention]:
    """Yield units, and stretches where two of them are the ends of one."""
    is_taken = False
    for each, after in pairwise([*units, None]):
        if is_taken or each is None:
            is_taken = False
            continue
        stretch = _stretch(text, each, after) if after is not None else None
        is_taken = stretch is not None
        yield stretch or each


def _stretch(text: str, first: Mention, last: Mention) -> Mention | None:
    gap = text[first.end : last.start]
    before = text[max(0, first.start - _BEFORE_CHARS) : first.start]
    if not (_TO.fullmatch(gap) or (_AND.fullmatch(gap) and _BETWEEN.search(before))):
        return None
    found = period.joined(first.period, last.period)
    if found is None:
        return None
    return Mention(found, first.start, last.end, "range", first.is_sure or last.is_sure)


def _opened(text: str, mention: Mention) -> Mention:
    """Return a mention with what opens it: since 2020 has no end, before 2020 no beginning."""
    if mention.form != "unit":
        return mention
    before = text[max(0, mention.start - _BEFORE_CHARS) : mention.start]
    found = [made for words, made in _BEFORE_IT if words.search(before)]
    found += [made for words, made in _AFTER_IT if words.match(text, mention.end)]
    opened = found[0](mention.period) if found else None
    return replace(mention, period=opened, form="open") if opened is not None else mention
