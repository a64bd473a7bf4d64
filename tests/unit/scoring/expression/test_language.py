"""What programs mean: values worked out by hand, in both executors."""

import math

import pytest

from scoring.expression.capabilities import ERROR_CODES, capabilities
from scoring.expression.evaluator import score_each
from scoring.expression.executor import Executor, execute
from scoring.expression.functions import FUNCTIONS
from scoring.expression.variables import FEATURES
from tests.fakes.scorer import A_ROW, GivenFeatures, compiled


@pytest.mark.parametrize(
    ("score", "expected"),
    [
        ("lexical\n+ 1", 1.75), ("lexical\t+\r\n1", 1.75), ("5.", 5.0), (".5", 0.5), ("1e+2", 100.0), ("1E2", 100.0),
        ("1.e2", 100.0), ("0", 0.0), ("0.0", 0.0), ("0e9", 0.0), ("1e-400", 0.0), ("5e-324", 5e-324),
        ("9007199254740993", 9007199254740992.0), ("--lexical", 0.75), ("+lexical", 0.75), ("-2 * 3", -6.0),
        ("2 * -3", -6.0), ("1 - 2 - 3", -4.0), ("8 / 4 / 2", 1.0), ("2 + 3 * 4", 14.0), ("(2 + 3) * 4", 20.0),
        ("1 - -1", 2.0), ("7 - 2 * 3 + 1", 2.0), ("12 / 2 * 3", 18.0), ("coalesce(citations, 7)", 7.0),
        ("coalesce(where(true, citations, year), 3)", 3.0), ("coalesce(lexical, 1)", 0.75), ("coalesce(year, 1/0)", 2021.0),
        ("where(lexical > 0, 1, 1/0)", 1.0), ("where(0.1+0.2==0.3,1,2)", 2.0), ("where(coalesce(true, false), 1, 2)", 1.0),
        ("log1p(-0.9999999999999999)", math.log1p(-0.9999999999999999)), ("exp(709.782712893384)", math.exp(709.782712893384)),
        ("exp(-1000)", 0.0), ("clamp(1, 2, 2)", 2.0), ("clamp(5, 1, 3)", 3.0), ("clamp(-5, 1, 3)", 1.0), ("clamp(2, 1, 3)", 2.0),
        ("abs(-3)", 3.0), ("min(1, 2)", 1.0), ("max(1, 2)", 2.0), ("sqrt(2.25)", 1.5), ("year - 2000", 21.0),
    ],
)  # fmt: skip
def test_values(score: str, expected: float) -> None:
    if score.startswith("year"):
        score = score.replace("year", "coalesce(year, 0)")
    check(score, "true", expected)


@pytest.mark.parametrize(
    ("score", "sign"),
    [("-0", -1), ("sqrt(-0)", -1), ("min(0, -0)", 1), ("min(-0, 0)", -1), ("max(-0, 0)", -1), ("abs(-0)", 1), ("+-0", -1)],
)  # fmt: skip
def test_the_sign_of_zero(score: str, sign: int) -> None:
    for scored in both(score, "true"):
        assert math.copysign(1, scored[0]) == sign


@pytest.mark.parametrize(
    "text",
    [
        "not 1 > 2", "not true == false", "true or false and false", "true == true", "true != false", "not is_missing(lexical)",
        "not is_missing(true)", "lexical > 0 or 1/0 > 0", "is_missing(citations)", "(1 < 2) == (2 < 3)", "false == (1 > 2)",
        "where(true, true, false)", "1 <= 1", "1 >= 1", "1 != 2", "-0 == 0", "true and true and not false",
    ],
)  # fmt: skip
def test_conditions_that_hold(text: str) -> None:
    check("1", text, 1.0)
    check("1", f"not ({text})", None)


