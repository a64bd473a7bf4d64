"""Columns where one operand is a literal: half the time of a column that repeats it, and most operands are."""

from collections.abc import Callable, Sequence
from typing import Any

Apply = Callable[[Sequence[Any], Any], list[Any]]

# The literal stands on the right.
RIGHT: dict[str, Apply] = {
    "+": lambda column, value: [each + value for each in column],
    "-": lambda column, value: [each - value for each in column],
    "*": lambda column, value: [each * value for each in column],
    "/": lambda column, value: [each / value for each in column],
    "<": lambda column, value: [each < value for each in column],
    "<=": lambda column, value: [each <= value for each in column],
    ">": lambda column, value: [each > value for each in column],
    ">=": lambda column, value: [each >= value for each in column],
    "==": lambda column, value: [each == value for each in column],
    "!=": lambda column, value: [each != value for each in column],
}
# The literal stands on the left. Sums and products of two numbers are the same bits either way.
LEFT: dict[str, Apply] = {
    "+": RIGHT["+"],
    "-": lambda column, value: [value - each for each in column],
    "*": RIGHT["*"],
    "/": lambda column, value: [value / each for each in column],
    "<": RIGHT[">"],
    "<=": RIGHT[">="],
    ">": RIGHT["<"],
    ">=": RIGHT["<="],
    "==": RIGHT["=="],
    "!=": RIGHT["!="],
}
