"""The scoring language and the academic ranking as the scorer guide promises them (CONFORMANCE_DIR/qatlas.json)."""

import ast
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import pytest
from signal_search.contracts.scorer import LANGUAGE, ScorerProgram
from signal_search.errors import ProgramError

from scoring.academic import Ranking, rank
from scoring.candidates import Candidate, merge
from scoring.expression.compiler import compile_program
from scoring.expression.evaluator import score_each
from scoring.expression.executor import execute
from scoring.expression.explain import explanations
from scoring.expression.program import Program
from scoring.features import Features
from tests.conformance.cases import Case, params
from tests.fakes.scorer import GivenFeatures, a_program

YEAR = 2026


def _program(given: Case) -> Program:
    """Compile the program of a case; what it says besides (a year, a query) is no part of a program."""
    fields = {name: given[name] for name in ("language", "filter", "score") if name in given}
    return compile_program(msgspec.convert({"language": LANGUAGE, **fields}, ScorerProgram))


def _check_error(error: ProgramError, expect: Mapping[str, Any]) -> None:
    assert error.status == expect["http"]
    if "code" in expect:
        assert error.code == expect["code"]
    if "field" in expect:
        assert error.field == expect["field"]
    if "candidate_index" in expect:
        assert error.candidate_index == expect["candidate_index"]
        assert error.position is not None


# --- the language -----------------------------------------------------------------------------------------------------


def check_compile(given: Case, expect: Case) -> None:
    if expect["compiles"]:
        assert _program(given).nodes <= 256
        return
    with pytest.raises(ProgramError) as refused:
        _program(given)
    _check_error(refused.value, expect)
    assert refused.value.position is not None


def check_limit(given: Case, expect: Case) -> None:
    if "candidates" in given:
        papers = [Candidate(title=str(number)) for number in range(given["candidates"])]
        check_candidates(papers, expect)
        return
    if "scorer_bytes" in given:
        check_size(given["scorer_bytes"], expect)
        return
    if "score" not in given:
        pytest.skip("HTTP: see the endpoint tests")
    texts = _texts(given)
    if "nodes" in expect:
        assert sum(_counted(text) for text in texts) == expect["nodes"]
    if "depth" in expect:
        assert max(_deep(ast.parse(text, mode="eval")) for text in texts) == expect["depth"]
    check_compile(given, expect)
    if expect["compiles"]:
        program = _program(given)
        assert program.nodes == expect.get("nodes", program.nodes)
        assert program.depth == expect.get("depth", program.depth)


def check_candidates(papers: list[Candidate], expect: Case) -> None:
    def run() -> Ranking:
        program = compile_program(a_program("lexical"))
        return rank(papers, "q", as_of_year=YEAR, program=program, top=10)

    if expect.get("http") != 422:
        assert run().kept == len(papers)
        return
    with pytest.raises(ProgramError) as refused:
        run()
    _check_error(refused.value, {"code": "candidate_limit", **expect})


def check_size(size: int, expect: Case) -> None:
    empty = len(msgspec.json.encode({"language": LANGUAGE, "score": ""}))
    program = a_program("1".ljust(size - empty))
    if expect.get("http") != 413:
        assert compile_program(program).nodes
        return
    with pytest.raises(ProgramError) as refused:
        compile_program(program)
    _check_error(refused.value, expect)


def _texts(given: Case) -> list[str]:
    return [given.get("filter", "true"), given["score"]]


def _counted(text: str) -> int:
    return sum(1 for _node in ast.walk(ast.parse(text, mode="eval")))


def _deep(node: ast.AST) -> int:
    return 1 + max((_deep(each) for each in ast.iter_child_nodes(node)), default=0)


def check_eval(given: Case, expect: Case) -> None:
    program = _program(given)
    features = GivenFeatures(given["features"])
    if "code" in expect:
        for run in (score_each, execute):
            with pytest.raises(ProgramError) as failed:
                run(program, features, 1)
            _check_error(failed.value, expect)
        return
    for scored in (
        score_each(program, features, 1),
        execute(program, features, 1, traced=True).scored,
    ):
        assert bool(scored.order) is expect["kept"]
        assert scored.scores == ((expect["score"],) if expect["kept"] else ())


def check_hash(given: Case, expect: Case) -> None:
    first, second = (
        _program({"score": each} if isinstance(each, str) else each).hash
        for each in (given["a"], given["b"])
    )
    assert (first == second) is expect["same"]
    assert len(first) == 64


# --- features and candidates ------------------------------------------------------------------------------------------


def _candidate(paper: Case) -> Candidate:
    return Candidate(
        title=paper["title"],
        abstract=paper.get("abstract") or "",
        year=paper.get("year"),
        citations=paper.get("citations"),
        doi=paper.get("doi") or "",
        arxiv_id=paper.get("arxiv_id") or "",
        sources=tuple(paper.get("source", "").split(",")),
    )


def check_feature(given: Case, expect: Case) -> None:
    features = Features([_candidate(given["paper"])], given["query"], given["as_of_year"])
    assert {name: features.column(name, (0,))[0] for name in expect} == expect


