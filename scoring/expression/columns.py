"""Nodes to functions over columns: each is run once for all candidates that reach it, not once for each.

A column is a list of values, parallel to the ascending indexes of the candidates that need it. What the language skips
for a candidate is not in the columns below. A column with a fault says only that there is one: the scalar reference
finds the first candidate that has it. Functions of `math` alone, since vectorised ones differ in the last bit.
"""

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import compress, repeat
from typing import Any

from scoring.expression.evaluator import Fault, FeatureColumns
from scoring.expression.literals import LEFT, RIGHT
from scoring.expression.program import Node

Rows = Sequence[int]
Column = list[Any]
Run = Callable[[FeatureColumns, Rows], Column]
Record = Callable[[Node, Rows, Column], None]
Builder = Callable[[Node, list[Run]], Run]


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


def _finite(column: Column) -> Column:
    # An infinity or NaN anywhere makes the sum one; a finite sum proves all finite. Only a sum that overflows by itself
    # needs the slow check.
    if not math.isfinite(sum(column)) and not all(map(math.isfinite, column)):
        raise Fault("non_finite")
    return column


# --- operations that need every argument ------------------------------------------------------------------------------


Check = Callable[[Column], Column]


def _binary(apply: Callable[[Any, Any], Any], check: Check | None = None) -> Builder:
    """Return a builder for an operation of two arguments; `check` raises for values that may not come out."""

    def build(node: Node, args: list[Run]) -> Run:
        run = _with_literal(node, args) or _of_two(apply, args)
        if check is None:
            return run
        checked = check
        return lambda features, rows: checked(run(features, rows))

    return build


def _of_two(apply: Callable[[Any, Any], Any], args: list[Run]) -> Run:
    left, right = args
    return lambda features, rows: list(map(apply, left(features, rows), right(features, rows)))


def _with_literal(node: Node, args: list[Run]) -> Run | None:
    left, right = node.args
    if right.op == "literal":
        by, run, value = RIGHT[node.op], args[0], right.value
    elif left.op == "literal":
        by, run, value = LEFT[node.op], args[1], left.value
    else:
        return None
    return lambda features, rows: by(run(features, rows), value)


def _division(node: Node, args: list[Run]) -> Run:
    divide = _binary(operator.truediv)(node, args)

    def run(features: FeatureColumns, rows: Rows) -> Column:
        try:
            return _finite(divide(features, rows))
        except ZeroDivisionError:
            raise Fault("division_by_zero") from None

    return run


def _negation(_node: Node, args: list[Run]) -> Run:
    (only,) = args
    return lambda features, rows: [-each for each in only(features, rows)]


def _elementwise(apply: Callable[[Any], Any]) -> Builder:
    """Return a builder for an operation of one argument that cannot fail."""

    def build(_node: Node, args: list[Run]) -> Run:
        (only,) = args
        return lambda features, rows: list(map(apply, only(features, rows)))

    return build


def _function(apply: Callable[[float], float]) -> Builder:
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
            if all(found):
                found = each(features, rows)
            elif open_rows := _where_true(rows, found):
                later = iter(each(features, open_rows))
                found = [value and next(later) for value in found]
        return found

    return run


def _or(_node: Node, args: list[Run]) -> Run:
    first, *others = args

    def run(features: FeatureColumns, rows: Rows) -> Column:
        found = first(features, rows)
        for each in others:
            if not any(found):
                found = each(features, rows)
            elif open_rows := _where_true(rows, map(operator.not_, found)):
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


def _where(node: Node, args: list[Run]) -> Run:
    condition = args[0]
    chosen, other = _branch(node.args[1], args[1]), _branch(node.args[2], args[2])

    def run(features: FeatureColumns, rows: Rows) -> Column:
        flags = condition(features, rows)
        yes = chosen(features, rows, flags)
        no = other(features, rows, map(operator.not_, flags))
        return [next(yes) if flag else next(no) for flag in flags]

    return run


Branch = Callable[[FeatureColumns, Rows, Iterable[bool]], Iterator[Any]]


def _branch(node: Node, run: Run) -> Branch:
    """Return a function that gives a branch's values for the flagged rows, one after the other."""
    if node.op == "literal":
        return lambda _features, _rows, _flags: repeat(node.value)

    def values(features: FeatureColumns, rows: Rows, flags: Iterable[bool]) -> Iterator[Any]:
        flagged = _where_true(rows, flags)
        if not flagged:
            return iter(())
        return iter(run(features, rows if len(flagged) == len(rows) else flagged))

    return values


_BUILDERS: dict[str, Builder] = {
    "+": _binary(operator.add, _finite),
    "-": _binary(operator.sub, _finite),
    "*": _binary(operator.mul, _finite),
    "/": _division,
    "neg": _negation,
    "pos": lambda _node, args: args[0],  # nobody changes a column: it may be two nodes'
    "<": _binary(operator.lt),
    "<=": _binary(operator.le),
    ">": _binary(operator.gt),
    ">=": _binary(operator.ge),
    "==": _binary(operator.eq),
    "!=": _binary(operator.ne),
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
