"""The timed programs are what the bench says they are, in the product's words, by hand and in the peers' spelling."""

from bench.expression import Columns
from bench.expression_programs import CLASSIC, MAXIMAL, classic_by_hand, maximal_by_hand, rows
from bench.plain_ranker import plain_order, some_papers
from scoring.academic import rank
from scoring.expression.executor import execute
from tests.fakes.scorer import compiled


def test_programs_written_by_hand_are_the_same() -> None:
    given = rows(200)
    for (condition, score), by_hand in ((CLASSIC, classic_by_hand), (MAXIMAL, maximal_by_hand)):
        scored = execute(compiled(score, condition), Columns(given), len(given)).scored
        assert by_hand(given) == (scored.order, scored.scores)
        assert len(scored.order) > 0


def test_maximal_has_all_nodes_and_levels() -> None:
    program = compiled(MAXIMAL[1], MAXIMAL[0])
    assert (program.nodes, program.depth) == (256, 32)


def test_the_plain_ranker_is_the_fixed_formula() -> None:
    papers = some_papers(60)
    for query in ('"surface code" threshold', "code of qubits", '"the of" decoder'):
        assert list(rank(papers, query, as_of_year=2026, top=60).order) == plain_order(
            papers, query
        )
