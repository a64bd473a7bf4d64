"""Explanations of the best candidates, read from the one real run: nothing is computed again.

    {candidate_index, final_score, features: {name: value}, filter: node, score: node, truncated?}
    node: {op, value, position, args?, feature?, replaced?, branch?, skipped?, truncated?}

`replaced` says that coalesce used its fallback, `branch` which one where chose, `skipped` that an argument was not run
(it has no value then). The list as compact JSON stays within MAX_EXPLAIN_BYTES: every candidate has an equal share, and
what does not fit loses its deepest arguments first.
"""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from signal_search.errors import Broken

from scoring.expression.executor import Run, Step
from scoring.expression.limits import MAX_DEPTH, MAX_EXPLAIN_BYTES
from scoring.expression.program import Node, Program

Json = dict[str, Any]

_NOTHING_FITS = -1


def explanations(
    program: Program, run: Run, top: int, *, budget_bytes: int = MAX_EXPLAIN_BYTES
) -> tuple[Json, ...]:
    """Explain the first `top` candidates of a run that was traced, best first.

    When not even one level of a candidate fits its share, its explanation is `{"truncated": true}`.
    """
    hits = list(zip(run.scored.order, run.scored.scores, strict=True))[:top]
    if not hits:
        return ()
    share = (budget_bytes - 1 - len(hits)) // len(hits)  # two brackets, and commas between
    trees = _Trees(program, run.steps)
    found: list[Json] = []
    depth = MAX_DEPTH
    for row, score in hits:
        explained = _Hit(trees, row, score)
        depth = _deepest(lambda at, hit=explained: hit.size(at) <= share, depth)  # type: ignore[misc]
        found.append(explained.at(depth))
        depth = max(depth, 0)
    return tuple(found)


def _deepest(fits: Callable[[int], bool], guess: int) -> int:
    """Return the greatest depth that fits. Neighbours are mostly alike: the guess and those beside it come first."""
    low, high, probe = _NOTHING_FITS, MAX_DEPTH, guess
    while low < high:
        if fits(probe):
            low = probe
        else:
            high = probe - 1
        beside = low + 1 if low == guess else high if high == guess - 1 else None
        probe = (low + high + 1) // 2 if beside is None else beside
    return low


class _Hit:
    """One candidate, explained to any depth."""

    def __init__(self, trees: "_Trees", row: int, score: float) -> None:
        self._trees = trees
        self._row = row
        self._score = score
        self._made: dict[int, Json] = {}

    def at(self, depth: int) -> Json:
        if depth == _NOTHING_FITS:
            return {"truncated": True}
        if depth not in self._made:
            self._made[depth] = self._trees.explain(self._row, self._score, depth)
        return self._made[depth]

    def size(self, depth: int) -> int:
        return len(msgspec.json.encode(self.at(depth)))


class _Trees:
    """The nodes of a program with the values of a run."""

    def __init__(self, program: Program, steps: Sequence[Step]) -> None:
        self._program = program
        self._steps = {step.node.index: step for step in steps}
        self._positions: dict[int, Json] = {}

    def explain(self, row: int, score: float, depth: int) -> Json:
        writer = _Writer(self._steps, self._positions, row)
        found: Json = {
            "candidate_index": row,
            "final_score": score,
            "features": {},
            "filter": writer.node(self._program.filter, depth),
            "score": writer.node(self._program.score, depth),
        }
        found["features"] = self._features(writer)
        if writer.is_cut:
            found["truncated"] = True
        return found

    def _features(self, writer: "_Writer") -> Json:
        return {
            step.node.name: writer.value(step.node)
            for step in self._steps.values()
            if step.node.op == "feature" and writer.has_run(step)
        }


class _Writer:
    """Writes nodes for one candidate; `is_cut` says whether arguments were left out."""

    def __init__(self, steps: dict[int, Step], positions: dict[int, Json], row: int) -> None:
        self._steps = steps
        self._positions = positions
        self._row = row
        self._places: dict[
            int, int | None
        ] = {}  # of the row in the rows of a step, by their identity
        self.is_cut = False

    def node(self, node: Node, depth: int) -> Json:
        found = self._head(node)
        found["value"] = self.value(node)
        if not node.args:
            return found
        has_run = _ARGS_THAT_RAN.get(node.op, _all_of)(self, node)
        found |= _remarks(node, has_run)
        if depth == 0:
            self.is_cut = True
            found["truncated"] = True
            return found
        found["args"] = [
            self.node(each, depth - 1) if ran else {**self._head(each), "skipped": True}
            for each, ran in zip(node.args, has_run, strict=True)
        ]
        return found

    def _head(self, node: Node) -> Json:
        position = self._positions.get(node.index)
        if position is None:
            position = self._positions[node.index] = msgspec.to_builtins(node.position)
        found: Json = {"op": node.op, "position": position}
        if node.name:
            found["feature"] = node.name
        return found

    def value(self, node: Node) -> float | bool | None:
        if node.op == "literal":
            return node.value
        step = self._steps[node.index]
        place = self._place(step)
        if place is None:
            raise Broken("An explanation reads what was not run.")
        value: float | bool | None = step.column[place]
        return value

    def has_run(self, step: Step) -> bool:
        return self._place(step) is not None

    def _place(self, step: Step) -> int | None:
        key = id(step.rows)
        if key not in self._places:
            self._places[key] = step.place_of(self._row)
        return self._places[key]


def _all_of(_writer: _Writer, node: Node) -> Sequence[bool]:
    return [True] * len(node.args)


def _until(stop: bool) -> Callable[[_Writer, Node], Sequence[bool]]:  # noqa: FBT001  # the value that decides
    def ran(writer: _Writer, node: Node) -> Sequence[bool]:
        found = [True]
        for each in node.args[:-1]:
            found.append(found[-1] and writer.value(each) is not stop)
        return found

    return ran


def _fallback(writer: _Writer, node: Node) -> Sequence[bool]:
    return (True, writer.value(node.args[0]) is None)


def _branches(writer: _Writer, node: Node) -> Sequence[bool]:
    chosen = bool(writer.value(node.args[0]))
    return (True, chosen, not chosen)


_ARGS_THAT_RAN: dict[str, Callable[[_Writer, Node], Sequence[bool]]] = {
    "and": _until(stop=False),
    "or": _until(stop=True),
    "coalesce": _fallback,
    "where": _branches,
}


def _remarks(node: Node, has_run: Sequence[bool]) -> Json:
    if node.op == "coalesce" and has_run[1]:
        return {"replaced": True}
    if node.op == "where":
        return {"branch": "then" if has_run[1] else "else"}
    return {}
