"""What must not compile or run, with the code that says why; the expectations were written from the scorer guide."""

import pytest
from signal_search.errors import Position, ProgramError, ProgramTooLarge

from scoring.expression.capabilities import ERROR_CODES
from scoring.expression.compiler import check_size, compile_program
from scoring.expression.evaluator import score_each
from scoring.expression.executor import execute
from tests.fakes.scorer import A_ROW, GivenFeatures, a_program, compiled

SYNTAX = [
    "lexical if true else 0", "true ? 1 : 0", "lexical > 0 && true", "!true", "2 ** 3", "2 ^ 3", "5 % 2",
    "5 // 2", "1 | 2", "1 & 2", "~1", "1 << 1000000000", "9**9**9**9", "lexical = 1", "(x := 1)",
    "(lambda: 1)()", "lambda: 1", "lexical.__class__", "1.real", "lexical[0]", "[1]", "{1}", "{}", "max([x for x in 1],2)",
    "'a'", '"a"', "f'{lexical}'", "max(a=1,b=2)", "max(*lexical)", "max(1,2,)", "max(,1)", "abs()", "abs(1)(2)",
    "1;2", "1\n2", "1 2", "lexical # note", "lexical /* x */", "1 + \\\n 2", "1, 2", "(1, 2)", "@", "$", "`1`", "...",
    "lexical\f+ 1", "lexical\v+ 1", "lexical\u00a0+ 1", "\u00a0lexical", "lexical\u200b", "\ufefflexical", "lexical\x00",
    "lexical\u2028+ 1", "\x1c1", "1_000", "0x10", "0o7", "0b1", "1j", "1.2.3", "1e", "1e+", "1ee1", ".", "1..2",
    "1.e", "007", "00", "01.5", "00.5", "0_0", "1a", "1and 2", "\u0661\u0662", "\uff11", "2\u00b2", "½",
    "\uff4cexical", "l\u0435xical", "\ufb01lter", "lexicаl", "true AND true", "and", "not", "or 1", "1 +", "+", "* 1",
    "1 + * 2", "true == not false", "1 not 2", "", "  ", "\n", "()", "abs(())", "(1", "1)", ")(", "(", ")", "((1)", "abs(1",
    "abs 1", "true(1)", "true true", "1(2)", "not(", "exec", "\ud800", "lexical\udfff",
]  # fmt: skip
NAMES = [
    "__import__", "null", "None", "inf", "nan", "-Infinity", "Lexical", "True", "LEXICAL", "raw_score", "raw_rank", "fame",
    "log1p", "abs", "_", "self", "x", "e", "pi",
]  # fmt: skip
FUNCTIONS = [
    "__import__(1)",
    "lexical(1)",
    "exec(1)",
    "eval(1)",
    "pow(1, 2)",
    "Abs(1)",
    "log(1)",
    "print(lexical)",
]
TYPES = [
    "-true", "+false", "true + 1", "1 * true", "abs(true)", "min(1, true)", "where(1, 2, 3)", "where(true, 1, false)",
    "not 1", "not lexical", "lexical and true", "true or 1", "1 and 2", "citations + 1", "log1p(citations)", "-year",
    "abs(age_years)", "coalesce(citations, year)", "coalesce(citations, true)", "coalesce(true, 1)",
    "coalesce(lexical, citations)", "clamp(lexical, 0, citations)", "where(citations, 1, 2)",
    "where(is_missing(citations), 0, citations) + 1", "true == 1", "1 != true", "false < true",
    "citations == citations", "citations > 0", "year != 1",
]  # fmt: skip
RUNNING = [
    ("1/(lexical - 0.75)", "division_by_zero"), ("1/-0", "division_by_zero"), ("0/0", "division_by_zero"),
    ("0/-0", "division_by_zero"), ("log1p(-1)", "domain"), ("log1p(-2)", "domain"), ("sqrt(-1)", "domain"),
    ("sqrt(-5e-324)", "domain"), ("clamp(1, 3, 2)", "domain"), ("exp(710)", "non_finite"), ("1e308 * 10", "non_finite"),
    ("1e308 + 1e308", "non_finite"), ("-1e308 - 1e308", "non_finite"), ("1e308 / 1e-10", "non_finite"),
    ("1e308*10 - 1e308*10", "non_finite"), ("where(true, 1/0, 1)", "division_by_zero"),
    ("coalesce(citations, 1/0)", "division_by_zero"), ("1/(phrase - 0.5) + 1e308*10", "division_by_zero"),
]  # fmt: skip


