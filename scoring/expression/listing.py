"""A program for a reader: its plan as lines, or its text with the wrong part marked."""

from collections.abc import Iterator
from typing import Any
from unicodedata import east_asian_width

from signal_search.contracts.scorer import ScorerProgram
from signal_search.errors import Position, ProgramError

from scoring.expression.program import Node, Program
from scoring.expression.spans import SPACE, Expression, trimmed

_INDENT = "  "
_WIDE = {"F", "W"}
_FIELDS = {Expression.of_filter, Expression.of_score}


def described(program: Program) -> dict[str, Any]:
    """Return what there is to know of a program: hash, version, counts, and its plan as lines."""
    return {
        "hash": program.hash,
        "feature_version": program.feature_version,
        "nodes": program.nodes,
        "depth": program.depth,
        "filter": program.normal.filter,
        "score": program.normal.score,
        "plan": plan_lines(program),
    }


def marked_error(source: ScorerProgram, error: ProgramError) -> str:
    """Return an error in three lines: code and message with the place, the text, the mark below it."""
    place = error.position
    if not isinstance(place, Position) or error.field not in _FIELDS:
        return f"{error.code}: {error.message}"
    text = source.filter if error.field == Expression.of_filter else source.score
    where = f"{error.field}, line {place.line}, column {place.column}"
    return f"{error.code}: {error.message} ({where})\n{marked(error.field, text, place)}"


def plan_lines(program: Program) -> list[str]:
    """Return both trees, a node a line, arguments below and further in."""
    trees = ((Expression.of_filter, program.filter), (Expression.of_score, program.score))
    return [line for field, tree in trees for line in (field, *_lines(tree, 1))]


def _lines(node: Node, depth: int) -> Iterator[str]:
    yield f"{_INDENT * depth}{_shown(node)}"
    for each in node.args:
        yield from _lines(each, depth + 1)


def _shown(node: Node) -> str:
    if node.op == "feature":
        return node.name
    if node.op != "literal":
        return node.op
    return str(node.value).lower() if isinstance(node.value, bool) else repr(node.value)


def marked(field: str, text: str, position: Position) -> str:
    """Return the line of an expression where a position begins, with carets below its characters.

    A character that a terminal shows twice as wide has two; what it cannot show is a question mark.
    """
    lines = trimmed(field, text).text.split("\n")
    line = "".join(_visible(each) for each in lines[position.line - 1])
    ends_here = position.end_line == position.line
    end = position.end_column if ends_here else len(line) + 1
    before = _width(line[: position.column - 1])
    under = _width(line[position.column - 1 : end - 1])
    return f"{line}\n{' ' * before}{'^' * max(under, 1)}"


def _visible(character: str) -> str:
    if character in SPACE:
        return " "
    return character if character.isprintable() else "?"


def _width(text: str) -> int:
    return sum(2 if east_asian_width(each) in _WIDE else 1 for each in text)
