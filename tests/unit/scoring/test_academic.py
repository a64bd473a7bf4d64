"""The fixed formula, worked out by hand, and a program in its place."""

import math

import pytest
from signal_search.contracts.scorer import RankingUsed, RankingWeights, ScoreDetail
from signal_search.errors import ProgramError

from scoring.academic import citation_shares, rank, recency_shares
from scoring.candidates import Candidate
from scoring.features import Features, sought_by, words_in
from tests.fakes.scorer import compiled

PAPERS = [
    Candidate(title="Surface code", abstract="a threshold", sources=("a",), citations=0, year=2016),
    Candidate(
        title="Threshold of the surface code", sources=("a", "b", "c"), citations=99, year=2026
    ),
    Candidate(title="Else", abstract="surface", sources=("b",)),
]
QUERY = '"surface code" threshold'


def test_the_fixed_formula() -> None:
    """lexical: (1 + 1 + .5)/3, 3/3, .5/3; phrase .5, .5, 0; citations 0, 1, unknown .5; years 0, 1, unknown 0."""
    found = rank(PAPERS, QUERY, as_of_year=2026, top=3)
    assert found.order == (1, 0, 2)
    assert found.scores == pytest.approx(
        (1 + 0.5 + 0.6 + 0.2 + 0.15 * math.log(3), 2.5 / 3 + 0.5, 0.5 / 3 + 0.3), abs=1e-12
    )
    assert found.details == (
        ScoreDetail(lexical=1.0, phrase=0.5, citation=0.6, recency=0.2, agreement=0.1648),
        ScoreDetail(lexical=0.8333, phrase=0.5, citation=0.0, recency=0.0, agreement=0.0),
        ScoreDetail(lexical=0.1667, phrase=0.0, citation=0.3, recency=0.0, agreement=0.0),
    )
    assert found.used == RankingUsed(
        source="default", weights=RankingWeights(lexical=1.0, citation=0.6, recency=0.2)
    )
    assert (found.kept, found.explanations) == (3, ())


def test_weights_of_a_model() -> None:
    weights = RankingWeights(lexical=0.0, citation=0.0, recency=1.0)
    found = rank(PAPERS, QUERY, as_of_year=2026, weights=weights, top=1)
    assert found.order == (1,)
    assert found.used == RankingUsed(source="auto", weights=weights)


def test_explain_changes_nothing_of_the_formula() -> None:
    assert rank(PAPERS, QUERY, as_of_year=2026, top=3, explain=True) == rank(
        PAPERS, QUERY, as_of_year=2026, top=3
    )


def test_shares() -> None:
    assert citation_shares([0, None, 99, 9]) == [0.0, 0.5, 1.0, 0.5]
    assert citation_shares([5, None, 5]) == [0.5, 0.5, 0.5]
    assert citation_shares([None, None]) == [0.0, 0.0]
    assert recency_shares([2020, None, 2025, 2021]) == [0.0, 0.0, 1.0, 0.2]
    assert recency_shares([2020, None]) == [1.0, 0.0]
    assert recency_shares([None]) == [0.0]
    assert citation_shares([]) == recency_shares([]) == []


def test_ties_keep_the_order_of_the_candidates() -> None:
    same = [Candidate(title="x")] * 4
    assert rank(same, "q", as_of_year=2026, top=3).order == (0, 1, 2)


def test_a_program_stands_alone_and_sees_all_candidates() -> None:
    program = compiled("-lexical", "source_count < 3")
    found = rank(PAPERS, QUERY, as_of_year=2026, program=program, explain=True, top=1)
    assert (found.order, found.scores, found.kept) == ((2,), (-0.5 / 3,), 2)
    assert found.details == ()
    assert [each["candidate_index"] for each in found.explanations] == [2]
    assert found.used == RankingUsed(
        source="scorer",
        weights=None,
        language="qatlas-expr-v1",
        feature_version="academic-features-1",
        scorer_hash=program.hash,
        as_of_year=2026,
        score_scale="custom",
        scorer=program.normal,
    )
    plain = rank(PAPERS, QUERY, as_of_year=2026, program=program, top=1)
    assert (plain.order, plain.scores, plain.explanations) == (found.order, found.scores, ())


