"""Which days a target is about, and whether a text lies within them (adaptive search guide, B2 of its reading).

When a page was published says nothing about when the event happened, so the two are never put in each other's place;
what is not known does not pass. Words and digits are ASCII's here: else 发布于2026-01-20 would be one word.
"""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Literal

from msgspec import Struct

Basis = Literal["published", "event"]
DateStatus = Literal["not_required", "eligible", "outside_window", "unknown"]

_ISO_DATE = re.compile(r"(?<![0-9])([0-9]{4}-[0-9]{2}-[0-9]{2})(?![0-9])")
_AS_OF = re.compile(r"\bas of\b|截至|截止", re.ASCII | re.IGNORECASE)
_TODAY = re.compile(r"\btoday\b|今天|今日", re.ASCII | re.IGNORECASE)
_YESTERDAY = re.compile(r"\byesterday\b|昨天|昨日", re.ASCII | re.IGNORECASE)
_PUBLISHED = re.compile(r"\bpublished\b|刊登|发表的|发布的文章", re.ASCII | re.IGNORECASE)
_HAPPENED = re.compile(
    r"\b(?:released?|launch(?:ed)?|announced?|updated?|occurred)\b|发布|上线|宣布|更新|发生",
    re.ASCII | re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[\n\r。！？!?]|[.;](?=\s|$)")
_ZONED = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ].+(?:Z|[+-][0-9]{2}:?[0-9]{2})", re.IGNORECASE)


class Window(Struct, frozen=True, kw_only=True):
    """Days, both inclusive, in UTC. basis: what has to lie within, the publication or the event."""

    start: str
    end: str
    basis: Basis


def iso_dates(text: str) -> list[str]:
    """Return the calendar days that a text names as YYYY-MM-DD, in order."""
    return [each for each in _ISO_DATE.findall(text) if is_day(each)]


def is_day(text: str) -> bool:
    """Return whether a text is a day of the calendar, as YYYY-MM-DD."""
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def inferred_window(text: str, today: date, *, by_dates: bool = True) -> Window | None:
    """Return the days that the words of a question ask for, None where they ask for none.

    today: of the call's start, in UTC. by_dates: dates written out count too, not only "today" and "yesterday".
    """
    if _AS_OF.search(text):
        return None
    basis: Basis = "published" if _PUBLISHED.search(text) else "event"
    for words, day in ((_TODAY, today), (_YESTERDAY, today - timedelta(days=1))):
        if words.search(text):
            return Window(start=day.isoformat(), end=day.isoformat(), basis=basis)
    days = iso_dates(text) if by_dates else []
    return Window(start=min(days), end=max(days), basis=basis) if days else None


def date_status(window: Window | None, *, published: str | None, text: str) -> DateStatus:
    """Return whether a text of a source lies within a window. published: as the source said it."""
    if window is None:
        return "not_required"
    if window.basis == "published":
        day = published_day(published or "")
        days = [day] if day else []
    else:
        days = list(_event_days(text))
    if not days:
        return "unknown"
    return (
        "eligible" if any(window.start <= each <= window.end for each in days) else "outside_window"
    )


def published_day(published: str) -> str:
    """Return the UTC day of a publication date: a day, or a time with its zone; "" for anything else."""
    if is_day(published):
        return published
    if not _ZONED.fullmatch(published):
        return ""
    try:
        return datetime.fromisoformat(published).astimezone(UTC).date().isoformat()
    except (ValueError, OverflowError):
        return ""


def _event_days(text: str) -> Iterator[str]:
    """Yield the days in sentences that say that something happened."""
    for sentence in _SENTENCE_END.split(text):
        if _HAPPENED.search(sentence):
            yield from iso_dates(sentence)
