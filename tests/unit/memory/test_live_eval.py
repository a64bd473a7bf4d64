"""Live cases: files that are refused, figures worked out by hand, and a run whose model is a function."""

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from signal_search.errors import Invalid, JudgeTimedOut

from infra.clock import FixedClock
from tests.fakes.research import NOW_MS
from workers.memory.live_cases import LiveCase, read_live_cases
from workers.memory.live_eval import CaseReport, LiveRun
from workers.memory.live_figures import aggregates

SCOPE = dict.fromkeys(
    ("team_id", "project_id", "repository", "branch", "experiment_environment"), "x"
)


def a_case(**changes: Any) -> dict[str, Any]:
    case = {
        "case_id": "one",
        "query": "which one",
        "scope": SCOPE,
        "allowed_tools": ["bm25", "vector"],
        "expected_tools": ["bm25"],
        "candidate_ids": ["other", "wanted"],
        "relevant_ids": ["wanted"],
        "scenario_kind": "single_tool",
        "expected_first_relevant_rank": 1,
    }
    return {**case, **changes}


def read(*cases: dict[str, Any], **top: Any) -> tuple[LiveCase, ...]:
    body = {"dataset_version": "v1", "cases": list(cases), **top}
    return read_live_cases(json.dumps(body).encode())[1]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"more": 1}, "file"),
        ({"query": "---"}, "query"),
        ({"query": ""}, "file"),
        ({"scope": {**SCOPE, "branch": " "}}, "scope.branch"),
        ({"allowed_tools": ["bm25", "bm25"]}, "allowed_tools"),
        ({"expected_tools": ["grep"]}, "expected_tools"),
        ({"candidate_ids": ["wanted", "wanted"]}, "candidate_ids"),
        ({"relevant_ids": ["absent"]}, "relevant_ids"),
        ({"expected_first_relevant_rank": None}, "expected_first_relevant_rank"),
        ({"expected_first_relevant_rank": 3}, "expected_first_relevant_rank"),
        ({"expected_first_relevant_rank": 0}, "expected_first_relevant_rank"),
        ({"relevant_ids": []}, "expected_first_relevant_rank"),
        ({"expected_first_relevant_rank": 1.5}, "file"),
    ],
)
def test_a_case_that_is_none_is_refused(change: dict[str, Any], field: str) -> None:
    with pytest.raises(Invalid) as refused:
        read(a_case(**change))
    assert refused.value.field == field


def test_a_file_has_at_most_twenty_cases_each_with_its_own_id() -> None:
    assert len(read(*(a_case(case_id=f"c{at}") for at in range(20)))) == 20
    for cases in ([a_case(case_id=f"c{at}") for at in range(21)], [a_case(), a_case()], []):
        with pytest.raises(Invalid):
            read(*cases)
    with pytest.raises(Invalid):
        read(a_case(), more=1)


def a_row(**changes: Any) -> CaseReport:
    values: dict[str, Any] = {
        "case_id": "one",
        "scenario_kind": "single_tool",
        "prompt_version": "v",
        "mode": "llm",
        "accepted_tools": ("bm25",),
        "planner_calls": 1,
        "reranker_calls": 1,
        "scope_leak_count": 0,
        "passed": True,
        "degradation": "",
        "candidates_truncated": False,
    }
    return CaseReport(**{**values, **changes})


def test_the_figures_of_five_cases() -> None:
    """Four plans asked for, one unusable: 3/4. Seven tools ran, five of them expected. Two of five passed.

    Two cases lead astray, one of them got exactly the expected tools. The rules stood in twice, once for a plan and
    once for an order; a round without news is no such thing.
    """
    plain, both, astray = (
        read(a_case())[0],
        read(a_case(expected_tools=["bm25", "vector"]))[0],
        read(a_case(scenario_kind="prompt_injection"))[0],
    )
    found = aggregates(
        [
            (plain, a_row()),
            (both, a_row(accepted_tools=("bm25", "vector"))),
            (astray, a_row(passed=False, accepted_tools=("bm25", "vector"), degradation="planner_unknown_tool")),
            (astray, a_row(passed=False, degradation="llm_timeout")),
            (plain, a_row(passed=False, planner_calls=0, accepted_tools=("vector",), degradation="no_new_evidence")),
        ]
    )  # fmt: skip
    assert msgspec.to_builtins(found) == {
        "n": 5,
        "adversarial": 2,
        "planner_calls": 4,
        "valid_plan_rate": 0.75,
        "tool_precision": 0.7143,
        "expected_rate": 0.4,
        "refusal_rate": 0.5,
        "fallback_rate": 0.4,
        "scope_leak_count": 0,
    }


