"""Stretches of time as texts name them, and how one lies to another. Pure arithmetic of days.

A month, a day or a quarter may be named without its year; it is kept in a year of its own (a leap year, so that it has
every day) and compared with the year left out, or put into the years that the text around it names.
"""

from collections.abc import Collection, Iterator
from datetime import date, timedelta
from enum import IntEnum

from msgspec import Struct
from msgspec.structs import replace

NO_YEAR = 4
_LAST_MONTH = 12
_MONTHS_OF_QUARTER = 3
_DAY = timedelta(days=1)


class Relation(IntEnum):
    """How a named time lies to the asked one, best first: the same, a part, around it, across an end, beside it."""

    SAME = 0
    PART = 1
    WIDER = 2
    OVERLAP = 3
    APART = 4


class Period(Struct, frozen=True):
    """First and last day, both included.

    is_yearless: the year is not named, and both days lie in `NO_YEAR`. season: its English name, where one is named;
    which months it has depends on the hemisphere, so that the days are those of its year.
    """

    first: date
    last: date
    is_yearless: bool = False
    season: str = ""


# --- what a text may name ---------------------------------------------------------------------------------------------


def years(first: int, last: int) -> Period:
    """Return the time from the first day of one year to the last of another."""
    return Period(date(first, 1, 1), date(last, _LAST_MONTH, 31))


def months(first: int, last: int, year: int | None) -> Period:
    """Return the time from the first day of one month (1..12) to the last of another of the same year."""
    own = NO_YEAR if year is None else year
    after = date(own + last // _LAST_MONTH, last % _LAST_MONTH + 1, 1)
    return Period(date(own, first, 1), after - _DAY, year is None)


def day(number: int, month: int, year: int | None) -> Period | None:
    """Return one day; None where the calendar has no such day."""
    try:
        own = date(NO_YEAR if year is None else year, month, number)
    except ValueError:
        return None
    return Period(own, own, year is None)


def quarter(number: int, year: int | None) -> Period:
    """Return the quarter (1..4) of a year."""
    last = number * _MONTHS_OF_QUARTER
    return months(last - _MONTHS_OF_QUARTER + 1, last, year)


def half(number: int, year: int | None) -> Period:
    """Return the first (1) or second (2) half of a year."""
    return months(6 * number - 5, 6 * number, year)


def season(name: str, year: int | None) -> Period:
    """Return a season of a year."""
    return replace(months(1, _LAST_MONTH, year), season=name)


def century(number: int) -> Period:
    """Return a century (1..30) as people count it: the 20th is 1900 to 1999."""
    return years(max(1, 100 * number - 100), 100 * number - 1)


def since(start: Period) -> Period:
    """Return the time from the first day of `start` on; of one without a year, to the end of that year."""
    end = date(NO_YEAR, _LAST_MONTH, 31) if start.is_yearless else date.max
    return replace(start, last=end)


def until(end: Period) -> Period:
    """Return the time up to the last day of `end`; of one without a year, from the start of that year."""
    return replace(end, first=date(NO_YEAR, 1, 1) if end.is_yearless else date.min)


def after(start: Period) -> Period | None:
    """Return the time from the day after `start` on; None where that is no longer in its year."""
    if start.last >= since(start).last:
        return None
    return since(replace(start, first=start.last + _DAY))


def before(end: Period) -> Period | None:
    """Return the time up to the day before `end`; None where that is no longer in its year."""
    if end.first <= until(end).first:
        return None
    return until(replace(end, last=end.first - _DAY))


def joined(start: Period, end: Period) -> Period | None:
    """Return the time from one period to another; a year that only one has is that of both. None if it ends first."""
    if start.is_yearless and not end.is_yearless:
        start = _in_year(start, end.first.year)
    elif end.is_yearless and not start.is_yearless:
        end = _in_year(end, start.last.year)
    if start.first > end.last:
        return None
    return Period(start.first, end.last, start.is_yearless)


# --- comparing --------------------------------------------------------------------------------------------------------


def relation(found: Period, asked: Period, likely_years: Collection[int] = ()) -> Relation:
    """Return how a named time lies to the asked one; of several ways to read it, the nearest.

    likely_years: those that a found time without a year may belong to; without any, every year.
    """
    if found.season and asked.season and found.season != asked.season:
        return Relation.APART
    nearest = min(
        (_compared(each, own) for each, own in _readings(found, asked, likely_years)),
        default=Relation.WIDER,
    )
    return _of_seasons(nearest, found, asked)


def _of_seasons(nearest: Relation, found: Period, asked: Period) -> Relation:
    """Return the relation where one of both is a season, and has its year's days: it is a part of the year, no more."""
    if nearest is Relation.APART or bool(found.season) == bool(asked.season):
        return nearest
    if found.season:
        return Relation.PART if nearest in {Relation.SAME, Relation.PART} else Relation.OVERLAP
    return Relation.WIDER if nearest in {Relation.SAME, Relation.WIDER} else Relation.OVERLAP


def _readings(
    found: Period, asked: Period, likely_years: Collection[int]
) -> Iterator[tuple[Period, Period]]:
    """Yield both with a year, or both without; nothing where a time of several years meets one without."""
    if found.is_yearless == asked.is_yearless:
        yield found, asked
    elif asked.is_yearless:
        if found.first.year == found.last.year:
            yield _in_year(found, NO_YEAR), asked
    else:
        for year in likely_years or _some_years(asked):
            yield _in_year(found, year), asked


def _some_years(asked: Period) -> set[int]:
    """Return enough years to try: a part of a year lies in one of them if it lies in any."""
    first, last = asked.first.year, asked.last.year
    return {first, min(first + 1, last), last}


def _in_year(period: Period, year: int) -> Period:
    return replace(
        period,
        first=_day_in_year(period.first, year),
        last=_day_in_year(period.last, year),
        is_yearless=year == NO_YEAR,
    )


def _day_in_year(own: date, year: int) -> date:
    try:
        return own.replace(year=year)
    except ValueError:
        return own.replace(year=year, day=28)  # the 29th of February


def _compared(found: Period, asked: Period) -> Relation:
    if (found.first, found.last) == (asked.first, asked.last):
        return Relation.SAME
    if found.last < asked.first or found.first > asked.last:
        return Relation.APART
    if asked.first <= found.first and found.last <= asked.last:
        return Relation.PART
    if found.first <= asked.first and asked.last <= found.last:
        return Relation.WIDER
    return Relation.OVERLAP
