"""How fresh a document is for what is asked: exponential decay by age with a half-life of the intent.

The day we fetched something says nothing about when it was published, so it never counts; nor does a server's
Last-Modified, which changes with every deployment.
"""

import re
from collections.abc import Mapping
from datetime import date

from signal_search.contracts.document import Document
from signal_search.contracts.query import Intent
from signal_search.contracts.score import Component

UNKNOWN = 0.5
_DAY_MS = 86_400_000
_EPOCH = date(1970, 1, 1).toordinal()
_ISO = re.compile(r"^(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")
# A date a little ahead is a time zone; further ahead it is a mistake of the page.
_AHEAD_DAYS = 2
_DEFAULT_HALF_LIFE_DAYS = 1460.0


def recency(
    document: Document, intent: Intent, now_ms: int, half_life_days: Mapping[str, float]
) -> Component:
    """Return 2^(-age / half-life) for a known publication date, .5 for an unknown one."""
    day = _day_of(document)
    if day is None:
        return Component(value=UNKNOWN, reason="publication date unknown")
    age = now_ms // _DAY_MS - day
    if age < -_AHEAD_DAYS:
        return Component(value=UNKNOWN, reason="publication date lies in the future")
    half_life = half_life_days.get(intent.value, _DEFAULT_HALF_LIFE_DAYS)
    value = 2.0 ** (-max(age, 0) / half_life)
    said = "last changed" if document.date_kind == "modified" else "published"
    reason = f"{said} {document.published}, half-life {half_life:g} days for {intent.value}"
    return Component(value=round(value, 4), reason=reason)


def _day_of(document: Document) -> int | None:
    found = _ISO.match(document.published)
    if found is None or document.date_kind == "header":
        return None
    return epoch_day(found[1], found[2], found[3])


def epoch_day(year: str, month: str | None, day: str | None) -> int | None:
    """Return days since 1970; a year alone counts from its middle, a month from its fifteenth; None if impossible."""
    try:
        return (
            date(int(year), int(month or 7), int(day or (15 if month else 1))).toordinal() - _EPOCH
        )
    except ValueError:
        return None