@pytest.mark.parametrize(
    ("sign", "below", "equal", "above"),
    [("<", 1, 0, 0), ("<=", 1, 1, 0), (">", 0, 0, 1), (">=", 0, 1, 1), ("==", 0, 1, 0), ("!=", 1, 0, 1)],
)  # fmt: skip
def test_comparisons_with_a_number_on_either_side(
    sign: str, below: int, equal: int, above: int
) -> None:
    features = rows(0.25, 0.5, 0.75)
    for text, expected in (
        (f"lexical {sign} 0.5", (below, equal, above)),
        (f"0.5 {sign} lexical", (above, equal, below)),
        (f"lexical {sign} (phrase + 0)", (below, equal, above)),  # 0.5 as well, but no literal
    ):
        run = execute(compiled("-source_count", text), features, 3)
        assert run.scored.order == tuple(at for at in range(3) if expected[at])


@pytest.mark.parametrize(
    ("score", "expected"),
    [("lexical - 1", -0.25), ("1 - lexical", 0.25), ("3 / lexical", 4.0), ("lexical / 3", 0.25), ("2 * lexical", 1.5),
     ("lexical * 2", 1.5), ("1 + lexical", 1.75), ("lexical / phrase", 1.5), ("6 / 3", 2.0)],
)  # fmt: skip
def test_arithmetic_with_a_number_on_either_side(score: str, expected: float) -> None:
    check(score, "true", expected)


@pytest.mark.parametrize("text", ["lexical > 9 and 1/0 > 0", "false", "true and false and 1/0 > 0"])
def test_conditions_that_do_not(text: str) -> None:
    check("1/0", text, None)  # and the score is not run


def both(score: str, condition: str) -> list[tuple[float, ...]]:
    program = compiled(score, condition)
    features = GivenFeatures(*[A_ROW] * 3)
    by_columns = execute(program, features, 3, traced=True).scored
    assert by_columns == score_each(program, features, 3)
    return [by_columns.scores]


def check(score: str, condition: str, expected: float | None) -> None:
    (scores,) = both(score, condition)
    assert scores == (() if expected is None else (expected,) * 3)


# --- sets of candidates -----------------------------------------------------------------------------------------------


def rows(*lexicals: float) -> GivenFeatures:
    return GivenFeatures(*({**A_ROW, "lexical": each} for each in lexicals))


def test_the_best_come_first_and_ties_keep_their_order() -> None:
    scored = execute(compiled("lexical"), rows(0.5, 1.0, 0.5, 0.0, -0.0, 1.0), 6).scored
    assert scored.order == (1, 5, 0, 2, 3, 4)
    assert scored.scores == (1.0, 1.0, 0.5, 0.5, 0.0, -0.0)


def test_no_candidates_and_none_kept() -> None:
    assert execute(compiled("1/0"), rows(), 0).scored.order == ()
    assert execute(compiled("1/0", "lexical > 1"), rows(0.1, 0.2, 0.3), 3).scored.order == ()


def test_features_are_read_for_the_candidates_that_need_them() -> None:
    features = rows(0.1, 0.9, 0.2, 0.8)
    program = compiled("where(lexical > 0.85, phrase, source_count)", "lexical >= 0.5")
    execute(program, features, 4)
    read = {name: {row for each, row in features.read if each == name} for name in FEATURES}
    assert read["lexical"] == {0, 1, 2, 3}
    assert read["phrase"] == {1}
    assert read["source_count"] == {3}
    assert read["citations"] == set()


@pytest.mark.parametrize(
    ("condition", "kept"),
    [
        ("lexical > 0.3 and 1 / (lexical - 0.1) < 3", (2, 3)),  # the first would divide by 0
        ("lexical > 0.3 and lexical < 0.8 and 1 / (lexical - 0.9) < 0", (1, 2)),
        ("lexical < 0.3 or 1 / (lexical - 0.1) < 3", (0, 2, 3)),
        ("lexical == 0.1 or lexical == 0.7 or 1 / (lexical - 0.7) > 4", (0, 2, 3)),
        ("where(lexical < 0.5, lexical < 0.3, 1 / (lexical - 0.4) < 3)", (0, 3)),
        ("coalesce(where(lexical > 0.5, citations, lexical), 1 / (lexical - 0.1)) > 1.2", (2, 3)),
    ],
)
def test_candidates_that_go_different_ways(condition: str, kept: tuple[int, ...]) -> None:
    """Lexical is .1, .4, .7 and .9; a fault of a part that is not reached is none."""
    features = rows(0.1, 0.4, 0.7, 0.9)
    scored = execute(compiled("1", condition), features, 4).scored
    assert scored.order == kept
    assert scored == score_each(compiled("1", condition), features, 4)


