"""Random programs on random candidates: the columns against the scalar reference, bit for bit.

python -m bench.expression_fuzz [--quick] [--seed N]

Compared are the order, the bits of every score (the sign of zero included) and of a failure the code, the field, the
position and the candidate; every other program keeps its steps and is explained too.
"""

import sys
import time
from collections import Counter
from collections.abc import Callable
from struct import pack
from typing import Any

from signal_search.errors import ProgramError

from bench import report
from bench.random_programs import Programs, Row
from scoring.expression.compiler import compile_program
from scoring.expression.evaluator import Scored, score_each
from scoring.expression.executor import execute
from scoring.expression.explain import explanations
from scoring.expression.program import Program

PROGRAMS = report.size(100_000, 3_000)
SIZES = (3, 7, 20)


class Given:
    """Features as given."""

    def __init__(self, rows: list[Row]) -> None:
        self._rows = rows

    def column(self, name: str, rows: Any) -> list[float | None]:
        return [self._rows[row][name] for row in rows]


def outcome(run: Callable[[], Scored]) -> tuple[Any, ...]:
    try:
        scored = run()
    except ProgramError as error:
        return ("failed", error.code, error.field, error.position, error.candidate_index)
    return ("scored", scored.order, pack(f"{len(scored.scores)}d", *scored.scores))


def by_columns(program: Program, features: Given, count: int, *, traced: bool) -> Scored:
    run = execute(program, features, count, traced=traced)
    if traced:
        for each in explanations(program, run, 3):
            at = run.scored.order.index(each["candidate_index"])
            if each["score"]["value"] != run.scored.scores[at]:
                return Scored(order=(), scores=())  # a difference
    return run.scored


def compare(seed: int, number: int, counts: Counter[str]) -> None:
    programs = Programs(seed * 1_000_003 + number)
    source = programs.program()
    try:
        program = compile_program(source)
    except ProgramError as error:
        counts[f"refused: {error.code}"] += 1
        return
    count = SIZES[number % len(SIZES)]
    features = Given(programs.rows(count))
    expected = outcome(lambda: score_each(program, features, count))
    found = outcome(lambda: by_columns(program, features, count, traced=number % 2 == 0))
    counts[expected[0] if expected[0] == "scored" else expected[1]] += 1
    counts["rows"] += count
    if found != expected:
        counts["differences"] += 1
        report.tell(
            "difference", {"filter": source.filter, "score": source.score, "number": number}
        )


def main() -> None:
    seed = int(sys.argv[sys.argv.index("--seed") + 1]) if "--seed" in sys.argv else 1
    counts: Counter[str] = Counter(differences=0)
    began = time.monotonic()
    number = compiled = 0
    while compiled < PROGRAMS:
        compare(seed, number, counts)
        number += 1
        compiled = number - sum(n for name, n in counts.items() if name.startswith("refused"))
    scored = counts["scored"]
    report.require(scored > compiled / 4, "too few programs come to an end")
    report.require(compiled - scored > compiled / 20, "too few programs fail")
    made = report.row(
        "random programs where columns and reference differ",
        counts["differences"],
        n=compiled,
        bar="<= 0",
    )
    figures = {
        "seed": seed,
        "programs": compiled,
        "seconds": round(time.monotonic() - began),
        **counts,
    }
    report.finish([made], figures)


if __name__ == "__main__":
    main()
