"""Times in English text: days, months, quarters, halves, seasons, years, decades, centuries, `last year`.

`May` is a verb and a name, 2008 a number and a model, `spring` water: such a word is a time for sure only where what
stands beside it says so.
"""

import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta

from scoring.claims.numerals import MONTHS, ORDINALS
from scoring.times import period
from scoring.times.mention import Mention
from scoring.times.period import Period

_Match = re.Match[str]
_Read = tuple[Period | None, bool]

_ABBREVIATIONS = {name[:3]: number for name, number in MONTHS.items()} | {
    "sept": MONTHS["september"]
}
_NUMBER_OF_MONTH = {**_ABBREVIATIONS, **MONTHS}
# Also a verb, a name or an adjective.
_EQUIVOCAL = frozenset(["april", "august", "june", "march", "may"])
_MONTH = "|".join(sorted(_NUMBER_OF_MONTH, key=len, reverse=True))
_YEAR = r"(?:1\d|20)\d\d"
_TH = r"(?:st|[nr]d|th)?"
_SEASON = r"spring|summer|autumn|fall|winter"
_LATER = "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
_CENTURIES = {**ORDINALS, **{word: number for number, word in enumerate(_LATER.split(), 13)}}
_CENTURY = "|".join(sorted(_CENTURIES, key=len, reverse=True))
_UNIT = re.compile(
    r"(?<![A-Za-z0-9_.])(?:"
    rf"(?P<iso>({_YEAR})-(0[1-9]|1[0-2])(?:-([0-3]\d))?)"
    rf"|(?P<slash>({_YEAR})/(0[1-9]|1[0-2])/([0-3]\d))"
    rf"|(?P<day_month>(\d\d?){_TH}(?:\s+of)?\s+({_MONTH})\b\.?(?:,?\s+({_YEAR}))?)"
    rf"|(?P<month_day>({_MONTH})\b\.?\s+(\d\d?){_TH}(?!\.?\d)(?:,?\s+({_YEAR}))?)"
    rf"|(?P<month_year>({_MONTH})\b\.?,?\s+(?:of\s+)?({_YEAR}))"
    rf"|(?P<quarter>(?:Q([1-4])|(first|second|third|fourth)\s+quarter)(?:\s+(?:of\s+)?(?:FY\s?)?({_YEAR}))?)"
    rf"|(?P<half>(?:H([12])|(first|second)\s+half)\s+(?:of\s+)?({_YEAR}))"
    rf"|(?P<season>({_SEASON})\s+(?:of\s+)?({_YEAR}))"
    rf"|(?P<in_season>(?<=in\s)(?:the\s+)?({_SEASON})(?!\s+tides?|\s+of\s))"
    r"|(?P<decade>((?:1\d|20)\d0)['’]?s)"
    rf"|(?P<century>(?:(\d\d?)(?:st|[nr]d|th)|({_CENTURY}))[\s-]century)"
    rf"|(?P<relative>(last|this|next)\s+(year|month|{_MONTH})|(yesterday))"
    rf"|(?P<month>{_MONTH})"
    rf"|(?P<year>{_YEAR})(?!,\d|\.\d|/\d|\s?%)"
    r")(?![A-Za-z0-9_年])",
    re.IGNORECASE,
)
# What makes a bare number a year, and a bare word a month. `of` after a capital belongs to a name: the War of 1812.
_TIME_BEFORE = (
    r"(?:\b(?i:in|during|since|until|till|by|before|after|through|throughout|from|(?<!up )to|for|between|than|around"
    r"|early|late|mid|year|fiscal|FY)|(?:^|\b[a-z]\w* )of)"
)
_YEAR_BEFORE = re.compile(rf"{_TIME_BEFORE}[\s-]*(?:the )?(?:year |calendar year |fiscal year )?$")
_NUMBER_AFTER = re.compile(
    r"\s+(?!was\b|is\b|has\b|as\b|its\b|this\b|does\b|us\b|unless\b|besides\b|across\b|versus\b)(?:people|[a-z]+s)\b"
)
_ADJECTIVE = (re.compile(r"\b[Tt]he $"), re.compile(r"\s+[a-z]"))
# The 1984 film, the 2014 drama film: the year names a work, and says nothing of when something was so.
_WORK = (
    re.compile(r"\b[Tt]he $"),
    re.compile(
        r"(?:\s+[\w-]+){0,4}?\s+(?:film|movie|novel|book|album|song|single|play|musical|series|comedy|drama|game|model"
        r"|edition|version|paper|study|Act|Treaty)\b"
    ),
)
_LAST_WORD = (re.compile(r"\b[a-z]{3,} $"), re.compile(r"\s*(?:[?!,;:)]|\.?\s*$)"))
_BRACKETED = (re.compile(r"(?:^|[(（\t|])\s*$"), re.compile(r"\s*(?:[)）\t|:：,;]|$)"))
_MONTH_BEFORE = re.compile(
    rf"(?:{_TIME_BEFORE}|\b(?:last|next|this|every|each|month of))[\s-]*(?:the )?$"
)
_LOWER_BEFORE = re.compile(r"\b(?:in|during|since|until|last|next)\s+$")


def english_times(text: str, today: date | None) -> Iterator[Mention]:
    """Yield the times of an English text in order. `last year` is nothing where `today` is not known."""
    for match in _UNIT.finditer(text):
        name = next(each for each in _READERS if match[each] is not None)
        found, is_sure = _READERS[name](text, match, today)
        if found is not None:
            yield Mention(found, match.start(), match.end(), is_sure=is_sure)