# What the words of a merge case mean, as records.
_MERGED: dict[str, list[Candidate]] = {
    "two title-only with equal normalised titles": [
        Candidate(title="Surface Code: Thresholds"),
        Candidate(title="surface code thresholds"),
    ],
    "one title-only, one with a DOI, same title": [
        Candidate(title="Surface codes"),
        Candidate(title="Surface codes", doi="10.1/a"),
    ],
    "same title, different DOIs": [
        Candidate(title="Surface codes", doi="10.1/a"),
        Candidate(title="Surface codes", doi="10.1/b"),
    ],
    "A doi, B arxiv, C both": [
        Candidate(title="a", doi="10.1/a"),
        Candidate(title="b", arxiv_id="2101.00001"),
        Candidate(title="c", doi="10.1/A", arxiv_id="2101.00001v2"),
    ],
}


def check_merge(given: Case, expect: Case) -> None:
    papers = given["papers"]
    if isinstance(papers, str):
        if papers not in _MERGED:
            pytest.skip(f"a case in words that nobody has made records of: {papers}")
        records = _MERGED[papers]
    else:
        records = [_candidate(each) for each in papers]
    assert len(merge(records)) == expect["count"]


def _named(paper: str | Case) -> Candidate:
    if isinstance(paper, str):
        return Candidate(title=paper, sources=("a", "b") if "zero" in paper else ("a",))
    return _candidate({"title": paper.get("id", ""), "source": "a", **paper})


def check_rank(given: Case, expect: Case) -> None:
    """`source_count_minus_2` stands for what is 0 for the paper with two sources."""
    papers = [_named(each) for each in given["papers"]]
    score = given["score"].replace("source_count_minus_2", "(source_count - 2)")
    program = compile_program(a_program(score, given.get("filter", "true")))

    def run() -> Ranking:
        top = given.get("max_results", 10)
        return rank(papers, "q", as_of_year=YEAR, program=program, top=top)

    if expect.get("http") == 422:
        with pytest.raises(ProgramError) as failed:
            run()
        _check_error(failed.value, expect)
        return
    found = [papers[each].title for each in run().order]
    assert found == expect.get("order", expect.get("hits"))


# --- explanations -----------------------------------------------------------------------------------------------------

PAPERS = [
    Candidate(title="surface code", sources=("a",), year=2020),
    Candidate(title="threshold", sources=("a", "b"), citations=4),
    Candidate(title="other", sources=("b",), year=2024, citations=1),
]
SCORE = "lexical + where(is_missing(year), 1, 2) * coalesce(citations, 7)"


def _ranked(given: Case) -> Ranking:
    program = None if given.get("ranking") == "default" else compile_program(a_program(SCORE))
    return rank(
        PAPERS,
        "surface code",
        as_of_year=YEAR,
        program=program,
        explain=given["explain"],
        top=2,
    )


def check_explain(given: Case, expect: Case) -> None:
    if given.get("budget") == "tiny":
        check_tiny(expect)
        return
    found = _ranked(given)
    if expect.get("score_explanation") == "absent":
        assert found.explanations == ()
        assert len(found.details) == (2 if "score_detail" in expect else 0)
        return
    assert len(found.explanations) == len(found.order) == 2
    assert found.scores == _ranked({"explain": False}).scores
    text = msgspec.json.encode(found.explanations)
    assert len(text) <= expect["json_bytes_of_list_at_most"]
    for part in ("candidate_index", "features", "value", "branch", "replaced", "final_score"):
        assert f'"{part}"'.encode() in text
    assert expect["only_top_hits"]
    assert expect["no_second_evaluation"]
    _check_single_run()


def _check_single_run() -> None:
    features = GivenFeatures({"lexical": 1.0, "year": None, "citations": None})
    program = compile_program(a_program(SCORE))
    run = execute(program, features, 1, traced=True)
    before = list(features.read)
    explanations(program, run, 1)
    assert features.read == before
    assert len(before) == len(set(before)) == 3


def check_tiny(expect: Case) -> None:
    program = compile_program(a_program(SCORE))
    features = Features(PAPERS, "surface code", YEAR)
    run = execute(program, features, len(PAPERS), traced=True)
    (found, *_rest) = explanations(program, run, 2, budget_bytes=60)
    assert found == expect["score_explanation"]
    assert run.scored == execute(program, features, len(PAPERS)).scored
    assert expect["scores_unchanged"]


# --- the table --------------------------------------------------------------------------------------------------------

CHECKS: dict[str, Callable[[Case, Case], None]] = {
    "compile": check_compile,
    "limit": check_limit,
    "eval": check_eval,
    "hash": check_hash,
    "feature": check_feature,
    "merge": check_merge,
    "rank": check_rank,
    "explain": check_explain,
}
LATER: dict[str, str] = {
    "http_search": "HTTP: see the endpoint tests",
    "http_capabilities": "HTTP: see the endpoint tests",
    "http_generate": "HTTP: see the endpoint tests",
    "http_survey": "HTTP: see the endpoint tests",
}


@pytest.mark.parametrize("case", params("qatlas.json", functions=CHECKS, later=LATER))
def test_qatlas(case: Case) -> None:
    assert case["area"] in CHECKS, f"unknown area {case['area']}"
    CHECKS[case["area"]](case["input"], case["expect"])


def test_unknown_area_fails() -> None:
    with pytest.raises(AssertionError, match="unknown area"):
        test_qatlas({"area": "horoscope", "input": {}, "expect": {}})


def test_later_areas_have_no_function_and_a_reason() -> None:
    assert not set(LATER) & set(CHECKS)
    assert all(LATER.values())
