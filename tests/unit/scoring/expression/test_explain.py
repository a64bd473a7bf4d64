"""Explanations: what they say of a run, and how they are cut."""

import json

import pytest

from scoring.expression.executor import execute
from scoring.expression.explain import explanations
from tests.fakes.scorer import A_ROW, GivenFeatures, compiled


def explained(
    score: str, condition: str = "true", top: int = 1, budget_bytes: int = 65_536
) -> list:
    rows = [{**A_ROW, "lexical": lexical} for lexical in (0.25, 0.75, 0.5)]
    program = compiled(score, condition)
    run = execute(program, GivenFeatures(*rows), 3, traced=True)
    return list(explanations(program, run, top, budget_bytes=budget_bytes))


def position(column: int, end_column: int) -> dict[str, int]:
    return {"line": 1, "column": column, "end_line": 1, "end_column": end_column}


def test_a_whole_explanation() -> None:
    assert explained("lexical + coalesce(citations, 2)") == [
        {
            "candidate_index": 1,
            "final_score": 2.75,
            "features": {"lexical": 0.75, "citations": None},
            "filter": {"op": "literal", "value": True, "position": position(1, 5)},
            "score": {
                "op": "+",
                "value": 2.75,
                "position": position(1, 33),
                "args": [
                    {
                        "op": "feature",
                        "feature": "lexical",
                        "value": 0.75,
                        "position": position(1, 8),
                    },
                    {
                        "op": "coalesce",
                        "value": 2.0,
                        "replaced": True,
                        "position": position(11, 33),
                        "args": [
                            {
                                "op": "feature",
                                "feature": "citations",
                                "value": None,
                                "position": position(20, 29),
                            },
                            {"op": "literal", "value": 2.0, "position": position(31, 32)},
                        ],
                    },
                ],
            },
        }
    ]


def shape(node: dict) -> object:
    """What was run: the value of a node, of skipped ones "skipped", of others with their arguments."""
    if node.get("skipped"):
        return "skipped"
    args = [shape(each) for each in node.get("args", [])]
    return (node["value"], *args) if args else node["value"]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("true and false or lexical > 0.7", (True, (False, True, False), (True, 0.75, 0.7))),
        ("true or 1/0 > 0", (True, True, "skipped")),
        ("false or true or 1/0 > 0", (True, False, True, "skipped")),
        ("not (false and 1/0 > 0)", (True, (False, False, "skipped"))),
        ("where(false, 1/0 > 0, true)", (True, False, "skipped", True)),
        ("where(true, true, 1/0 > 0)", (True, True, True, "skipped")),
        ("coalesce(lexical, 1/0) == 0.75", (True, (0.75, 0.75, "skipped"), 0.75)),
    ],
)
def test_what_was_skipped_is_told(condition: str, expected: object) -> None:
    (found,) = explained("lexical", condition)
    assert shape(found["filter"]) == expected


def test_branches_and_fallbacks_are_named() -> None:
    (found,) = explained("where(lexical > 0.7, coalesce(year, 1), 2) + where(lexical > 9, 1, 2)")
    chosen, other = found["score"]["args"]
    assert (chosen["branch"], other["branch"]) == ("then", "else")
    assert "replaced" not in chosen["args"][1]
    assert found["features"] == {"lexical": 0.75, "year": 2021.0}


def test_only_the_best_are_explained_in_order() -> None:
    found = explained("lexical", top=2)
    assert [each["candidate_index"] for each in found] == [1, 2]
    assert explained("lexical", top=0) == []
    assert explained("1/0", "false") == []


DEEP = "sqrt(abs(" * 12 + "lexical" + "))" * 12


def size(value: object) -> int:
    return len(json.dumps(value, separators=(",", ":")))


def depth(node: dict) -> int:
    return 1 + max((depth(each) for each in node.get("args", [])), default=-1)


@pytest.mark.parametrize("budget_bytes", [70, 400, 700, 1_500, 3_000, 5_000, 9_000])
def test_a_list_stays_within_its_budget_and_says_so(budget_bytes: int) -> None:
    whole = explained(DEEP, top=3)
    found = explained(DEEP, top=3, budget_bytes=budget_bytes)
    assert size(found) <= budget_bytes
    share = (budget_bytes - 4) // 3
    for each, full in zip(found, whole, strict=True):
        assert each.get("truncated", False) is (size(full) > share)
        if "score" in each:
            assert each["final_score"] == full["final_score"]


def test_a_cut_is_as_deep_as_it_fits() -> None:
    """One level more would not have fitted: a level is a node of some 90 bytes."""
    found = explained(DEEP, top=3, budget_bytes=4_000)
    share = (4_000 - 4) // 3
    for each in found:
        assert share - 130 < size(each) <= share
        assert 3 < depth(each["score"]) < 24
    assert len({depth(each["score"]) for each in found}) == 1


def test_unequal_neighbours_do_not_change_each_other() -> None:
    """The middle one runs a deep branch, the others a flat one."""
    score = f"where(lexical == 0.5, {DEEP.replace('lexical', '2')}, lexical)"
    found = explained(score, top=3, budget_bytes=4_500)
    by_index = {each["candidate_index"]: each for each in found}
    assert by_index[2].get("truncated")
    assert not by_index[0].get("truncated")
    assert not by_index[1].get("truncated")


def cut(node: dict, level: int) -> tuple[dict, bool]:
    """The same node to a level, and whether anything was left out."""
    if "args" not in node:
        return dict(node), False
    if level == 0:
        rest = {name: value for name, value in node.items() if name != "args"}
        return {**rest, "truncated": True}, True
    parts = [cut(each, level - 1) for each in node["args"]]
    return {**node, "args": [each for each, _ in parts]}, any(short for _, short in parts)


def expected_cut(full: dict, share: int) -> dict:
    """The greatest level that fits, found by trying all."""
    for level in range(32, -1, -1):
        (condition, one), (score, other) = cut(full["filter"], level), cut(full["score"], level)
        tried = {**full, "filter": condition, "score": score}
        if one or other:
            tried["truncated"] = True
        if size(tried) <= share:
            return tried
    return {"truncated": True}


@pytest.mark.parametrize(
    "budget_bytes", [900, 2_000, 3_000, 4_000, 5_000, 5_500, 6_000, 6_500, 8_000]
)
@pytest.mark.parametrize(
    "score",
    [
        DEEP,
        f"-{DEEP}",
        f"where(lexical == 0.5, {DEEP.replace('lexical', '1')}, {DEEP.replace('lexical', '0.123456789')})",
        f"-where(lexical == 0.5, {DEEP.replace('lexical', '1')}, {DEEP.replace('lexical', '0.123456789')})",
        f"where(lexical == 0.5, 9, {DEEP})",
        f"where(lexical == 0.5, -9, {DEEP})",
        f"where(lexical == 0.75, 1, 0) + {DEEP} + {DEEP} * 0",
    ],
)
def test_each_is_cut_as_if_it_were_alone(score: str, budget_bytes: int) -> None:
    whole = explained(score, top=3)
    found = explained(score, top=3, budget_bytes=budget_bytes)
    share = (budget_bytes - 4) // 3
    assert found == [expected_cut(each, share) for each in whole]


def test_the_last_resort() -> None:
    assert explained(DEEP, top=3, budget_bytes=100) == [{"truncated": True}] * 3
