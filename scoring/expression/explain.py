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


def explanations(
    program: Program, run: Run, top: int, *, budget_bytes: int = MAX_EXPLAIN_BYTES
) -> tuple[Json, ...]:
    """Explain the first `top` candidates of a run that was traced, best first.

    When not even the roots of a candidate fit its share, its explanation is `{"truncated": true}`.
    """
    hits = list(zip(run.scored.order, run.scored.scores, strict=True))[:top]
    if not hits:
        return ()
    share = (budget_bytes - 1 - len(hits)) // len(hits)  # two brackets, and commas between
    values = _Values(program, run.steps)
    found: list[Json] = []
    depth = MAX_DEPTH
    for row, score in hits:
        explained, depth = _fitted(values, (row, score), share, depth)
        found.append(explained)
    return tuple(found)


def _fitted(values: "_Values", hit: tuple[int, float], share: int, guess: int) -> tuple[Json, int]:
    """Return an explanation to the greatest depth that fits, and that depth.

    Neighbours are mostly alike, so one level more than the last one had is written first, and cut.
    """
    depth = min(guess + 1, MAX_DEPTH)
    explained = _Explained(values, hit, depth)
    if explained.is_cut and explained.size <= share:
        depth = MAX_DEPTH
        explained = _Explained(values, hit, depth)
    while explained.size > share:
        depth -= 1
        if depth < 0:
            return {"truncated": True}, 0
        explained.cut(depth)
    return explained.json, depth


class _Values:
    """The nodes of a program and the values of a run."""

    def __init__(self, program: Program, steps: Sequence[Step]) -> None:
        self.program = program
        self.steps = {step.node.index: step for step in steps}
        self.features = [step for step in steps if step.node.op == "feature"]
        self._heads: dict[int, Json] = {}

    def head(self, node: Node) -> Json:
        """Return what is the same for all candidates, as a new dictionary."""
        known = self._heads.get(node.index)
        if known is None:
            at = node.position
            known = self._heads[node.index] = {
                "op": node.op,
                "position": {
                    "line": at.line,
                    "column": at.column,
                    "end_line": at.end_line,
                    "end_column": at.end_column,
                },
            }
            if node.name:
                known["feature"] = node.name
        return known.copy()


class _Explained:
    """The explanation of one candidate to a depth, which can be cut further."""

    def __init__(self, values: _Values, hit: tuple[int, float], depth: int) -> None:
        self._values = values
        self._row = hit[0]
        self._places: dict[
            int, int | None
        ] = {}  # of the row in the rows of a step, by their identity
        self._levels: list[list[Json]] = [
            [] for _ in range(depth + 1)
        ]  # nodes with arguments, by depth
        self.is_cut = False
        program = values.program
        self.json: Json = {
            "candidate_index": self._row,
            "final_score": hit[1],
            "features": self._features(),
            "filter": self._node(program.filter, 0),
            "score": self._node(program.score, 0),
        }
        self.cut(depth)

    @property
    def size(self) -> int:
        return len(msgspec.json.encode(self.json))

    def cut(self, depth: int) -> None:
        """Leave out the arguments of all nodes at a depth."""
        for node in self._levels[depth]:
            node.pop("args", None)
            node["truncated"] = True
            self.is_cut = True
        if self.is_cut:
            self.json["truncated"] = True

    def _features(self) -> Json:
        return {
            step.node.name: step.column[place]
            for step in self._values.features
            if (place := self._place(step)) is not None
        }

    def _node(self, node: Node, level: int) -> Json:
        found = self._values.head(node)
        found["value"] = self.value(node)
        if not node.args:
            return found
        self._levels[level].append(found)
        goes_on = level + 1 < len(self._levels)
        choice = _ARGS_THAT_RAN.get(node.op)
        if choice is None:
            if goes_on:
                found["args"] = [self._node(each, level + 1) for each in node.args]
            return found
        has_run = choice(self, node)
        found |= _remarks(node, has_run)
        if goes_on:
            found["args"] = [
                self._node(each, level + 1) if ran else self._skipped(each)
                for each, ran in zip(node.args, has_run, strict=True)
            ]
        return found

    def _skipped(self, node: Node) -> Json:
        return {**self._values.head(node), "skipped": True}

    def value(self, node: Node) -> float | bool | None:
        """Return the value a node had for the candidate."""
        if node.op == "literal":
            return node.value
        step = self._values.steps[node.index]
        place = self._place(step)
        if place is None:
            raise Broken("An explanation reads what was not run.")
        value: float | bool | None = step.column[place]
        return value

    def _place(self, step: Step) -> int | None:
        key = id(step.rows)
        if key not in self._places:
            self._places[key] = step.place_of(self._row)
        return self._places[key]


def _until(stop: bool) -> Callable[[_Explained, Node], Sequence[bool]]:  # noqa: FBT001  # the value that decides
    def ran(explained: _Explained, node: Node) -> Sequence[bool]:
        found = [True]
        for each in node.args[:-1]:
            found.append(found[-1] and explained.value(each) is not stop)
        return found

    return ran


def _fallback(explained: _Explained, node: Node) -> Sequence[bool]:
    return (True, explained.value(node.args[0]) is None)


def _branches(explained: _Explained, node: Node) -> Sequence[bool]:
    chosen = bool(explained.value(node.args[0]))
    return (True, chosen, not chosen)


_ARGS_THAT_RAN: dict[str, Callable[[_Explained, Node], Sequence[bool]]] = {
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