def test_a_program_made_ready_runs_again() -> None:
    ready = Executor(compiled("lexical * 2"), traced=True)
    first = ready.run(rows(0.1, 0.2, 0.3), 3)
    second = ready.run(rows(0.4, 0.3, 0.2), 3)
    assert (first.scored.order, second.scored.order) == ((2, 1, 0), (0, 1, 2))
    assert first.steps[0].column == [0.1, 0.2, 0.3]


# --- the hash and the normal form -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("lexical + 1", "(lexical)+(1)"), ("lexical + 1", "lexical + 1.0"), ("100", "1e2"), ("0.5", ".5"), ("0.5", "5e-1"),
        ("1", " \n1 "), ("where(true and true and false, 1, 2)", "where((true and true) and false, 1, 2)"),
        ("9007199254740993", "9007199254740992"), ("lexical - 1 - 2", "(lexical - 1) - 2"),
    ],
)  # fmt: skip
def test_spelling_does_not_change_the_hash(one: str, other: str) -> None:
    assert compiled(one).hash == compiled(other).hash


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("lexical + 1", "1 + lexical"), ("lexical + 1", "lexical - -1"), ("lexical", "+lexical"), ("lexical", "phrase"),
        ("1 - (2 - 3)", "1 - 2 - 3"), ("1", "2"), ("0", "-0"), ("2", "1 + 1"),
        ("where(true and (true and false), 1, 2)", "where(true and true and false, 1, 2)"), ("min(1, 2)", "max(1, 2)"),
    ],
)  # fmt: skip
def test_nothing_is_folded_or_reordered(one: str, other: str) -> None:
    assert compiled(one).hash != compiled(other).hash


def test_filter_and_score_have_their_places_in_the_hash() -> None:
    assert compiled("1", "1 > 2").hash != compiled("2", "1 > 2").hash
    assert compiled("1").hash == compiled("1", " true ").hash


def test_the_hash_is_the_digest_of_the_published_form() -> None:
    """Computed here from the text of the form, not by the product."""
    from hashlib import sha256  # noqa: PLC0415

    form = (
        '["qatlas-expr-v1","academic-features-1",[">=",["feature","lexical"],["literal","0x1.0000000000000p-1"]],'
        '["neg",["feature","phrase"]]]'
    )
    assert compiled("-phrase", "lexical >= .5").hash == sha256(form.encode()).hexdigest()


def test_the_normal_form_is_trimmed_and_complete() -> None:
    program = compiled(" lexical\n", "\ttrue ")
    assert (program.normal.filter, program.normal.score) == ("true", "lexical")
    assert (program.nodes, program.depth) == (6, 3)


# --- capabilities -----------------------------------------------------------------------------------------------------


def test_capabilities_name_everything() -> None:
    found = capabilities(generation_available=True)
    assert set(found["features"]) == set(FEATURES)
    assert set(found["functions"]) == set(FUNCTIONS)
    assert found["features"]["citations"]["nullable"] is True
    assert found["features"]["lexical"]["nullable"] is False
    assert found["limits"]["nodes"] == 256
    assert found["generation_available"] is True
    assert set(found["error_codes"]) == set(ERROR_CODES)
    assert "generation_available" not in capabilities(generation_available=None)


def test_every_function_has_what_runs_it() -> None:
    arguments = {
        "x": "lexical",
        "condition": "true",
        "lo": "0",
        "hi": "1",
        "a": "1",
        "b": "2",
        "fallback": "1",
    }
    for name, function in FUNCTIONS.items():
        call = f"{name}({', '.join(arguments[each] for each in function.args)})"
        both("1", call) if function.returns == "boolean" else both(call, "true")
