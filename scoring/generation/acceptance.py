"""Does a generated program mean what was asked? One fixed wish, and 168 papers on which every likely mistake shows.

The wish (scorer guide): later than 2020, scored by lexical alone. The papers vary the year around the border and its
absence, the share of the query's words that is found, citations and number of sources, so that a wrong border, a bonus
or a changed score puts at least one paper wrong. What is right is computed here without the language. A pass is a
check of one wish on a sample, no proof for all wishes.
"""

from collections.abc import Iterator
from itertools import product
from typing import Final

from signal_search.contracts.generation import GenerateRequest
from signal_search.errors import ProgramError

from scoring.academic import rank
from scoring.candidates import Candidate
from scoring.expression.program import Program

VERSION: Final = "scorer-acceptance-1"
"""Names the wish and the papers; a change to either is a new version."""

WISH: Final = GenerateRequest(
    query="surface code threshold",
    requirements=(
        "只要2020年之后，最终分数直接使用系统已有的 lexical 特征，按分数降序排序，不加入引用数或其他加分项。"
    ),
)
REFERENCE_ANSWER: Final = (
    '{"scorer":{"language":"qatlas-expr-v1","filter":"coalesce(year, 0) > 2020","score":"lexical"},'
    '"summary":"2020年之后，按 lexical 降序。","warnings":[]}'
)
"""What a model that does its work answers: what is checked when no model is asked."""

# Two, so that an age takes the place of a year in neither. The phrase in the samples' query is worth a bonus to some
# papers, which the wish forbids; the words are those of the wish's query.
_REFERENCE_YEARS: Final = (2026, 2030)
_QUERY: Final = '"surface code" threshold'

_YEARS: Final = (None, 2019, 2020, 2021, 2022, 2024, 2026)
_CITATIONS: Final = (None, 0, 12, 5000)
_SOURCES: Final = (("arxiv",), ("arxiv", "openalex", "semantic_scholar"))
# Title and abstract, and the share of the three words of the query in it: a word of the abstract alone counts half.
_TEXTS: Final = (
    ("A study of tea", "Nothing to do with it", 0.0),
    ("The surface of things", "About a code", 0.5),
    ("Threshold of the surface code", "", 1.0),
)


def samples() -> tuple[Candidate, ...]:
    """Return the papers, scores in no order."""
    return tuple(
        Candidate(
            title=f"{title} {number}",
            abstract=abstract,
            year=year,
            citations=citations,
            sources=sources,
        )
        for number, (year, citations, sources, (title, abstract, _)) in enumerate(_grid())
    )


def expected() -> tuple[tuple[int, float], ...]:
    """Return the right order as (place among the samples, score): later than 2020, by share of words, ties as given."""
    kept = [
        (place, share)
        for place, (year, _, _, (_, _, share)) in enumerate(_grid())
        if year is not None and year > 2020
    ]
    return tuple(sorted(kept, key=lambda each: -each[1]))


def failure(program: Program) -> str:
    """Return what is wrong with a program's ranking of the samples as a code, empty when nothing is.

    `filter_differs`: other papers were kept; `score_differs`: a paper has another score; `order_differs`;
    `program_failed`: it does not run on all of them.
    """
    found = (_failure_in(year, program) for year in _REFERENCE_YEARS)
    return next((each for each in found if each), "")


def _failure_in(year: int, program: Program) -> str:
    papers = samples()
    try:
        ranking = rank(papers, _QUERY, as_of_year=year, program=program, top=len(papers))
    except ProgramError:
        return "program_failed"
    right = expected()
    if set(ranking.order) != {place for place, _ in right}:
        return "filter_differs"
    if dict(zip(ranking.order, ranking.scores, strict=True)) != dict(right):
        return "score_differs"
    return "" if ranking.order == tuple(place for place, _ in right) else "order_differs"


def _grid() -> Iterator[tuple[int | None, int | None, tuple[str, ...], tuple[str, str, float]]]:
    return product(_YEARS, _CITATIONS, _SOURCES, _TEXTS)
