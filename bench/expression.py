"""The scoring language against the same logic by hand and against other languages, and the fixed formula.

python -m bench.expression [--quick]

Processor time, the best of several rounds in turns. The peers run in an environment of their own, made and removed
here; where one cannot be had its rows say so.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from signal_search.contracts.scorer import LANGUAGE, ScorerProgram

from bench import report
from bench.expression_programs import CLASSIC, MAXIMAL, Row, classic_by_hand, maximal_by_hand, rows
from bench.peers import peers
from bench.plain_ranker import plain_order, some_papers
from scoring.academic import rank
from scoring.candidates import Candidate, merge
from scoring.expression.compiler import compile_program
from scoring.expression.evaluator import Scored, score_each
from scoring.expression.executor import Executor
from scoring.expression.explain import explanations

COUNT = 1_000
EXPLAINED = 10
ROUNDS = report.size(30, 8)
PEER_BARS = {"simpleeval": ">= 8", "common-expression-language": ">= 15", "cel-python": ">= 500"}
QUERY = '"surface code" threshold'
LONG_QUERY = '"surface code" threshold of logical qubits'
YEAR = 2026


class Columns:
    """Features as given, each column taken from the rows once: what the product's own features do."""

    def __init__(self, given: Sequence[Row]) -> None:
        # A row is a dictionary: its features are asked for by name.
        self._given = cast("Sequence[Mapping[str, float | None]]", given)
        self._known: dict[str, list[float | None]] = {}

    def column(self, name: str, wanted: Sequence[int]) -> list[float | None]:
        known = self._known.get(name)
        if known is None:
            if len(wanted) < len(self._given):
                return [self._given[row][name] for row in wanted]
            known = self._known[name] = [row[name] for row in self._given]
        return known if len(wanted) == len(known) else [known[row] for row in wanted]


def best_of(*calls: Callable[[], object], rounds: int = ROUNDS) -> list[float]:
    """Return the least seconds of each call; they take turns."""
    found = [math.inf] * len(calls)
    for _ in range(rounds):
        for at, call in enumerate(calls):
            began = time.process_time()
            call()
            found[at] = min(found[at], time.process_time() - began)
    return found


def timed(name: str, texts: tuple[str, str], by_hand: Callable[[list[Row]], Any]) -> dict[str, Any]:
    """Time one program: compiled, by hand, by columns, explained, by the scalar reference."""
    given = rows(COUNT)
    source = ScorerProgram(language=LANGUAGE, filter=texts[0], score=texts[1])
    program = compile_program(source)
    plain, traced = Executor(program), Executor(program, traced=True)

    def explained() -> object:
        return explanations(program, traced.run(Columns(given), COUNT), EXPLAINED)

    scored = plain.run(Columns(given), COUNT).scored
    report.require(by_hand(given) == (scored.order, scored.scores), f"{name} by hand is another")
    report.require(_same(program, given, scored), f"{name} differs from the reference")
    hand, columns, told = best_of(
        lambda: by_hand(given), lambda: plain.run(Columns(given), COUNT), explained
    )
    made, ready, scalar = best_of(
        lambda: compile_program(source),
        lambda: Executor(program),
        lambda: score_each(program, Columns(given), COUNT),
        rounds=3,
    )
    return {
        "nodes": program.nodes,
        "depth": program.depth,
        "order": list(scored.order),
        "by_hand": hand,
        "columns": columns,
        "explained": told,
        "compile": made + ready,
        "scalar": scalar,
    }


def _same(program: Any, given: list[Row], scored: Scored) -> bool:
    return score_each(program, Columns(given), COUNT) == scored


def own_rows(name: str, figures: dict[str, Any], bar: str) -> list[report.Row]:
    return [
        report.row(
            f"{name} program, microseconds, against the same by hand",
            round(figures["columns"] * 1e6),
            n=COUNT,
            peer=round(figures["by_hand"] * 1e6),
            ratio=figures["columns"] / figures["by_hand"],
            bar=bar,
        ),
        report.row(
            f"{name} program with the best {EXPLAINED} explained, against without",
            round(figures["explained"] * 1e6),
            n=COUNT,
            peer=round(figures["columns"] * 1e6),
            ratio=figures["explained"] / figures["columns"],
            bar="<= 2.5",
        ),
    ]


# --- peers ------------------------------------------------------------------------------------------------------------


def peer_rows(found: dict[str, Any], ours: dict[str, dict[str, Any]]) -> list[report.Row]:
    made = []
    for name, bar in PEER_BARS.items():
        for program, figures in ours.items():
            measure = f"{program} program, microseconds, against {name}"
            mine = round(figures["columns"] * 1e6)
            if name not in found:
                made.append(report.row(measure, mine, n=COUNT, peer="not to be had here"))
                continue
            theirs = found[name][program]
            report.require(
                theirs.pop("order") == figures["order"], f"{name} orders {program} otherwise"
            )
            made.append(
                report.row(
                    measure,
                    mine,
                    n=COUNT,
                    peer=round(theirs["seconds"] * 1e6),
                    ratio=theirs["seconds"] / figures["columns"],
                    bar=bar if program == "classic" else "",
                )
            )
    return made


# --- the fixed formula ------------------------------------------------------------------------------------------------


def formula() -> tuple[list[report.Row], dict[str, Any]]:
    """Time features and the fixed formula; the peer cuts every text into words, as the formula is written down."""
    papers = some_papers(COUNT)
    made = [formula_row(papers, QUERY, ">= 3"), formula_row(papers, LONG_QUERY, "")]
    (merged,) = best_of(lambda: merge(papers), rounds=3)
    return made, {"merge_s": merged}


def formula_row(papers: list[Candidate], query: str, bar: str) -> report.Row:
    ranking = rank(papers, query, as_of_year=YEAR, top=COUNT)
    report.require(list(ranking.order) == plain_order(papers, query), "the plain ranker differs")
    ours, plain = best_of(
        lambda: rank(papers, query, as_of_year=YEAR, top=EXPLAINED),
        lambda: plain_order(papers, query),
        rounds=max(ROUNDS // 2, 4),
    )
    words = len(query.split())
    return report.row(
        f"features and fixed formula, {words} words, ms, against cutting texts into words",
        round(ours * 1e3, 2),
        n=COUNT,
        peer=round(plain * 1e3, 2),
        ratio=plain / ours,
        bar=bar,
    )


def main() -> None:
    ours = {
        "classic": timed("classic", CLASSIC, classic_by_hand),
        "maximal": timed("maximal", MAXIMAL, maximal_by_hand),
    }
    report.require((ours["maximal"]["nodes"], ours["maximal"]["depth"]) == (256, 32), "not maximal")
    made = [
        *own_rows("classic", ours["classic"], "<= 1.6"),
        *own_rows("maximal", ours["maximal"], "<= 1.8"),
    ]
    ranked, figures = formula()
    found = peers(COUNT)
    made += [*peer_rows(found, ours), *ranked]
    for each in ours.values():
        del each["order"]
    report.finish(made, {"n": COUNT, **ours, "peers": found, "formula": figures})


if __name__ == "__main__":
    main()
