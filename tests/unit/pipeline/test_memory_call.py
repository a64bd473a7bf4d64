"""Research memory in a plan: one call before all others, by the wish and the purse of the caller."""

from typing import Any

import pytest
from msgspec.structs import replace
from signal_search.contracts.budget import Budget
from signal_search.contracts.plan import ConstraintUse, PlannedCall
from signal_search.contracts.query import Constraints, RetrieveRequest, SourcePrefs

from tests.fakes.builders import a_plan
from tests.fakes.research import a_scope
from workers.pipeline.memory_call import is_local_only, step_of, with_memory

SCOPE = a_scope()


def a_request(budget: Any = None, **constraints: Any) -> RetrieveRequest:
    return RetrieveRequest(query="q", constraints=Constraints(**constraints), budget=budget)


def test_without_a_scope_a_plan_stays_as_it_is() -> None:
    plan = a_plan()
    assert with_memory(plan, a_request()) is plan
    blocked = SourcePrefs(block=("memory",))
    assert with_memory(plan, a_request(scope=SCOPE, source_prefs=blocked)) is plan


def test_memory_is_the_first_call_and_takes_no_other_ones_place() -> None:
    plan = a_plan(limits={"calls": 2})
    found = with_memory(plan, a_request(scope=SCOPE))
    assert [each.id for each in found.calls] == ["all.memory", "q1.one", "q1.two"]
    assert (found.calls[0].shared, found.calls[0].round) == (True, 1)
    assert found.limits == {"calls": 3}
    assert replace(found, calls=plan.calls, limits=plan.limits, constraint_use=()) == plan


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        (Budget(calls=2), ["all.memory", "q1.one"]),
        (Budget(calls=0), []),
        (Budget(tokens=5), ["all.memory", "q1.one", "q1.two"]),
        (5, ["all.memory", "q1.one", "q1.two"]),
    ],
)
def test_a_budget_of_calls_is_kept(budget: Any, expected: list[str]) -> None:
    most = budget.calls if isinstance(budget, Budget) and budget.calls is not None else 2
    found = with_memory(a_plan(limits={"calls": most}), a_request(budget, scope=SCOPE))
    assert [each.id for each in found.calls] == expected


def test_what_becomes_of_constraints_is_said() -> None:
    asked = a_request(scope=SCOPE, domain="a.org", freshness="py", language="en")
    [use] = with_memory(a_plan(), asked).constraint_use
    assert use == ConstraintUse(
        source_id="memory", applied_after=("language", "freshness"), not_honoured=("domain",)
    )


@pytest.mark.parametrize(
    ("only", "scope", "expected"),
    [
        (("memory",), SCOPE, True),
        (("memory", "memory"), SCOPE, True),
        (("memory", "arxiv"), SCOPE, False),
        ((), SCOPE, False),
        (("memory",), None, False),
    ],
)
def test_local_only_is_memory_by_name_and_nothing_else(
    only: tuple[str, ...], scope: Any, expected: bool
) -> None:
    wanted = Constraints(scope=scope, source_prefs=SourcePrefs(only=only))
    assert is_local_only(wanted) is expected


def test_memory_has_a_step_of_its_own() -> None:
    call = PlannedCall(id="all.memory", source_id="memory", question_id="*", shared=True)
    assert step_of("job_1", call) == "job_1/recall/all.memory"
    assert step_of("job_1", replace(call, id="q1.one", source_id="one")) == "job_1/crawl/q1.one"
