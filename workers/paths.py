"""Dotted paths into JSON that nobody promised a shape of: what is there is found, what is not there is nothing. Pure.

Digits index lists; a path through a list without an index collects from each of its members.
"""

import re
from typing import Any

_MAX_VALUES = 100
_BRACES = re.compile(r"\{([^{}]{1,100})\}")


def walk(value: object, steps: list[str]) -> list[object]:
    """Return what a path leads to; through a list without an index, from each of its members."""
    found = [value]
    for step in steps:
        found = [deeper for each in found for deeper in _step(each, step)][:_MAX_VALUES]
    return found


def _step(value: object, step: str) -> list[object]:
    if isinstance(value, dict):
        return [value[step]] if step in value else []
    if isinstance(value, list) and step.isdecimal():
        return value[int(step[:6]) :][:1]
    if isinstance(value, list):
        return [each[step] for each in value if isinstance(each, dict) and step in each]
    return []


def texts_at(item: object, choice: str) -> list[str]:
    """Return the texts of one path, or the one text of a sentence with paths in braces, if none of them is empty."""
    if "{" not in choice:
        return texts_in(walk(item, choice.split("."))) if choice else []
    parts = {path: first_at(item, path) for path in _BRACES.findall(choice)}
    return [_BRACES.sub(lambda found: parts[found[1]], choice)] if all(parts.values()) else []


def first_at(item: object, path: str) -> str:
    """Return the first text of one path, "" when there is none."""
    return next(iter(texts_in(walk(item, path.split(".")))), "")


def texts_in(value: Any) -> list[str]:
    """Return the scalars of a value and of the lists in it, as texts; of an object those of its own fields."""
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list):
        return [_scalar(value)] if _scalar(value) else []
    inner = [
        part
        for each in value[:_MAX_VALUES]
        for part in (each if isinstance(each, list) else [each])
    ]
    return [text for each in inner[:_MAX_VALUES] if (text := _scalar(each))]


def _scalar(value: object) -> str:
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""
