"""Running a program on a set of candidates, and keeping what an explanation needs of the one real run."""

from bisect import bisect_left
from itertools import compress

from msgspec import Struct
from signal_search.errors import Broken

from scoring.expression.columns import Column, Rows, plan
from scoring.expression.evaluator import Fault, FeatureColumns, Scored, score_each
from scoring.expression.limits import MAX_CANDIDATES
from scoring.expression.program import Node, Program

# Up to this many candidates building columns costs more than they save.
_TINY = 2


# All indexes there may be, made once: making a thousand numbers takes as long as adding them.
_ROWS = tuple(range(MAX_CANDIDATES))


def _rows(count: int) -> Rows:
    return _ROWS[:count] if count <= MAX_CANDIDATES else range(count)


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


class Executor:
    """A program made ready to run; as often as there are sets of candidates."""

    def __init__(self, program: Program, *, traced: bool = False) -> None:
        """Build the columns' functions. `traced` keeps the steps of a run, for explanations."""
        self._program = program
        self._steps: list[Step] | None = [] if traced else None
        record = None if self._steps is None else self._record
        self._filter = plan(program.filter, record)
        self._score = plan(program.score, record)

    def run(self, features: FeatureColumns, count: int) -> Run:
        """Run on candidates 0 to `count`; the result is that of the scalar reference, bit for bit.

        Raises:
            ProgramError: as `score_each` does.
        """
        if count <= _TINY and self._steps is None:
            return Run(scored=score_each(self._program, features, count))
        if self._steps is not None:
            self._steps.clear()
        try:
            scored = self._by_columns(features, _rows(count))
        except Fault:
            score_each(self._program, features, count)
            raise Broken("A program failed in columns and not by itself.") from None
        return Run(scored=scored, steps=tuple(self._steps or ()))

    def _record(self, node: Node, rows: Rows, column: Column) -> None:
        if self._steps is not None:
            self._steps.append(Step(node, rows, column))

    def _by_columns(self, features: FeatureColumns, rows: Rows) -> Scored:
        passed = self._filter(features, rows)
        kept = rows if all(passed) else list(compress(rows, passed))
        scores = self._score(features, kept)
        order = sorted(range(len(kept)), key=scores.__getitem__, reverse=True)
        return Scored(
            order=tuple([kept[at] for at in order]), scores=tuple([scores[at] for at in order])
        )


def execute(program: Program, features: FeatureColumns, count: int, *, traced: bool = False) -> Run:
    """Run a program once; see Executor."""
    return Executor(program, traced=traced).run(features, count)
