"""What must hold for every program, text and set of candidates."""

import ast
import math
import re

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import json, structs
from signal_search.contracts.scorer import ScorerProgram
from signal_search.errors import Position, ProgramError

from bench.random_programs import Programs
from scoring.candidates import Candidate, merge
from scoring.expression.compiler import compile_program
from scoring.expression.evaluator import Scored, score_each
from scoring.expression.executor import execute
from scoring.expression.explain import explanations
from scoring.expression.lexer import tokens_of
from scoring.expression.program import Node, Program
from scoring.expression.spans import trimmed
from scoring.features import words_in
from scoring.fusion import fuse
from tests.fakes.scorer import GivenFeatures, a_program

patient = settings(deadline=None)
thorough = settings(deadline=None, max_examples=600)

SEEDS = st.integers(0, 2**40)
WORDS = st.sampled_from(
    "lexical phrase citations year 1 0.5 .5 1e9 ( ) , + - * / < <= == != and or not true false min clamp where coalesce "
    "exp is_missing log1p nope 1e999 = ! . _ \n é".replace(" ", "|").split("|")
)
LIMITS = {"nesting_limit", "depth_limit", "node_limit", "scorer_too_large"}


def tried(program: ScorerProgram) -> Program | ProgramError:
    """Compile a program; anything else that it raises is the test's failure."""
    try:
        return compile_program(program)
    except ProgramError as error:
        return error


def compiled_from(seed: int) -> Program | None:
    found = tried(Programs(seed).program())
    if isinstance(found, Program):
        return found
    assert found.code in {*LIMITS, "type"}
    return None


# --- nothing but ProgramError -----------------------------------------------------------------------------------------


@thorough
@given(
    st.one_of(
        st.text(),
        st.lists(WORDS, max_size=40).map(" ".join),
        st.lists(WORDS, max_size=40).map("".join),
    ),
    st.booleans(),
)
def test_any_text_compiles_or_is_refused_with_a_place(text: str, is_filter: bool) -> None:
    found = tried(a_program("1", text) if is_filter else a_program(text))
    if isinstance(found, ProgramError) and found.field != "scorer":
        assert found.field in {"filter", "score"}
        place = found.position
        assert isinstance(place, Position)
        assert (1, 1) <= (place.line, place.column) <= (place.end_line, place.end_column)


@patient
@given(
    st.sampled_from(
        ["(", "-", "not ", "abs(", "1+", "1 and ", "min(1,", "where(true,", "((", "-("]
    ),
    st.integers(0, 4_000),
)
def test_runs_of_any_length_are_refused_or_compiled(piece: str, count: int) -> None:
    found = tried(a_program(piece * count + "1"))
    assert isinstance(found, Program) or found.code in {*LIMITS, "syntax", "type"}


# --- both executors ---------------------------------------------------------------------------------------------------


def outcome(run: object, *args: object) -> object:
    try:
        found = run(*args)  # type: ignore[operator]
    except ProgramError as error:
        return (error.code, error.field, error.position, error.candidate_index)
    scored: Scored = found if isinstance(found, Scored) else found.scored
    return (scored.order, [(score, math.copysign(1, score)) for score in scored.scores])


@thorough
@given(SEEDS, st.sampled_from([0, 1, 2, 3, 7, 40]), st.booleans())
def test_columns_are_the_scalar_reference_bit_for_bit(seed: int, count: int, traced: bool) -> None:
    program = compiled_from(seed)
    if program is None:
        return
    features = GivenFeatures(*Programs(seed + 1).rows(count))
    expected = outcome(score_each, program, features, count)
    assert (
        outcome(lambda *args: execute(*args, traced=traced), program, features, count) == expected
    )


@patient
@given(SEEDS)
def test_no_feature_is_read_that_the_reference_does_not_read(seed: int) -> None:
    program = compiled_from(seed)
    if program is None:
        return
    by_columns, one_by_one = (GivenFeatures(*Programs(seed + 1).rows(9)) for _ in range(2))
    if isinstance(outcome(score_each, program, one_by_one, 9)[0], str):  # type: ignore[index]
        return  # a failure ends the reference early
    execute(program, by_columns, 9)
    assert set(by_columns.read) == set(one_by_one.read)


@patient
@given(SEEDS, st.integers(20, 70_000), st.integers(0, 12))
def test_explanations_fit_and_tell_the_scores(seed: int, budget_bytes: int, top: int) -> None:
    program = compiled_from(seed)
    if program is None:
        return
    features = GivenFeatures(*Programs(seed + 1).rows(9))
    try:
        run = execute(program, features, 9, traced=True)
    except ProgramError:
        return
    found = explanations(program, run, top, budget_bytes=budget_bytes)
    assert len(found) == min(top, len(run.scored.order))
    told = [each for each in found if "score" in each]
    if told or found:
        least = len(found) * len('{"truncated":true}') + len(found) + 1
        assert len(json.encode(found)) <= max(budget_bytes, least)
    for each in told:
        place = run.scored.order.index(each["candidate_index"])
        assert each["final_score"] == each["score"]["value"] == run.scored.scores[place]
        assert each["filter"]["value"] is True


