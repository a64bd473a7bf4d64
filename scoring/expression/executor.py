"""Running a program on a set of candidates, and keeping what an explanation needs of the one real run."""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import compress

from msgspec import Struct
from signal_search.errors import Broken

from scoring.expression.columns import Column, Rows, plan
from scoring.expression.evaluator import Fault, FeatureColumns, Scored, score_each
from scoring.expression.program import Node, Program

# Up to this many candidates building columns costs more than they save.
_TINY = 2


class Step(Struct, frozen=True):
    """A node's values, and for which candidates they were computed."""

    node: Node
    rows: Rows
    column: Column

    def place_of(self, row: int) -> int | None:
        """Return where a candidate stands in the column; None when the node was not run for it."""
        at = bisect_left(self.rows, row)
        return at if at < len(self.rows) and self.rows[at] == row else None


class Run(Struct, frozen=True, kw_only=True):
    """What came out, and the steps that led to it when they were to be kept (bounded: nodes times candidates)."""

    scored: Scored
    steps: tuple[Step, ...] = ()


def execute(program: Program, features: FeatureColumns, count: int, *, traced: bool = False) -> Run:
    """Run a program on candidates 0 to `count`; the result is that of the scalar reference, bit for bit.

    Raises:
        ProgramError: as `score_each` does.
    """
    if count <= _TINY and not traced:
        return Run(scored=score_each(program, features, count))
    steps: list[Step] = []
    try:
        scored = _by_columns(program, features, range(count), steps if traced else None)
    except Fault:
        score_each(program, features, count)
        raise Broken("A program failed in columns and not by itself.") from None
    return Run(scored=scored, steps=tuple(steps))


def _by_columns(
    program: Program, features: FeatureColumns, rows: Sequence[int], steps: list[Step] | None
) -> Scored:
    def record(node: Node, at: Rows, column: Column) -> None:
        if steps is not None:
            steps.append(Step(node, at, column))

    told = None if steps is None else record
    passed = plan(program.filter, told)(features, rows)
    kept = rows if all(passed) else list(compress(rows, passed))
    scores = plan(program.score, told)(features, kept)
    order = sorted(range(len(kept)), key=scores.__getitem__, reverse=True)
    return Scored(
        order=tuple([kept[at] for at in order]), scores=tuple([scores[at] for at in order])
    )
