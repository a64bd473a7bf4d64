"""Numbers in a sentence and whether two sentences agree on them.

A number matches only if it is the same: no tolerance by share (it made 1990 equal 1994), and a decade is not a year.
Rounding is allowed where the writer shows it: "1.2 million" stands for 1,234,567, "about 5" for 4.8.
"""

from collections.abc import Iterable
from enum import StrEnum

from scoring.claims.chinese_numbers import chinese_quantities
from scoring.claims.english_numbers import english_quantities
from scoring.claims.quantity import DIMENSIONS, Comparator, Kind, Quantity

_ABOUT_SHARE = 0.07
_MORE_LIMIT = 5.0  # "more than 3" is not what a text with 900 means


class Agreement(StrEnum):
    """What another sentence says of a number."""

    MATCH = "match"
    CONFLICT = "conflict"
    MISSING = "missing"


def quantities(text: str, *, chinese: bool) -> tuple[Quantity, ...]:
    """Return the numbers of a sentence in order, in digits or words, each in the base unit of its dimension."""
    return tuple(chinese_quantities(text) if chinese else english_quantities(text))


def agreement(claimed: Quantity, found: Iterable[Quantity]) -> Agreement:
    """Return whether one of `found` is the claimed number, only others of its kind and unit are, or none at all."""
    verdict = Agreement.MISSING
    for each in found:
        if not _comparable(claimed, each):
            continue
        if _same(claimed, each):
            return Agreement.MATCH
        if claimed.kind not in {Kind.NUMBER, Kind.DAY} or claimed.unit == each.unit:
            verdict = Agreement.CONFLICT
    return verdict


def is_lone(number: Quantity, found: Iterable[Quantity]) -> bool:
    """Return whether no other value of the number's kind and unit is among `found`."""
    same_kind = (each for each in found if (each.kind, each.unit) == (number.kind, number.unit))
    return all(each.value == number.value for each in same_kind)


def _comparable(claimed: Quantity, found: Quantity) -> bool:
    counting = {Kind.NUMBER, Kind.ORDINAL}
    if claimed.kind is not found.kind and not {claimed.kind, found.kind} <= counting:
        return False
    measured = claimed.kind is Kind.DAY or {claimed.unit, found.unit} <= DIMENSIONS
    return not measured or claimed.unit == found.unit


def _same(claimed: Quantity, found: Quantity) -> bool:
    if claimed.comparator in {Comparator.MORE, Comparator.LESS}:
        return _within(claimed, found)
    if found.comparator in {Comparator.MORE, Comparator.LESS}:
        return False
    return abs(claimed.value - found.value) <= max(
        _slack(claimed, found), _slack(found, claimed), 1e-9
    )


def _within(claimed: Quantity, found: Quantity) -> bool:
    sign = 1 if claimed.comparator is Comparator.MORE else -1
    ahead = sign * (found.value - claimed.value)
    if found.comparator in {Comparator.MORE, Comparator.LESS}:
        return found.comparator is claimed.comparator and ahead >= 0
    near = 1 / _MORE_LIMIT <= found.value / (claimed.value or 1.0) <= _MORE_LIMIT
    return ahead > 0 and near


def _slack(rounded: Quantity, other: Quantity) -> float:
    if rounded.kind in {Kind.YEAR, Kind.DECADE, Kind.DAY, Kind.ORDINAL}:
        return 0.0
    if rounded.comparator is Comparator.ABOUT and other.comparator is not Comparator.ABOUT:
        return min(_ABOUT_SHARE * abs(rounded.value), _half_last_figure(rounded.value))
    return rounded.rounding if other.rounding < rounded.rounding else 0.0


def _half_last_figure(value: float) -> float:
    """Half the place of the last figure that is not a trailing zero: .005 for 4.66, 50 for 2,300."""
    figures, _, exponent = f"{abs(value):.9e}".partition("e")
    return 0.5 * 10.0 ** (int(exponent) - len(figures.rstrip("0").partition(".")[2]))
