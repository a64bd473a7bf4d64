"""A tree of words to typed nodes: every name is known, every operand of its type, and null only where it is handled.

Nothing is inferred from conditions: a value that a filter found present is still nullable in the score.
"""

from collections.abc import Sequence

from msgspec import Struct

from scoring.expression.functions import FUNCTIONS, Mismatch, expect_boolean, expect_number
from scoring.expression.program import Node
from scoring.expression.spans import Expression
from scoring.expression.syntax import Syntax, SyntaxKind
from scoring.expression.types import BOOLEAN, NUMBER, Type
from scoring.expression.variables import FEATURES

_SIGNS = {"-": "neg", "+": "pos"}


class Typed(Struct, frozen=True):
    """A node and the type of its value."""

    node: Node
    type: Type


class Checker:
    """Checks the expressions of one program; the indexes of its nodes go through both."""

    def __init__(self) -> None:
        """Start at index 0."""
        self._made = 0

    def filter(self, expression: Expression, tree: Syntax) -> Node:
        """Return the nodes of a filter.

        Raises:
            ProgramError: unknown_name, unknown_function, arity, type, filter_type.
        """
        found = self._check(expression, tree)
        if found.type != BOOLEAN:
            message = "The filter must be a boolean"
            raise expression.error("filter_type", message, tree.start, tree.end)
        return found.node

    def score(self, expression: Expression, tree: Syntax) -> Node:
        """Return the nodes of a score.

        Raises:
            ProgramError: unknown_name, unknown_function, arity, type, score_type.
        """
        found = self._check(expression, tree)
        if found.type != NUMBER:
            message = "The score must be a number that is never null"
            raise expression.error("score_type", message, tree.start, tree.end)
        return found.node

    def _check(self, expression: Expression, tree: Syntax) -> Typed:
        match tree.kind:
            case SyntaxKind.NUMBER:
                return self._node(expression, tree, "literal", NUMBER, value=tree.value)
            case SyntaxKind.TRUTH:
                return self._node(expression, tree, "literal", BOOLEAN, value=tree.word == "true")
            case SyntaxKind.NAME:
                return self._feature(expression, tree)
            case SyntaxKind.CALL:
                return self._call(expression, tree)
            case _:
                return self._operator(expression, tree)

    def _feature(self, expression: Expression, tree: Syntax) -> Typed:
        feature = FEATURES.get(tree.word)
        if feature is None:
            message = "There is no feature of this name"
            raise expression.error("unknown_name", message, tree.start, tree.end)
        return self._node(expression, tree, "feature", feature.type, name=tree.word)

    def _call(self, expression: Expression, tree: Syntax) -> Typed:
        function = FUNCTIONS.get(tree.word)
        if function is None:
            message = "There is no function of this name"
            end = tree.start + len(tree.word)
            raise expression.error("unknown_function", message, tree.start, end)
        if len(tree.args) != len(function.args):
            message = f"Expected {len(function.args)} arguments"
            raise expression.error("arity", message, tree.start, tree.end)
        args = [self._check(expression, each) for each in tree.args]
        try:
            result = function.typed([each.type for each in args])
        except Mismatch as wrong:
            raise _type_error(expression, tree.args[wrong.argument], wrong) from None
        return self._node(expression, tree, tree.word, result, args)

    def _operator(self, expression: Expression, tree: Syntax) -> Typed:
        operands = _in_a_row(tree)
        args = [self._check(expression, each) for each in operands]
        types = [each.type for each in args]
        try:
            result = _result_of(tree, types)
        except Mismatch as wrong:
            raise _type_error(expression, operands[wrong.argument], wrong) from None
        op = _SIGNS.get(tree.word, tree.word) if tree.kind is SyntaxKind.UNARY else tree.word
        return self._node(expression, tree, op, result, args)

    def _node(  # noqa: PLR0913  # the parts of a node
        self,
        expression: Expression,
        tree: Syntax,
        op: str,
        kind: Type,
        args: Sequence[Typed] = (),
        *,
        value: float | bool = 0.0,
        name: str = "",
    ) -> Typed:
        node = Node(
            op=op,
            index=self._made,
            position=expression.position(tree.start, tree.end),
            args=tuple(each.node for each in args),
            value=value,
            name=name,
        )
        self._made += 1
        return Typed(node, kind)


def _type_error(expression: Expression, at: Syntax, wrong: Mismatch) -> Exception:
    return expression.error("type", wrong.message, at.start, at.end)


def _in_a_row(tree: Syntax) -> tuple[Syntax, ...]:
    """Return the operands; `(a and b) and c` is `a and b and c`, since that is how it is read anyway."""
    first = tree.args[0]
    if tree.kind is SyntaxKind.LOGIC and (first.kind, first.word) == (tree.kind, tree.word):
        return (*_in_a_row(first), *tree.args[1:])
    return tree.args


def _result_of(tree: Syntax, types: Sequence[Type]) -> Type:
    if tree.kind is SyntaxKind.LOGIC or tree.word == "not":
        return expect_boolean(types)
    if tree.kind is not SyntaxKind.COMPARISON:
        return expect_number(types)
    if tree.word in {"==", "!="} and not types[0].is_number:
        return _expect_second_boolean(types)
    expect_number(types)
    return BOOLEAN


def _expect_second_boolean(types: Sequence[Type]) -> Type:
    if types[1].is_number:
        raise Mismatch(1, "A boolean is compared with a boolean only")
    return BOOLEAN
