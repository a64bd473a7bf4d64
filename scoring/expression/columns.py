"""Nodes to functions over columns: each is run once for all candidates that reach it, not once for each.

A column is a list of values, parallel to the ascending indexes of the candidates that need it. What the language skips
for a candidate is not in the columns below. A column with a fault says only that there is one: the scalar reference
finds the first candidate that has it. Functions of `math` alone, since vectorised ones differ in the last bit.
"""

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from itertools import compress
from typing import Any

from scoring.expression.evaluator import Fault, FeatureColumns
from scoring.expression.program import Node

Rows = Sequence[int]
Column = Sequence[Any]
Run = Callable[[FeatureColumns, Rows], Column]
Record = Callable[[Node, Rows, Column], None]


def plan(node: Node, record: Record | None = None) -> Run:
    """Return a function that computes a node for some candidates; `record` is told every column but literals.

    The function raises Fault when a candidate among them fails.
    """
    if node.op == "literal":
        value = node.value
        return lambda _features, rows: [value] * len(rows)
    if node.op == "feature":
        name = node.name
        run: Run = lambda features, rows: features.column(name, rows)  # noqa: E731
    else:
        run = _BUILDERS[node.op](node, [plan(each, record) for each in node.args])
    return run if record is None else _recorded(node, run, record)


def _recorded(node: Node, run: Run, record: Record) -> Run:
    def recorded(features: FeatureColumns, rows: Rows) -> Column:
        column = run(features, rows)
        record(node, rows, column)
        return column

    return recorded


def _finite(column: list[float]) -> list[float]:
    # An infinity or NaN anywhere makes the sum one; a finite sum proves all finite. Only a sum that overflows by itself
    # needs the slow check.
    if not math.isfinite(sum(column)) and not all(map(math.isfinite, column)):
        raise Fault("non_finite")
    return column


# --- operations that need every argument ------------------------------------------------------------------------------


def _arithmetic(apply: Callable[[float, float], float]) -> Callable[[Node, list[Run]], Run]:
    def build(_node: Node, args: list[Run]) -> Run:
        left, right = args
        return lambda features, rows: _finite(
            list(map(apply, left(features, rows), right(features, rows)))
        )

    return build


def _division(_node: Node, args: list[Run]) -> Run:
    left, right = args

    def run(features: FeatureColumns, rows: Rows) -> Column:
        above = left(features, rows)
        below = right(features, rows)
        if 0.0 in below:
            raise Fault("division_by_zero")
        return _finite(list(map(operator.truediv, above, below)))

    return run


def _elementwise(apply: Callable[..., Any]) -> Callable[[Node, list[Run]], Run]:
    """Return a builder for an operation that cannot fail."""

    def build(_node: Node, args: list[Run]) -> Run:
        if len(args) == 1:
            (only,) = args
            return lambda features, rows: list(map(apply, only(features, rows)))
        left, right = args
        return lambda features, rows: list(map(apply, left(features, rows), right(features, rows)))

    return build


def _function(apply: Callable[[float], float]) -> Callable[[Node, list[Run]], Run]:
    """Return a builder for a function of `math`, which raises outside of its domain and range."""

    def build(_node: Node, args: list[Run]) -> Run:
        (only,) = args

        def run(features: FeatureColumns, rows: Rows) -> Column:
            try:
                return list(map(apply, only(features, rows)))
            except (ValueError, OverflowError):
                raise Fault("domain") from None

        return run

    return build


def _lesser(_node: Node, args: list[Run]) -> Run:
    left, right = args
    return lambda features, rows: [
        b if b < a else a  # noqa: FURB136  # half the time of a call
        for a, b in zip(left(features, rows), right(features, rows), strict=True)
    ]


def _greater(_node: Node, args: list[Run]) -> Run:
    left, right = args
    return lambda features, rows: [
        b if b > a else a  # noqa: FURB136
        for a, b in zip(left(features, rows), right(features, rows), strict=True)
    ]


def _clamp(_node: Node, args: list[Run]) -> Run:
    value, low, high = args

    def run(features: FeatureColumns, rows: Rows) -> Column:
        values = value(features, rows)
        lows, highs = low(features, rows), high(features, rows)
        if any(map(operator.gt, lows, highs)):
            raise Fault("domain")
        return [
            b if a < b else c if a > c else a  # noqa: FURB136
            for a, b, c in zip(values, lows, highs, strict=True)
        ]

    return run


def _missing(_node: Node, args: list[Run]) -> Run:
    (only,) = args
    return lambda features, rows: [each is None for each in only(features, rows)]


# --- operations that skip arguments -----------------------------------------------------------------------------------


def _and(_node: Node, args: list[Run]) -> Run:
    first, *others = args

    def run(features: FeatureColumns, rows: Rows) -> Column:
        found = first(features, rows)
        for each in others:
            open_rows = _where_true(rows, found)
            if not open_rows:
                return found
            later = iter(each(features, open_rows))
            found = [value and next(later) for value in found]
        return found

    return run


def _or(_node: Node, args: list[Run]) -> Run:
    first, *others = args

    def run(features: FeatureColumns, rows: Rows) -> Column:
        found = first(features, rows)
        for each in others:
            open_rows = _where_true(rows, map(operator.not_, found))
            if not open_rows:
                return found
            later = iter(each(features, open_rows))
            found = [value or next(later) for value in found]
        return found

    return run


def _where_true(rows: Rows, flags: Iterable[bool]) -> Rows:
    return list(compress(rows, flags))


def _coalesce(node: Node, args: list[Run]) -> Run:
    value, fallback = args
    if node.args[1].op == "literal":
        return _coalesce_literal(value, node.args[1].value)

    def run(features: FeatureColumns, rows: Rows) -> Column:
        found = value(features, rows)
        if None not in found:
            return found
        missing = [row for row, each in zip(rows, found, strict=True) if each is None]
        instead = iter(fallback(features, missing))
        return [next(instead) if each is None else each for each in found]

    return run


def _coalesce_literal(value: Run, instead: float | bool) -> Run:  # noqa: FBT001  # a value of the language
    return lambda features, rows: [
        instead if each is None else each for each in value(features, rows)
    ]


def _where(_node: Node, args: list[Run]) -> Run:
    condition, chosen, other = args

    def run(features: FeatureColumns, rows: Rows) -> Column:
        flags = condition(features, rows)
        if all(flags):
            return chosen(features, rows)
        if not any(flags):
            return other(features, rows)
        yes = iter(chosen(features, _where_true(rows, flags)))
        no = iter(other(features, _where_true(rows, map(operator.not_, flags))))
        return [next(yes) if flag else next(no) for flag in flags]

    return run


_BUILDERS: dict[str, Callable[[Node, list[Run]], Run]] = {
    "+": _arithmetic(operator.add),
    "-": _arithmetic(operator.sub),
    "*": _arithmetic(operator.mul),
    "/": _division,
    "neg": _elementwise(operator.neg),
    "pos": _elementwise(operator.pos),
    "<": _elementwise(operator.lt),
    "<=": _elementwise(operator.le),
    ">": _elementwise(operator.gt),
    ">=": _elementwise(operator.ge),
    "==": _elementwise(operator.eq),
    "!=": _elementwise(operator.ne),
    "not": _elementwise(operator.not_),
    "abs": _elementwise(abs),
    "min": _lesser,
    "max": _greater,
    "clamp": _clamp,
    "log1p": _function(math.log1p),
    "sqrt": _function(math.sqrt),
    "exp": _function(math.exp),
    "is_missing": _missing,
    "and": _and,
    "or": _or,
    "coalesce": _coalesce,
    "where": _where,
}