# --- text and tree ----------------------------------------------------------------------------------------------------

_UNARY = {"neg": "-", "pos": "+", "not": "not "}


def printed(node: Node) -> str:
    """Return a text of the node, with brackets round every operation and numbers spelled as Python does."""
    if node.op == "literal":
        return str(node.value).lower() if isinstance(node.value, bool) else repr(node.value)
    if node.op == "feature":
        return node.name
    args = [printed(each) for each in node.args]
    if node.op in _UNARY:
        return f"({_UNARY[node.op]}{args[0]})"
    if re.fullmatch(r"[a-z0-9_]+", node.op) and node.op not in {"and", "or"}:
        return f"{node.op}({', '.join(args)})"
    return f"({f' {node.op} '.join(args)})"


@thorough
@given(SEEDS)
def test_a_program_that_is_printed_from_its_tree_is_the_same(seed: int) -> None:
    program = compiled_from(seed)
    if program is None:
        return
    again = tried(a_program(printed(program.score), printed(program.filter)))
    if isinstance(again, ProgramError):
        assert again.code in {"nesting_limit", "scorer_too_large"}  # brackets count
    else:
        assert again.hash == program.hash


@patient
@given(SEEDS, st.randoms(use_true_random=False))
def test_white_space_changes_nothing_but_places(seed: int, pick: object) -> None:
    program = compiled_from(seed)
    if program is None:
        return

    def spaced(text: str) -> str:
        words = [token.text for token in tokens_of(trimmed("score", text))]
        return "".join(word + pick.choice((" ", "\n", "\t", " \r\n ")) for word in words)  # type: ignore[attr-defined]

    again = tried(a_program(spaced(program.normal.score), spaced(program.normal.filter)))
    if isinstance(again, ProgramError):
        assert again.code == "scorer_too_large"
    else:
        assert (again.hash, again.nodes, again.depth) == (
            program.hash,
            program.nodes,
            program.depth,
        )


@patient
@given(SEEDS)
def test_counts_are_those_of_pythons_syntax_tree(seed: int) -> None:
    program = compiled_from(seed)
    if program is None:
        return
    trees = [ast.parse(text, mode="eval") for text in (program.normal.filter, program.normal.score)]
    assert program.nodes == sum(len(list(ast.walk(tree))) for tree in trees)
    assert program.depth == max(deep(tree) for tree in trees)


def deep(node: ast.AST) -> int:
    return 1 + max((deep(each) for each in ast.iter_child_nodes(node)), default=0)


# --- candidates -------------------------------------------------------------------------------------------------------

RECORDS = st.builds(
    Candidate,
    title=st.sampled_from(["", "A b", "a-B", "量子", "c"]),
    doi=st.sampled_from(["", "10.1/a", "10.1/A", "10.1/b", "10.48550/arXiv.2101.00001"]),
    arxiv_id=st.sampled_from(["", "", "2101.00001", "2101.00001v2", "2101.00002"]),
    sources=st.lists(st.sampled_from(["x", "y", ""]), max_size=2).map(tuple),
    citations=st.sampled_from([None, -1, 0, 5]),
    raw_rank=st.none() | st.integers(1, 9),
)


@patient
@given(st.lists(RECORDS, max_size=12))
def test_merging_again_changes_nothing(records: list[Candidate]) -> None:
    merged = merge(records)
    assert merge(merged) == merged
    assert {source for each in merged for source in each.sources} == {
        source for each in records for source in each.sources if source
    }


@patient
@given(st.lists(RECORDS, max_size=8), st.randoms(use_true_random=False))
def test_which_records_are_one_does_not_depend_on_their_order(
    records: list[Candidate], pick: object
) -> None:
    numbered = [structs.replace(each, sources=(str(at),)) for at, each in enumerate(records)]
    mixed = list(numbered)
    pick.shuffle(mixed)  # type: ignore[attr-defined]
    assert {frozenset(each.sources) for each in merge(numbered)} == {
        frozenset(each.sources) for each in merge(mixed)
    }


@patient
@given(
    st.text(alphabet="abAB1 -_é\u0130", max_size=60),
    st.text(alphabet="ab1", min_size=1, max_size=3),
)
def test_a_word_is_found_as_if_the_text_were_cut_into_words(text: str, word: str) -> None:
    assert (f" {word} " in words_in(text)) is (word in re.findall("[a-z0-9]+", text.lower()))


@patient
@given(
    st.lists(st.lists(st.sampled_from("abcdefg"), max_size=7), max_size=5),
    st.randoms(use_true_random=False),
)
def test_fusion_does_not_depend_on_the_order_of_the_lists(
    lists: list[list[str]], pick: object
) -> None:
    mixed = list(lists)
    pick.shuffle(mixed)  # type: ignore[attr-defined]
    assert fuse(mixed) == fuse(lists)
