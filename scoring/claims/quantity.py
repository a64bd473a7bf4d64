"""A number as a sentence gives it: value, unit, kind, comparator, and how far it was rounded."""

from enum import StrEnum

from msgspec import Struct


class Kind(StrEnum):
    """What is counted; numbers of different kinds are never compared."""

    NUMBER = "number"
    PERCENT = "percent"
    YEAR = "year"
    DECADE = "decade"
    ORDINAL = "ordinal"
    DAY = "day"


class Comparator(StrEnum):
    """How the number is meant."""

    EXACT = "="
    ABOUT = "~"
    MORE = ">"
    LESS = "<"


class Quantity(Struct, frozen=True):
    """A number as written: value in `unit`, half the place of its last written digit, and where it starts."""

    value: float
    kind: Kind
    unit: str = ""
    comparator: Comparator = Comparator.EXACT
    rounding: float = 0.0
    at: int = 0


# Units of one dimension: the value in the first of its line.
_UNITS = {
    **dict.fromkeys(("m", "meter", "meters", "metre", "metres", "米"), ("m", 1.0)),
    **dict.fromkeys(
        ("km", "kilometer", "kilometers", "kilometre", "kilometres", "公里", "千米"), ("m", 1e3)
    ),
    **dict.fromkeys(
        ("cm", "centimeter", "centimeters", "centimetre", "centimetres", "厘米"), ("m", 1e-2)
    ),
    **dict.fromkeys(
        ("mm", "millimeter", "millimeters", "millimetre", "millimetres", "毫米"), ("m", 1e-3)
    ),
    **dict.fromkeys(("mile", "miles", "mi"), ("mile", 1.0)),
    **dict.fromkeys(("ft", "foot", "feet"), ("foot", 1.0)),
    **dict.fromkeys(("g", "gram", "grams", "克"), ("g", 1.0)),
    **dict.fromkeys(("mg", "milligram", "milligrams"), ("g", 1e-3)),
    **dict.fromkeys(("kg", "kilogram", "kilograms", "公斤", "千克"), ("g", 1e3)),
    **dict.fromkeys(("tonne", "tonnes", "吨"), ("g", 1e6)),
    **dict.fromkeys(("second", "seconds", "秒"), ("s", 1.0)),
    **dict.fromkeys(("minute", "minutes", "分钟"), ("s", 60.0)),
    **dict.fromkeys(("hour", "hours", "小时"), ("s", 3600.0)),
    **dict.fromkeys(("day", "days", "天"), ("s", 86_400.0)),
    **dict.fromkeys(("week", "weeks"), ("s", 604_800.0)),
    **dict.fromkeys(("month", "months", "个月"), ("month", 1.0)),
    **dict.fromkeys(("year", "years", "年"), ("month", 12.0)),
    **dict.fromkeys(("$", "dollar", "dollars", "美元"), ("$", 1.0)),
    **dict.fromkeys(("€", "euro", "euros", "欧元"), ("€", 1.0)),
    **dict.fromkeys(("£", "pound", "pounds"), ("£", 1.0)),
    **dict.fromkeys(("¥", "yuan", "元"), ("¥", 1.0)),
}
_DAY_PARTS = {"月": "month", "日": "day", "号": "day", "时": "hour"}
DIMENSIONS = frozenset(name for name, _ in _UNITS.values())


def rounding_of(raw: str, scale: float) -> float:
    """Half the last written place of a scaled number of two or more figures, else none."""
    if scale == 1.0 or len(raw.replace(".", "").strip("0")) < 2:
        return 0.0
    return 0.5 * scale * 10.0 ** -len(raw.partition(".")[2])


def measured(
    value: float, kind: Kind, unit: str, comparator: Comparator, rounding: float, at: int
) -> Quantity:
    """Return a quantity in the base unit of its kind. value and rounding: in the unit as written."""
    if kind is not Kind.NUMBER:
        part = _DAY_PARTS.get(unit, "") if kind is Kind.DAY else ""
        return Quantity(value, kind, part, comparator, rounding, at)
    name, factor = _UNITS.get(unit, (unit, 1.0))
    return Quantity(value * factor, kind, name, comparator, rounding * factor, at)
