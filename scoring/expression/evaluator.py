"""The scalar reference: one candidate after the other, one node after the other, as the language is defined.

Every other way to run a program must give the same bits and the same errors. It also finds the place of an error that
the columns only know to exist, and runs sets that are too small for columns to pay.
"""

import math
import operator
from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec import Struct
from signal_search.errors import ProgramError

from scoring.expression.program import Node, Program

Value = float | bool | None
Read = Callable[[str], float | None]


class FeatureColumns(Protocol):
    """The features of a set of candidates, computed when they are read."""

    def column(self, name: str, rows: Sequence[int]) -> list[float | None]:
        """Return a feature of the candidates `rows` (indexes, ascending), in that order; finite floats or None."""
        ...


class Scored(Struct, frozen=True, kw_only=True):
    """The candidates that passed the filter: `order` best first, `scores` parallel to it."""

    order: tuple[int, ...]
    scores: tuple[float, ...]


class Fault(Exception):  # control flow: only who runs the program knows where it is
    """An operation has no finite result."""

    def __init__(self, code: str) -> None:
        """Remember why: `division_by_zero`, `domain` or `non_finite`."""
        super().__init__(code)
        self.code = code


class _Located(Exception):  # control flow, as above
    def __init__(self, fault: Fault, node: Node) -> None:
        super().__init__(fault.code)
        self.code = fault.code
        self.node = node


_MESSAGES = {
    "division_by_zero": "Division by zero",
    "domain": "The function is not defined for this value",
    "non_finite": "The result is not a finite number",
}


def score_each(program: Program, features: FeatureColumns, count: int) -> Scored:
    """Run a program on candidates 0 to `count`: filter, score, then sort, score descending, ties in order.

    Raises:
        ProgramError: `division_by_zero`, `domain` or `non_finite` of the first candidate that fails, with `field`,
            `position` and `candidate_index`.
    """
    kept: list[tuple[int, float]] = []
    for row in range(count):
        score = _score(program, features, row)
        if score is not None:
            kept.append((row, score))
    kept.sort(key=lambda each: each[1], reverse=True)
    return Scored(
        order=tuple(row for row, _score in kept), scores=tuple(score for _row, score in kept)
    )


def _score(program: Program, features: FeatureColumns, row: int) -> float | None:
    def read(name: str) -> float | None:
        return features.column(name, (row,))[0]

    field = "filter"
    try:
        if not value_of(program.filter, read):
            return None
        field = "score"
        return value_of(program.score, read)
    except _Located as found:
        error = ProgramError(
            _MESSAGES[found.code], code=found.code, field=field, position=found.node.position
        )
        error.candidate_index = row
        raise error from None


def value_of(node: Node, read: Read) -> Value:
    """Return the value of a node for one candidate; an argument that the language skips is not computed."""
    if node.op == "literal":
        return node.value
    if node.op == "feature":
        return read(node.name)
    lazy = _LAZY.get(node.op)
    if lazy is not None:
        return lazy(node.args, read)
    values = [value_of(each, read) for each in node.args]
    try:
        return _STRICT[node.op](*values)
    except Fault as fault:
        raise _Located(fault, node) from None


# --- operations that skip arguments -----------------------------------------------------------------------------------


def _and(args: Sequence[Node], read: Read) -> Value:
    return all(value_of(each, read) for each in args)


def _or(args: Sequence[Node], read: Read) -> Value:
    return any(value_of(each, read) for each in args)


def _coalesce(args: Sequence[Node], read: Read) -> Value:
    value = value_of(args[0], read)
    return value_of(args[1], read) if value is None else value


def _where(args: Sequence[Node], read: Read) -> Value:
    return value_of(args[1] if value_of(args[0], read) else args[2], read)


_LAZY: dict[str, Callable[[Sequence[Node], Read], Value]] = {
    "and": _and,
    "or": _or,
    "coalesce": _coalesce,
    "where": _where,
}


# --- operations on values ---------------------------------------------------------------------------------------------


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise Fault("non_finite")
    return value


def _divided(a: float, b: float) -> float:
    if b == 0.0:
        raise Fault("division_by_zero")
    return _finite(a / b)


def _clamp(x: float, low: float, high: float) -> float:
    if low > high:
        raise Fault("domain")
    return low if x < low else min(x, high)


def _log1p(x: float) -> float:
    if x <= -1.0:
        raise Fault("domain")
    return math.log1p(x)


def _sqrt(x: float) -> float:
    if x < 0.0:
        raise Fault("domain")
    return math.sqrt(x)


def _exp(x: float) -> float:
    try:
        return math.exp(x)
    except OverflowError:
        raise Fault("non_finite") from None


_STRICT: dict[str, Callable[..., Value]] = {
    "+": lambda a, b: _finite(a + b),
    "-": lambda a, b: _finite(a - b),
    "*": lambda a, b: _finite(a * b),
    "/": _divided,
    "neg": operator.neg,
    "pos": operator.pos,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "not": operator.not_,
    "min": min,  # of two zeros the first, whatever their signs: one rule for every executor
    "max": max,
    "abs": abs,
    "clamp": _clamp,
    "log1p": _log1p,
    "sqrt": _sqrt,
    "exp": _exp,
    "is_missing": lambda x: x is None,
}
