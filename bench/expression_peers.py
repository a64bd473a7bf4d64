"""The peers of the scoring language, in a process and environment of their own: `python -m bench.expression_peers N`.

Each is given the candidates as Python values, parses the program once, and filters, scores and sorts. Prints one JSON
document: for each peer and program the processor time of the best run and the order that came out.
"""

import json
import math
import re
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import cel
import celpy
import simpleeval
from celpy import celtypes

from bench.expression_programs import CLASSIC, MAXIMAL, Row, rows

Run = Callable[[list[Row]], list[int]]

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "exp": math.exp,
    "log1p": math.log1p,
    "sqrt": math.sqrt,
    "max": max,
    "coalesce": lambda value, fallback: fallback if value is None else value,
    "where": lambda condition, a, b: a if condition else b,
    "is_missing": lambda value: value is None,
}


def by_simpleeval(condition: str, score: str) -> Run:
    evaluator = simpleeval.SimpleEval(functions=_FUNCTIONS)
    trees = [(text, evaluator.parse(text)) for text in (condition, score)]

    def evaluated(row: Row, at: int) -> Any:
        evaluator.names = row
        text, tree = trees[at]
        return evaluator.eval(text, previously_parsed=tree)

    return _each(lambda row: evaluated(row, 0), lambda row: evaluated(row, 1))


def by_cel_binding(condition: str, score: str) -> Run:
    programs = [cel.compile(in_cel(text)) for text in (condition, score)]
    context = cel.Context(functions=_FUNCTIONS)

    def evaluated(row: Row, at: int) -> Any:
        context.update(row)
        return programs[at].execute(context)

    return _each(lambda row: evaluated(row, 0), lambda row: evaluated(row, 1))


def by_cel_python(condition: str, score: str) -> Run:
    environment = celpy.Environment()
    functions = {name: _wrapped(function) for name, function in _FUNCTIONS.items()}
    programs = [
        environment.program(environment.compile(in_cel(text)), functions=functions)
        for text in (condition, score)
    ]

    def evaluated(row: Row, at: int) -> Any:
        known = {
            name: None if value is None else celtypes.DoubleType(value)
            for name, value in row.items()
        }
        return programs[at].evaluate(known)

    return _each(lambda row: bool(evaluated(row, 0)), lambda row: float(evaluated(row, 1)))


def _wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any) -> Any:
        found = function(*args)
        return celtypes.BoolType(found) if isinstance(found, bool) else celtypes.DoubleType(found)

    return call


def in_cel(text: str) -> str:
    """Return a program in CEL's spelling: numbers as doubles, signs for the words, no unary plus."""
    text = re.sub(r"(?<![\w.])(\d+)(?![\w.])", r"\1.0", text.removeprefix("+"))
    return text.replace(" and ", " && ").replace("not ", "!")


def _each(passes: Callable[[Row], Any], score: Callable[[Row], Any]) -> Run:
    def run(given: list[Row]) -> list[int]:
        kept = [(score(row), at) for at, row in enumerate(given) if passes(row)]
        kept.sort(key=lambda each: each[0], reverse=True)
        return [at for _score, at in kept]

    return run


PEERS = {
    "simpleeval": by_simpleeval,
    "common-expression-language": by_cel_binding,
    "cel-python": by_cel_python,
}
ROUNDS = 3


def timed(run: Run, given: list[Row]) -> dict[str, Any]:
    best, order = math.inf, []
    for _ in range(ROUNDS):
        began = time.process_time()
        order = run(given)
        best = min(best, time.process_time() - began)
    return {"seconds": best, "order": order}


def main() -> None:
    given = rows(int(sys.argv[1]))
    found = {
        name: {
            "version": version(name),
            "classic": timed(make(*CLASSIC), given),
            "maximal": timed(make(*MAXIMAL), given),
        }
        for name, make in PEERS.items()
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