def refused(score: str, filter: str = "true") -> ProgramError:  # noqa: A002
    with pytest.raises(ProgramError) as found:
        compiled(score, filter)
    error = found.value
    assert error.status == 422
    assert error.code in ERROR_CODES
    assert error.field in {"filter", "score"}
    return error


@pytest.mark.parametrize("text", SYNTAX)
def test_what_other_languages_have_is_syntax(text: str) -> None:
    expected = "unknown_name" if text == "exec" else "syntax"
    assert refused(text).code == expected
    assert refused("1", text).code == expected


@pytest.mark.parametrize("text", NAMES)
def test_names_that_do_not_exist(text: str) -> None:
    assert refused(text).code == "unknown_name"


@pytest.mark.parametrize("text", FUNCTIONS)
def test_functions_that_do_not_exist(text: str) -> None:
    assert refused(text).code == "unknown_function"


@pytest.mark.parametrize(
    "text", ["max(1)", "min(1,2,3)", "clamp(1,2,3,4)", "abs(1,2)", "where(true,1)", "coalesce(1)"]
)
def test_functions_have_a_fixed_number_of_arguments(text: str) -> None:
    assert refused(text).code == "arity"


@pytest.mark.parametrize("text", TYPES)
def test_nothing_is_converted_and_null_is_handled_by_name(text: str) -> None:
    assert refused(text).code == "type"
    assert refused("1", text).code == "type"


@pytest.mark.parametrize(
    "text", ["0 < lexical < 1", "1 == 1 == true", "1 < 2 > 1", "not 1 < 2 < 3"]
)
def test_comparisons_are_not_chained(text: str) -> None:
    assert refused("1", text).code == "chained_comparison"


@pytest.mark.parametrize("text", ["lexical", "1", "year", "where(true, 1, 2)"])
def test_a_filter_is_a_boolean(text: str) -> None:
    assert refused("1", text).code == "filter_type"


@pytest.mark.parametrize("text", ["lexical > 0", "true", "year", "where(true, 1, year)"])
def test_a_score_is_a_number_that_is_never_null(text: str) -> None:
    assert refused(text, "not is_missing(year)").code == "score_type"


@pytest.mark.parametrize("text", ["1e400", "1e309", "9" * 3_900, "." + "9" * 100 + "e999"])
def test_numbers_are_finite(text: str) -> None:
    assert refused(text).code == "number"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("(" * 33 + "1" + ")" * 33, "nesting_limit"),
        ("(" * 1_900 + "1" + ")" * 1_900, "nesting_limit"),
        ("(" * 4_000, "nesting_limit"),
        ("abs(" * 33 + "1" + ")" * 33, "nesting_limit"),
        ("-" * 31 + "1", "depth_limit"),
        ("-" * 4_000 + "1", "depth_limit"),
        ("+".join(["1"] * 32), "depth_limit"),
        ("*".join(["1"] * 300), "depth_limit"),
        ("abs(" * 31 + "1" + ")" * 31, "depth_limit"),
    ],
)
def test_limits_of_one_expression(text: str, code: str) -> None:
    assert refused(text).code == code


def test_nots_are_counted_like_signs() -> None:
    assert refused("1", "not " * 30 + "true").code == "depth_limit"
    compiled("1", "not " * 29 + "true")


@pytest.mark.parametrize("text", ["(" * 32 + "1" + ")" * 32, "-" * 30 + "1", "+".join(["1"] * 31)])
def test_the_last_that_fits(text: str) -> None:
    compiled(text)


def test_both_expressions_share_the_nodes() -> None:
    sides = " or ".join(["true"] * 100)  # 1 + 1 + 100 names of 2, and the root
    assert (
        compiled("lexical + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1", sides).nodes == 245
    )
    assert refused("+".join(["lexical"] * 14), sides).code == "node_limit"


