"""Programs and features for tests of the scoring language."""

from collections.abc import Mapping, Sequence

from signal_search.contracts.scorer import LANGUAGE, ScorerProgram

from scoring.expression.compiler import compile_program
from scoring.expression.program import Program

Row = Mapping[str, float | None]

A_ROW: Row = {
    "lexical": 0.75,
    "phrase": 0.5,
    "citations": None,
    "year": 2021.0,
    "age_years": 5.0,
    "source_count": 2.0,
}


class GivenFeatures:
    """Features as given, with a record of what was read: (name, row), each as often as it was asked for."""

    def __init__(self, *rows: Row) -> None:
        self.rows = rows
        self.read: list[tuple[str, int]] = []

    def column(self, name: str, rows: Sequence[int]) -> list[float | None]:
        self.read += [(name, row) for row in rows]
        return [self.rows[row][name] for row in rows]


def a_program(score: str, filter: str = "true") -> ScorerProgram:  # noqa: A002  # the field's name
    return ScorerProgram(language=LANGUAGE, score=score, filter=filter)


def compiled(score: str, filter: str = "true") -> Program:  # noqa: A002
    return compile_program(a_program(score, filter))
