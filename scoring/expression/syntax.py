"""The tree that a text is, before names and types mean anything, counted as the limits count.

Counts are those of Python's syntax tree, which the scorer guide's wording describes: operators and the context of a
name are nodes of their own, and/or in a row are one node.
"""

from enum import StrEnum

from msgspec import Struct


class SyntaxKind(StrEnum):
    """What stands there."""

    NUMBER = "number"
    TRUTH = "truth"
    NAME = "name"
    UNARY = "unary"
    BINARY = "binary"
    COMPARISON = "comparison"
    LOGIC = "logic"
    CALL = "call"


# What each kind adds: to the nodes its own, to the depth the longest way down beside its operands.
_OWN_NODES = {SyntaxKind.NUMBER: 1, SyntaxKind.CALL: 3}
_OWN_DEPTH = {SyntaxKind.NUMBER: 0, SyntaxKind.CALL: 2}
_USUAL_NODES = 2
_USUAL_DEPTH = 1
ROOT = 1


class Syntax(Struct, frozen=True, kw_only=True):
    """A part of an expression: the characters [start, end). `word` is an operator, a name or a spelling."""

    kind: SyntaxKind
    word: str
    start: int
    end: int
    nodes: int
    depth: int
    args: "tuple[Syntax, ...]" = ()
    value: float = 0.0


def counted(
    kind: SyntaxKind, word: str, span: tuple[int, int], *args: Syntax, value: float = 0.0
) -> Syntax:
    """Return a part with its counts; the root of the expression is not in them."""
    deepest = max((each.depth for each in args), default=0)
    return Syntax(
        kind=kind,
        word=word,
        start=span[0],
        end=span[1],
        nodes=_OWN_NODES.get(kind, _USUAL_NODES) + sum(each.nodes for each in args),
        depth=1 + max(_OWN_DEPTH.get(kind, _USUAL_DEPTH), deepest),
        args=args,
        value=value,
    )
