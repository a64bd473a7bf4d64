"""When a hit was published, as sources write it: one reader for every form that an API sends.

What people write ("3 days ago") is no date, and neither is a number that is no time. The day is the one that was
written: in the publisher's own time zone, as for documents.
"""

import re
from calendar import monthrange
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime

_MAX_CHARS = 100
_ISO = re.compile(r"([0-9]{4})(?:$|([-/.])([0-9]{1,2})(?:\2([0-9]{1,2}))?(?=$|[T\s]))")
_COMPACT = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})(?=$|T?[0-9]{6}Z?$)")
_CHINESE = re.compile(r"([0-9]{4})\s?年(?:\s?([0-9]{1,2})\s?月(?:\s?([0-9]{1,2})\s?日)?)?")
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH_FIRST = re.compile(r"([A-Za-z]{3,9})\.? ([0-9]{1,2})[a-z]{0,2},? ([0-9]{4})\b")
_DAY_FIRST = re.compile(r"([0-9]{1,2})[a-z]{0,2} ([A-Za-z]{3,9})\.?,? ([0-9]{4})\b")
_MONTH_ALONE = re.compile(r"([A-Za-z]{3,9})\.? ([0-9]{4})$")
_EPOCH = re.compile(r"[0-9]{10}(?:[0-9]{3})?(?:\.[0-9]+)?")
# Publications of the printing age to the near future; what lies outside is a number of another kind.
_YEARS = range(1500, 2200)


def stated_date(stated: str) -> str:
    """Return the ISO year, month or day of a date; "" for what is none.

    Reads ISO 8601 with any fraction and zone, RFC 1123 and RFC 822, `20260102` and `20260102T030405Z`, `2026/1/2`,
    `May 4, 2026`, `4 May 2026`, `2026年5月4日`, and epoch seconds or milliseconds. A day that no calendar has is cut
    back to what there is of it.
    """
    text = stated.strip()[:_MAX_CHARS]
    parts = _numbers(text) or _named(text)
    if parts:
        return _calendar(*parts)
    return _epoch(text) if _EPOCH.fullmatch(text) else _mail_date(text)


def _numbers(text: str) -> tuple[int, int, int] | None:
    """Return year, month, day of a date in numbers, 0 for what it does not say."""
    if found := _COMPACT.match(text):
        return int(found[1]), int(found[2]), int(found[3])
    if found := _ISO.match(text):
        return int(found[1]), int(found[3] or 0), int(found[4] or 0)
    if found := _CHINESE.match(text):
        return int(found[1]), int(found[2] or 0), int(found[3] or 0)
    return None


def _named(text: str) -> tuple[int, int, int] | None:
    """Return the same of a date that names its month in English."""
    if found := _MONTH_FIRST.match(text):
        month, day, year = found[1], found[2], found[3]
    elif found := _DAY_FIRST.match(text):
        day, month, year = found[1], found[2], found[3]
    elif found := _MONTH_ALONE.match(text):
        month, day, year = found[1], "0", found[2]
    else:
        return None
    name = month[:3].lower()
    return (int(year), _MONTHS.index(name) + 1, int(day)) if name in _MONTHS else None


def _calendar(year: int, month: int, day: int) -> str:
    if year not in _YEARS:
        return ""
    if not 1 <= month <= 12:
        return f"{year:04d}"
    if not 1 <= day <= monthrange(year, month)[1]:
        return f"{year:04d}-{month:02d}"
    return f"{year:04d}-{month:02d}-{day:02d}"


def _epoch(text: str) -> str:
    seconds = float(text) / (1000 if len(text.partition(".")[0]) == 13 else 1)
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()


def _mail_date(text: str) -> str:
    try:
        day: date = parsedate_to_datetime(text).date()
    except (ValueError, TypeError, OverflowError, IndexError):
        return ""
    return day.isoformat() if day.year in _YEARS else ""
