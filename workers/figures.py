"""How a figure of a statistical source is written as text, so that a claim about it can be checked. Pure."""

import re

_UNIT = re.compile(r"\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)\s*$")
_LARGE = ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"))


def written(value: float) -> str:
    """Write a number for people and for comparison, as 1,410,710,000 (1.41 billion), 5.25 or 0.031."""
    size = abs(value)
    for limit, word in _LARGE:
        if size >= limit:
            return f"{_plain(value, 0)} ({_plain(value / limit, 2)} {word})"
    return _plain(value, 2) if size >= 1 or size == 0 else f"{value:.3g}"


def _plain(value: float, decimals: int) -> str:
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def with_unit(name: str) -> tuple[str, str]:
    """Return the name of an indicator without the unit it carries in brackets, and the unit: `GDP (current US$)`."""
    found = _UNIT.search(name[:400])
    return (name[: found.start()], found[1]) if found else (name, "")


def statement(name: str, whose: str, value: str, *, when: str = "", group: str = "") -> str:
    """Return one sentence: whose figure, in which unit, was how much, when. The name may carry its unit in brackets."""
    bare, unit = with_unit(name)
    comma = "," if "," in bare else ""
    told = f", {unit if unit.startswith('per ') else f'in {unit}'}," if unit else ""
    who = f" ({group})" if group else ""
    at = f" in {when}" if when else ""
    return f"{bare}{comma} of {whose}{who}{told} was {value}{at}."
