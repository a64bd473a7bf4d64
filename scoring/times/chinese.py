"""Times in Chinese text: 2024年5月17日, 五月, 第一季度, 上半年, 春季, 90年代, 20世纪, 去年, 上个月, 昨天.

五月天 is a band, 5个月 a duration, 98年 may be either: none of them is read as a time.
"""

import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta

from scoring.claims.numerals import chinese_value
from scoring.times import period
from scoring.times.mention import Mention
from scoring.times.period import Period

_Match = re.Match[str]
_YEAR = r"(?:1\d|20)\d\d|[一二][〇零○一二三四五六七八九]{3}"
_MONTH = r"1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九]"
_DAY = r"[12]\d|3[01]|0?[1-9]|[二三]?十[一二三四五六七八九]?|[一二三四五六七八九]"
_RELATIVE_YEARS = {"前年": -2, "去年": -1, "上年": -1, "今年": 0, "本年": 0, "明年": 1, "后年": 2}
_RELATIVE_MONTHS = {"上个月": -1, "上月": -1, "本月": 0, "这个月": 0, "下个月": 1, "下月": 1}
_RELATIVE_DAYS = {"前天": -2, "昨天": -1, "昨日": -1}
_SEASONS = {"春": "spring", "夏": "summer", "秋": "autumn", "冬": "winter"}
_UNIT = re.compile(
    rf"(?P<decade>(?:(?:(?P<age>上|20|二十|19|十九)世纪)?(?<!\d)(?P<tens>[1-9]0|[二三四五六七八九]十)"
    rf"|(?<!\d)(?P<whole>{_YEAR}))年代)"
    r"|(?P<century>(?<!\d)(?P<number>2[01]|1\d|[1-9]|二?十[一二三四五六七八九]?|[一二三四五六七八九])世纪)"
    rf"|(?P<dated>(?:(?<!\d)(?P<year>{_YEAR})\s*(?:财|年)?年度?|(?P<which>{'|'.join(_RELATIVE_YEARS)}))"
    rf"(?:\s*的?\s*(?:(?P<month>{_MONTH})\s*月份?(?:\s*(?P<day>{_DAY})\s*[日号])?|第?(?P<quarter>[一二三四1-4])季度"
    r"|(?P<half>[上下])半年|(?P<season>[春夏秋冬])[季天]?(?!节)))?)"
    rf"|(?P<months>(?<![\d第个.])(?P<from_month>{_MONTH})\s*[-–—~～至到]\s*(?P<to_month>{_MONTH})月份?)"
    rf"|(?P<month_alone>(?<![\d第个.])(?P<own_month>{_MONTH})月份?(?!\w?天(?!气))(?:(?P<own_day>{_DAY})[日号])?)"
    r"|(?P<quarter_alone>第?(?P<own_quarter>[一二三四1-4])季度)"
    r"|(?P<half_alone>(?P<own_half>[上下])半年)"
    r"|(?P<season_alone>(?P<own_season>[春夏秋冬])[季天])"
    rf"|(?P<near_month>{'|'.join(_RELATIVE_MONTHS)})|(?P<near_day>{'|'.join(_RELATIVE_DAYS)})"
)


def chinese_times(text: str, today: date | None) -> Iterator[Mention]:
    """Yield the times of a Chinese text in order. 去年 is nothing where `today` is not known."""
    for match in _UNIT.finditer(text):
        name = next(each for each in _READERS if match[each] is not None)
        found = _READERS[name](match, today)
        if found is not None:
            yield Mention(found, match.start(), match.end())


def _value(written: str) -> int:
    return (
        int(written)
        if written.isdecimal() and written.isascii()
        else chinese_value(written.replace("○", "〇"))
    )


def _decade(match: _Match, _today: date | None) -> Period | None:
    if match["whole"]:
        first = _value(match["whole"])
    else:
        century = 1800 if match["age"] in {"19", "十九"} else 1900
        first = century + _value(match["tens"])
    return None if first % 10 else period.years(first, first + 9)


def _century(match: _Match, _today: date | None) -> Period | None:
    return period.century(_value(match["number"]))


def _dated(match: _Match, today: date | None) -> Period | None:
    if match["year"]:
        year = _value(match["year"])
    elif today is None:
        return None
    else:
        year = today.year + _RELATIVE_YEARS[match["which"]]
    return _within(year, *match.group("month", "day", "quarter", "half", "season"))


def _within(
    year: int | None,
    month: str | None = None,
    number: str | None = None,
    quarter: str | None = None,
    half: str | None = None,
    season: str | None = None,
) -> Period | None:
    """Return the part of a year that is named, or the whole year."""
    if month and number:
        return period.day(_value(number), _value(month), year)
    if month:
        return period.months(_value(month), _value(month), year)
    if quarter:
        return period.quarter(_value(quarter), year)
    if half:
        return period.half(1 if half == "上" else 2, year)
    if season:
        return period.season(_SEASONS[season], year)
    return None if year is None else period.years(year, year)


def _month_alone(match: _Match, _today: date | None) -> Period | None:
    return _within(None, *match.group("own_month", "own_day"))


def _months(match: _Match, _today: date | None) -> Period | None:
    first, last = _value(match["from_month"]), _value(match["to_month"])
    return period.months(first, last, None) if first <= last else None


def _part_alone(match: _Match, _today: date | None) -> Period | None:
    return _within(None, None, None, *match.group("own_quarter", "own_half", "own_season"))


def _near_month(match: _Match, today: date | None) -> Period | None:
    if today is None:
        return None
    month = today.year * 12 + today.month - 1 + _RELATIVE_MONTHS[match["near_month"]]
    return period.months(month % 12 + 1, month % 12 + 1, month // 12)


def _near_day(match: _Match, today: date | None) -> Period | None:
    if today is None:
        return None
    own = today + timedelta(days=_RELATIVE_DAYS[match["near_day"]])
    return Period(own, own)


_READERS: dict[str, Callable[[_Match, date | None], Period | None]] = {
    "decade": _decade,
    "century": _century,
    "dated": _dated,
    "months": _months,
    "month_alone": _month_alone,
    "quarter_alone": _part_alone,
    "half_alone": _part_alone,
    "season_alone": _part_alone,
    "near_month": _near_month,
    "near_day": _near_day,
}
