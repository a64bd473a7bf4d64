"""Ages of publications as callers write them: past day, week, month or year, or a range of days."""

import re
from datetime import date, timedelta

# A month and a year at their longest, so that nothing of them is lost.
_DAYS = {"pd": 1, "pw": 7, "pm": 31, "py": 366}
_RANGE = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})\.\.([0-9]{4}-[0-9]{2}-[0-9]{2})")

DateRange = tuple[str, str]
"""First and last ISO day, both included."""


def date_range(freshness: str, today: date | None) -> DateRange | None:
    """Return the days that a freshness (pd, pw, pm, py or `A..B`) leaves; None for what is none, or relative to no day.

    Relative forms end tomorrow, because somewhere it is tomorrow already.
    """
    if today is not None and freshness in _DAYS:
        first = today - timedelta(days=_DAYS[freshness])
        return first.isoformat(), (today + timedelta(days=1)).isoformat()
    found = _RANGE.fullmatch(freshness)
    return (found[1], found[2]) if found else None


def lies_within(published: str, wanted: DateRange) -> bool:
    """Say whether an ISO date of one to three parts lies in a range: a year or month does if any of its days does."""
    first, last = wanted
    return first[: len(published)] <= published <= last[: len(published)]
