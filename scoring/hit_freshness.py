"""How fresh a hit is, and which hits are within a wanted age (search guide, phase 4).

The date is the page's own; where there is none, the first year that the snippet names is a hint. A date a little ahead
is a time zone; one further ahead is a mistake of the page and says nothing.
"""

import re
from collections.abc import Sequence
from datetime import date

from msgspec import Struct
from signal_search.contracts.hit import MergedHit

from scoring.date_range import date_range, lies_within
from scoring.recency import epoch_day

UNKNOWN = 0.5
# Age in days, and the score up to it.
_BANDS = ((1, 1.0), (7, 0.9), (30, 0.7), (90, 0.5), (365, 0.3))
_OLD = 0.1
# The same for a year alone, in years back: this one, the last, up to three.
_YEARS_BACK = ((0, 0.9), (1, 0.6), (3, 0.4))
_LONG_AGO = 0.2
_YEAR = re.compile(r"(?<![\d.,/-])(20[2-9]\d)(?![\d,]|\.\d)")
_AHEAD_DAYS = 2
_EPOCH_ORDINAL = date(1970, 1, 1).toordinal()


class FreshHits(Struct, frozen=True, kw_only=True):
    """Hits by a wanted age: those within it, those without a date, and how many are outside it."""

    within: tuple[MergedHit, ...]
    undated: tuple[MergedHit, ...] = ()
    outside: int = 0


def freshness_score(published: str, snippet: str, today: date) -> tuple[float, str]:
    """Return how fresh a hit is (0..1) and why. published: ISO year, month or day, or "" where it is not known."""
    if not published:
        return _by_text(snippet, today)
    year, month, day = (*published.split("-"), "", "")[:3]
    if not month:
        return _by_years(int(year), today), f"published {published}"
    ordinal = epoch_day(year, month, day or None)
    if ordinal is None:
        return _by_text(snippet, today)
    age = today.toordinal() - _EPOCH_ORDINAL - ordinal
    if published > today.isoformat()[: len(published)] and age < -_AHEAD_DAYS:
        return UNKNOWN, "publication date lies in the future"
    return _band(max(age, 0), _BANDS, _OLD), f"published {published}"


def by_freshness(hits: Sequence[MergedHit], freshness: str, today: date) -> FreshHits:
    """Part hits by a freshness (pd, pw, pm, py or `A..B`), whatever their sources made of it; what is none keeps all.

    A date that is only a month or a year counts when any of its days does.
    """
    wanted = date_range(freshness, today)
    if wanted is None:
        return FreshHits(within=tuple(hits))
    dated = [each for each in hits if each.published]
    within = tuple(each for each in dated if lies_within(each.published, wanted))
    undated = tuple(each for each in hits if not each.published)
    return FreshHits(within=within, undated=undated, outside=len(dated) - len(within))


def _by_text(snippet: str, today: date) -> tuple[float, str]:
    found = _YEAR.search(snippet)
    if found is None or int(found[1]) > today.year:
        return UNKNOWN, "publication date unknown"
    return _by_years(int(found[1]), today), f"no date; the text names {found[1]}"


def _by_years(year: int, today: date) -> float:
    back = today.year - year
    return UNKNOWN if back < 0 else _band(back, _YEARS_BACK, _LONG_AGO)


def _band(age: int, bands: Sequence[tuple[int, float]], beyond: float) -> float:
    return next((score for most, score in bands if age <= most), beyond)