def test_a_failure_leaves_no_ranking() -> None:
    with pytest.raises(ProgramError) as failed:
        rank(PAPERS, QUERY, as_of_year=2026, program=compiled("1 / (source_count - 3)"), top=3)
    assert (failed.value.code, failed.value.candidate_index) == ("division_by_zero", 1)


@pytest.mark.parametrize(("count", "refused"), [(1_000, False), (1_001, True)])
def test_a_program_scores_a_thousand_at_most(count: int, refused: bool) -> None:
    papers = [Candidate(title="x")] * count
    if not refused:
        assert rank(papers, "q", as_of_year=2026, program=compiled("1"), top=1).kept == count
        return
    with pytest.raises(ProgramError) as failed:
        rank(papers, "q", as_of_year=2026, program=compiled("1"), top=1)
    assert (failed.value.code, failed.value.status) == ("candidate_limit", 422)
    assert rank(papers, "q", as_of_year=2026, top=1).kept == count  # the formula has no such limit


# --- features ---------------------------------------------------------------------------------------------------------


def feature(name: str, query: str, **fields: object) -> float | None:
    return Features([Candidate(title="", **fields)], query, 2026).column(name, (0,))[0]  # type: ignore[arg-type]


def test_words_of_a_query() -> None:
    found = sought_by('A "Surface Code" code-9 "" " " x "open')
    assert {each.word: each.count for each in found.words} == {"surface": 1, "code": 2, "open": 1}
    assert found.phrases == ("surface code",)


@pytest.mark.parametrize(
    ("text", "word", "found"),
    [
        ("surface-code", "code", True), ("surface codes", "code", False), ("decode code", "code", True), ("x1", "x", False),
        ("é code é", "code", True), ("écodeé", "code", True), ("code", "code", True), ("cod", "code", False), ("", "code", False),
        ("codecode " * 40 + "code", "code", True), ("codecode " * 40, "code", False), ("a_code_b", "code", True),
    ],
)  # fmt: skip
def test_words_are_whole_runs(text: str, word: str, found: bool) -> None:
    assert (f" {word} " in words_in(text)) is found


def test_repeated_words_count_as_often_as_they_stand_there() -> None:
    """In the abstract two of three by half, in the title one in full."""
    assert feature("lexical", "code code gate", abstract="code") == 1 / 3
    assert feature("lexical", "code code gate", abstract="gate Code") == 0.5


def test_no_year_is_year_zero() -> None:
    assert feature("year", "q", year=0) is None
    assert feature("year", "q", year=1) == 1.0
    assert feature("citations", "q", citations=0) == 0.0


@pytest.mark.parametrize("citations", [None, -1, -(10**30), 10**400])
def test_impossible_counts_are_unknown(citations: int | None) -> None:
    assert feature("citations", "q", citations=citations) is None
    assert feature("year", "q", year=citations) is None
    assert feature("age_years", "q", year=citations) is None
    rank([Candidate(title="", citations=citations, year=citations)], "q", as_of_year=2026, top=1)


def test_phrases_are_folded_and_add_up() -> None:
    papers = [Candidate(title="GROSSE Straße", abstract="the grosse STRASSE")]
    features = Features(papers, '"Straße" "grosse strasse" "the"', 2026)
    assert features.column("phrase", (0,)) == [0.5 + 0.5 + 0.25]


def test_a_feature_is_computed_once() -> None:
    features = Features(PAPERS, QUERY, 2026)
    assert features.column("lexical", (1,)) == [1.0]
    assert features.column("lexical", range(3))[1] == 1.0
    assert features.column("lexical", range(3)) is features.column("lexical", range(3))
    assert features.column("lexical", (2, 0)) == [
        features.column("lexical", range(3))[at] for at in (2, 0)
    ]