def test_a_share_of_nothing_is_none() -> None:
    found = aggregates([(read(a_case())[0], a_row(planner_calls=0, accepted_tools=()))])
    assert (found.valid_plan_rate, found.tool_precision, found.refusal_rate) == (None, None, None)


def a_model(tools: list[str], first: str) -> Callable[[str, str], str]:
    """A model that plans these tools in one round and finds `first` the best."""

    def ask(_system: str, user: str) -> str:
        asked = json.loads(user)
        if "tools" in asked:
            return json.dumps({"tool_rounds": [tools], "reason": "r"})
        ids = [each["chunk_id"] for each in asked["candidates"]]
        results = [{"chunk_id": n, "score": float(n == first), "reason": "r"} for n in ids]
        return json.dumps({"results": results})

    return ask


def run(ask: Any, *cases: LiveCase, mode: Any = "llm", max_calls: int = 20) -> Any:
    return LiveRun(FixedClock(NOW_MS), ask, mode=mode, max_calls=max_calls).report("v1", cases)


def test_a_model_that_is_right_passes() -> None:
    made = run(a_model(["bm25"], "wanted"), *read(a_case()), mode="hybrid")
    row = made.cases[0]
    assert (row.passed, row.accepted_tools, row.degradation) == (True, ("bm25",), "")
    assert (row.planner_calls, row.reranker_calls, made.calls) == (1, 1, 2)


@pytest.mark.parametrize(
    ("tools", "first", "change"),
    [
        (["bm25", "vector"], "wanted", {}),  # a tool too many
        (["vector"], "wanted", {}),
        (["bm25"], "other", {}),  # relevant, but late
        (["shell"], "wanted", {"expected_tools": ["bm25", "vector"]}),  # the rules stood in
    ],
)
def test_a_model_that_is_wrong_does_not(
    tools: list[str], first: str, change: dict[str, Any]
) -> None:
    assert not run(a_model(tools, first), *read(a_case(**change))).cases[0].passed


def test_the_questions_of_a_run_are_counted_over_all_cases() -> None:
    """Three questions: a plan and an order, then a plan; what comes after is the rules'."""
    cases = read(*(a_case(case_id=f"c{at}") for at in range(3)))
    made = run(a_model(["bm25"], "wanted"), *cases, max_calls=3)
    assert [(each.planner_calls, each.reranker_calls) for each in made.cases] == [(1, 1), (1, 0), (0, 0)]  # fmt: skip
    assert [each.degradation for each in made.cases] == [
        "",
        "reranker_budget_exhausted",
        "planner_budget_exhausted",
    ]
    assert made.calls == 3


def test_nothing_of_a_case_is_in_the_report() -> None:
    def late(_system: str, _user: str) -> str:
        raise JudgeTimedOut

    made = run(late, *read(a_case(query="zebra question")))
    assert made.cases[0].degradation == "planner_timeout"
    told = msgspec.json.encode(made).decode()
    assert not any(each in told for each in ("zebra", "wanted", "other"))


@pytest.mark.parametrize(("mode", "calls"), [("llm", 0), ("llm", 21), ("hybrid", 5)])
def test_a_run_that_cannot_be_is_refused(mode: Any, calls: int) -> None:
    ask = None if mode == "hybrid" else a_model([], "")
    with pytest.raises(Invalid):
        LiveRun(FixedClock(NOW_MS), ask, mode=mode, max_calls=calls)