def _groups(match: _Match, name: str) -> tuple[str | None, ...]:
    """Return the parts of the alternative that matched: the unnamed groups inside its named one."""
    first = match.re.groupindex[name]
    later = [each for each in match.re.groupindex.values() if each > first]
    last = min(later, default=match.re.groups + 1)
    return match.groups()[first : last - 1]


def _year(written: str | None) -> int | None:
    return int(written) if written else None


def _month(written: str | None) -> int:
    return _NUMBER_OF_MONTH[(written or "").lower()]


# --- one reader for each way of writing: the period, and whether it is one for sure -----------------------------------


def _iso(_text: str, match: _Match, _today: date | None) -> _Read:
    name = "iso" if match["iso"] else "slash"
    year, month, number = _groups(match, name)
    if number is None:  # 2010-11 may be two years
        return period.months(int(month or 0), int(month or 0), _year(year)), False
    return period.day(int(number), int(month or 0), _year(year)), True


def _day_month(_text: str, match: _Match, _today: date | None) -> _Read:
    number, month, year = _groups(match, "day_month")
    return _day(number, month, year)


def _month_day(_text: str, match: _Match, _today: date | None) -> _Read:
    month, number, year = _groups(match, "month_day")
    return _day(number, month, year)


def _day(number: str | None, month: str | None, year: str | None) -> _Read:
    is_written = year is not None or (month or "")[:1].isupper()
    return period.day(int(number or 0), _month(month), _year(year)), is_written


def _month_year(_text: str, match: _Match, _today: date | None) -> _Read:
    month, year = _groups(match, "month_year")
    return period.months(_month(month), _month(month), _year(year)), True


def _quarter(_text: str, match: _Match, _today: date | None) -> _Read:
    figure, word, year = _groups(match, "quarter")
    number = int(figure) if figure else ORDINALS[(word or "").lower()]
    return period.quarter(number, _year(year)), year is not None or figure is not None


def _half(_text: str, match: _Match, _today: date | None) -> _Read:
    figure, word, year = _groups(match, "half")
    return period.half(int(figure) if figure else ORDINALS[(word or "").lower()], _year(year)), True


def _season(_text: str, match: _Match, _today: date | None) -> _Read:
    name, year = _groups(match, "season")
    return _named_season(name, _year(year)), True


def _in_season(_text: str, match: _Match, _today: date | None) -> _Read:
    (name,) = _groups(match, "in_season")
    return _named_season(name, None), True


def _named_season(written: str | None, year: int | None) -> Period:
    name = (written or "").lower()
    return period.season("autumn" if name == "fall" else name, year)


def _decade(_text: str, match: _Match, _today: date | None) -> _Read:
    (first,) = _groups(match, "decade")
    return period.years(int(first or 0), int(first or 0) + 9), True


def _century(_text: str, match: _Match, _today: date | None) -> _Read:
    figure, word = _groups(match, "century")
    number = int(figure) if figure else _CENTURIES[(word or "").lower()]
    return (period.century(number) if 1 <= number <= 21 else None), True


def _relative(_text: str, match: _Match, today: date | None) -> _Read:
    which, unit, _yesterday = _groups(match, "relative")
    if today is None:
        return None, False
    if which is None:
        own = today - timedelta(days=1)
        return Period(own, own), True
    step = {"last": -1, "this": 0, "next": 1}[which.lower()]
    return _stepped((unit or "").lower(), step, today), match[0][:1].islower() or step != 0


def _stepped(unit: str, step: int, today: date) -> Period:
    if unit == "year":
        return period.years(today.year + step, today.year + step)
    if unit == "month":
        month = today.year * 12 + today.month - 1 + step
        return period.months(month % 12 + 1, month % 12 + 1, month // 12)
    month = _month(unit)
    is_past, is_to_come = month < today.month, month > today.month
    year = today.year + {-1: 0 if is_past else -1, 0: 0, 1: 0 if is_to_come else 1}[step]
    return period.months(month, month, year)


def _month_alone(text: str, match: _Match, _today: date | None) -> _Read:
    before, word = text[: match.start()], match["month"]
    found = period.months(_month(word), _month(word), None)
    if not word[0].isupper():
        is_full = word.lower() in MONTHS and word.lower() not in _EQUIVOCAL
        return (found if is_full or _LOWER_BEFORE.search(before) else None), True
    is_sure = bool(_MONTH_BEFORE.search(before)) or (
        word.lower() in MONTHS and word.lower() not in _EQUIVOCAL
    )
    return found, is_sure


def _year_alone(text: str, match: _Match, _today: date | None) -> _Read:
    year = int(match["year"])
    return period.years(year, year), _is_year(text, match)


def _is_year(text: str, match: _Match) -> bool:
    before, at = text[max(0, match.start() - 30) : match.start()], match.end()
    if _stands_in(_BRACKETED, before, text, at):
        return True
    if _NUMBER_AFTER.match(text, at) or _stands_in(_WORK, before, text, at):
        return False
    if _YEAR_BEFORE.search(before):
        return True
    return any(_stands_in(each, before, text, at) for each in (_ADJECTIVE, _LAST_WORD))


def _stands_in(
    beside: tuple[re.Pattern[str], re.Pattern[str]], before: str, text: str, at: int
) -> bool:
    return bool(beside[0].search(before) and beside[1].match(text, at))


_READERS: dict[str, Callable[[str, _Match, date | None], _Read]] = {
    "iso": _iso,
    "slash": _iso,
    "day_month": _day_month,
    "month_day": _month_day,
    "month_year": _month_year,
    "quarter": _quarter,
    "half": _half,
    "season": _season,
    "in_season": _in_season,
    "decade": _decade,
    "century": _century,
    "relative": _relative,
    "month": _month_alone,
    "year": _year_alone,
}
