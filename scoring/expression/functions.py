"""The functions: how many arguments, of which types, and what they give. What they compute is the executors' part."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from scoring.expression.types import BOOLEAN, NUMBER, Type


class Mismatch(Exception):  # control flow: the checker knows the place and makes the error
    """An argument has the wrong type."""

    def __init__(self, argument: int, message: str) -> None:
        """Remember which, from 0, and what was expected."""
        super().__init__(message)
        self.argument = argument
        self.message = message


class Function(Struct, frozen=True, kw_only=True):
    """A function. `domain` says for which values it fails; `typed` gives the result's type or raises Mismatch."""

    args: tuple[str, ...]
    returns: str
    domain: str
    typed: Callable[[Sequence[Type]], Type]


def expect_number(types: Sequence[Type]) -> Type:
    """Require numbers that cannot be missing, and give one."""
    for argument, each in enumerate(types):
        if not each.is_number:
            raise Mismatch(argument, "Expected a number")
        if each.is_nullable:
            raise Mismatch(argument, "Expected a number that is never null: use coalesce")
    return NUMBER


def expect_boolean(types: Sequence[Type]) -> Type:
    """Require booleans, and give one."""
    for argument, each in enumerate(types):
        if each.is_number:
            raise Mismatch(argument, "Expected a boolean")
    return BOOLEAN


def _coalesce(types: Sequence[Type]) -> Type:
    value, fallback = types
    if value.is_number is not fallback.is_number:
        raise Mismatch(1, "The fallback must be of the type of the value")
    if fallback.is_nullable:
        raise Mismatch(1, "The fallback must never be null")
    return fallback


def _where(types: Sequence[Type]) -> Type:
    condition, chosen, other = types
    expect_boolean([condition])
    if chosen.is_number is not other.is_number:
        raise Mismatch(2, "Both branches must be of one type")
    return Type(chosen.is_number, chosen.is_nullable or other.is_nullable)


def _numeric(*args: str, domain: str = "all numbers") -> Function:
    return Function(args=args, returns="number", domain=domain, typed=expect_number)


FUNCTIONS: dict[str, Function] = {
    "min": _numeric("a", "b"),
    "max": _numeric("a", "b"),
    "abs": _numeric("x"),
    "clamp": _numeric("x", "lo", "hi", domain="lo <= hi"),
    "log1p": _numeric("x", domain="x > -1"),
    "sqrt": _numeric("x", domain="x >= 0"),
    "exp": _numeric("x", domain="the result must be finite"),
    "coalesce": Function(
        args=("x", "fallback"),
        returns="the type of fallback",
        domain="x of the type of fallback, or null; fallback is never null and runs only when x is",
        typed=_coalesce,
    ),
    "is_missing": Function(
        args=("x",), returns="boolean", domain="any value", typed=lambda _types: BOOLEAN
    ),
    "where": Function(
        args=("condition", "a", "b"),
        returns="the type of the branches; null is possible when it is in one of them",
        domain="condition is a boolean, both branches are of one type; only the chosen one runs",
        typed=_where,
    ),
}