def test_the_last_node_that_fits() -> None:
    """n ones added are 3n - 1 nodes with the root; k names joined by `or` are 2k + 3."""
    ones, names = (lambda n: "+".join(["1"] * n)), (lambda k: " or ".join(["true"] * k))
    assert compiled(ones(30), names(82)).nodes == 256
    assert refused(ones(31), names(81)).code == "node_limit"


@pytest.mark.parametrize(("score", "code"), RUNNING)
def test_what_fails_for_a_candidate(score: str, code: str) -> None:
    program = compiled(score)
    for run in (score_each, execute):
        with pytest.raises(ProgramError) as found:
            run(program, GivenFeatures(*[A_ROW] * 4), 4)
        assert (found.value.code, found.value.candidate_index) == (code, 0)
        assert found.value.field == "score"


def test_the_first_candidate_in_merge_order_is_named_whatever_fails_on_it() -> None:
    """The score fails on candidate 1, the filter on candidate 2: the filter is not run first over all."""
    program = compiled("1 / (lexical - 0.5)", "1 / (phrase - 0.5) > -9")
    rows = [
        {**A_ROW, "lexical": lexical, "phrase": phrase}
        for lexical, phrase in ((1, 0), (0.5, 0), (1, 0.5))
    ]
    with pytest.raises(ProgramError) as found:
        execute(program, GivenFeatures(*rows), 3)
    assert (found.value.candidate_index, found.value.field) == (1, "score")


# --- places -----------------------------------------------------------------------------------------------------------


def at(column: int, end_column: int, line: int = 1, end_line: int = 0) -> Position:
    return Position(line=line, column=column, end_line=end_line or line, end_column=end_column)


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("unknown_feature", at(1, 16)),
        ("  lexical +  nope  ", at(12, 16)),  # of the trimmed text
        ("lexical +\n  nope", at(3, 7, line=2)),
        ("lexical\r\n+ nope", at(3, 7, line=2)),
        ("1 + log1p(citations)", at(11, 20)),
        ("min(1)", at(1, 7)),
        ("nope(1)", at(1, 5)),
        ("1 + 'a'", at(5, 6)),
        ("1 +", at(4, 4)),
        ("(1", at(1, 2)),
        ("1 < 2 < 3", at(7, 8)),
        ("2 * (\ntrue\n)", at(5, 2, line=1, end_line=3)),
        ("𝒳 + 1", at(1, 2)),
    ],
)
def test_places_are_lines_and_columns_from_one(text: str, position: Position) -> None:
    assert refused(text).position == position


def test_a_run_names_the_node_that_failed() -> None:
    with pytest.raises(ProgramError) as found:
        execute(compiled("1 +\n 2 / (lexical - 0.75)"), GivenFeatures(*[A_ROW] * 3), 3)
    assert found.value.position == at(2, 22, line=2)


def test_a_message_repeats_nothing_of_the_program() -> None:
    for text in ("secret_word", "secret_word(1)", "'secret_word'", "1 secret_word"):
        assert "secret" not in refused(text).message


# --- size -------------------------------------------------------------------------------------------------------------


def test_the_size_counts_the_fields_as_submitted() -> None:
    empty = len('{"language":"qatlas-expr-v1","score":""}')
    compiled("1" + " " * (4_096 - empty - 1))
    with pytest.raises(ProgramTooLarge) as found:
        compiled("1" + " " * (4_096 - empty))
    assert (found.value.status, found.value.code) == (413, "scorer_too_large")
    with pytest.raises(ProgramTooLarge):
        check_size(
            {
                "language": "qatlas-expr-v1",
                "score": "1" + " " * (4_096 - empty - 1),
                "filter": "true",
            }
        )


def test_characters_are_counted_in_utf8() -> None:
    with pytest.raises(ProgramTooLarge):
        compile_program(a_program("é" * 2_100))
    assert refused("é" * 2_000).code == "syntax"


def test_of_two_wrong_expressions_the_filter_is_named() -> None:
    assert refused("nope", "nope").field == "filter"
    assert refused("1 +", "nope").field == "score"  # nothing is checked before both are read
