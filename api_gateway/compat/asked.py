"""What the faces' requests share: fields that cannot be honoured, ages in other words, names of sites. Pure."""

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from msgspec import Struct
from signal_search.errors import Invalid, Unsupported

FIRST_DAY: Final = "1970-01-01"
"""Where a range begins whose first day is not named."""

PAST: Final = {
    "day": "pd",
    "d": "pd",
    "week": "pw",
    "w": "pw",
    "month": "pm",
    "m": "pm",
    "year": "py",
    "y": "py",
}
"""Ages as the faces name them, in the engine's words."""

NEWS_AGE: Final = "py"
"""How old news may be where no age is named: the engine's own choice, a day or a week, is narrower than theirs."""

MOST_HITS: Final = 100
"""As many hits as a search may be asked for: where only some sites' are wanted, they are chosen among these."""

_DOMAIN: Final = re.compile(r"(?:[a-z0-9-]{1,63}\.)+[a-z0-9-]{2,63}")
_NOTHING: Final[tuple[Any, ...]] = (None, False, "", [], {}, ())


def refuse_unsupported(request: Struct, names: Sequence[str]) -> None:
    """Refuse what would be left out of account: a caller must not believe that it was heeded.

    names: fields of the request, as they are sent. Absent, false and empty ask for nothing and pass.

    Raises:
        Unsupported: with the first field.
    """
    fields = dict(zip(request.__struct_encode_fields__, request.__struct_fields__, strict=True))
    for name in names:
        if getattr(request, fields[name]) not in _NOTHING:
            raise Unsupported("This is not supported here.", field=name)


def between(first: str | None, last: str | None, today: date) -> str | None:
    """Return a range of days for one that may be open at either end; None for no range at all."""
    if first is None and last is None:
        return None
    return f"{first or FIRST_DAY}..{last or today.isoformat()}"


def past_days(days: int, today: date) -> str:
    """Return the range of the last `days` days, today included."""
    return f"{(today - timedelta(days=days)).isoformat()}..{today.isoformat()}"


def day_of(now_ms: int) -> date:
    """Return the day in UTC of an instant in epoch milliseconds."""
    return datetime.fromtimestamp(now_ms / 1000, UTC).date()


def domains(entries: Sequence[str], field: str) -> tuple[str, ...]:
    """Return names of sites in lower case.

    Raises:
        Invalid: one is not a plain domain: addresses, paths and wildcards are not understood.
    """
    found = tuple(each.strip().lower() for each in entries)
    for at, each in enumerate(found):
        if not _DOMAIN.fullmatch(each):
            raise Invalid("A domain such as example.org is expected.", field=f"{field}[{at}]")
    return found
