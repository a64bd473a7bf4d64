"""The loop's bounds at its largest: what is asked, what is kept back, and what is told of the rest."""

from typing import Any

from msgspec.structs import replace

from scoring.screening.round_pool import quotas
from tests.conformance.jev_world import World
from workers.screening.report import page_base, results_of

HARNESS: dict[str, Any] = {
    "engines": ["bing", "ddg", "yahoo"],
    "row_template": {
        "url": "https://source{i}.test/article",
        "title": "Evidence {i}",
        "snippet": "Note {i}: item {i} describes the rollout and lists the concrete recovery steps.",
        "score": 1,
    },
    "judge_defaults": {
        "plan_engine": 0.9,
        "relevance": 0.9,
        "reading_value": 0.8,
        "injection": 0.02,
        "direction_match": 0.9,
        "time_match": 0.9,
        "keyword_match": 0.9,
        "topic_match": 0.9,
        "kind": "lead",
        "keyword_judge": "satisfied",
        "choice_confidence": 0.9,
    },
}


def ran(**case: Any) -> World:
    world = World({"search": [], "judge": [], **case}, HARNESS)
    world.run()
    return world


def requests(world: World, phase: str) -> list[dict[str, Any]]:
    return [each for each in world.requests if each["phase"] == phase]


def twelve_targets() -> dict[str, Any]:
    return {
        "tasks": [
            {
                "context": f"Task {task}",
                "targets": [
                    {
                        "id": f"t{at}",
                        "keywords": [f"word {task} {at}"],
                        "question": f"What of {task} {at}?",
                    }
                    for at in range(4)
                ],
            }
            for task in range(3)
        ]
    }


def test_500_addresses_for_12_targets_are_reviewed_until_only_the_decisions_are_left() -> None:
    # Every target keeps three HTTP attempts for its decision: 80 - 3 * 12 = 44, of which the plan used one and each
    # review needs three in reserve: 1 + (n - 1) + 3 * 13 <= 80 gives n = 41.
    world = ran(
        input=twelve_targets(),
        search=[{"rows": [{"range_by_quota": True, "stride": 500}]}],
        limits={"maxRounds": 1},
    )
    reviews = requests(world, "source_judge")
    assert len(reviews) == 41
    assert all(each["fits"] for each in world.requests)
    assert sum(len(each["state"]["candidates"]) for each in reviews) == 41 * 24
    assert world.state.pool.size == 500
    page = page_base(world.state, "budget_rounds")
    assert page.pending_assessments == 12 * 500 - 41 * 24
    kinds = [each.kind for each in world.state.remarks]
    assert "drain_paused_for_headroom" in kinds


def test_every_target_gets_its_turn_in_a_batch() -> None:
    world = ran(
        input=twelve_targets(),
        search=[{"rows": [{"range_by_quota": True, "stride": 500}]}],
        limits={"maxRounds": 1},
    )
    for each in requests(world, "source_judge"):
        turns = [candidate["for_question"] for candidate in each["state"]["candidates"]]
        assert sorted(turns) == sorted([f"q{at}" for at in range(1, 13)] * 2)


def test_the_pool_of_a_round_is_shared_by_targets() -> None:
    world = ran(
        input=twelve_targets(),
        search=[{"rows": [{"range_by_quota": True, "stride": 500}]}],
        limits={"maxRounds": 1},
    )
    assert [each["maxResults"] for each in world.searches] == [42] * 8 + [41] * 4


def test_one_keyword_and_500_addresses_take_23_requests() -> None:
    world = ran(
        input={"questions": ["What is alpha?"], "keywords": ["alpha"]},
        search=[{"rows": [{"range": [0, 500]}]}],
    )
    assert len(requests(world, "source_judge")) == 21
    assert world.state.spent.calls == 23
    assert len(results_of(world.state)) == 500


def test_a_keyword_satisfied_at_once_takes_three_requests_and_one_search() -> None:
    world = ran(input={"questions": ["What is alpha?"]}, search=[{"rows": [{"i": 1}]}])
    assert (world.state.spent.calls, world.state.spent.searches) == (3, 1)


def test_one_keyword_has_at_most_four_searches() -> None:
    world = ran(
        input={
            "tasks": [
                {"context": "c", "targets": [{"id": "a", "keywords": ["k"], "question": "q"}]}
            ]
        },
        search=[{"rows": []}],
        judge=[{"phase": "keyword_judge", "value": "continue"}],
    )
    assert len(world.searches) == 4
    assert world.state.stop == "no_action"


def test_searches_end_with_their_budget_while_one_is_still_untried() -> None:
    world = ran(
        input={
            "tasks": [
                {"context": "c", "targets": [{"id": "a", "keywords": ["k"], "question": "q"}]}
            ]
        },
        search=[{"rows": []}],
        judge=[{"phase": "keyword_judge", "value": "continue"}],
        limits={"maxSearchCalls": 2},
    )
    assert (len(world.searches), world.state.stop) == (2, "budget_calls")


def test_estimated_tokens_are_reserved_before_sending() -> None:
    world = ran(
        input={"questions": ["What is alpha?"]},
        search=[{"rows": [{"i": 1}]}],
        limits={"maxJevInputTokens": 100},
    )
    assert (world.requests, world.state.stop) == ([], "budget_tokens")


def test_a_job_has_a_bound_of_addresses_over_all_rounds() -> None:
    world = World(
        {
            "input": {"questions": ["What is alpha?"]},
            "search": [{"rows": [{"range": [0, 40]}]}],
            "judge": [],
        },
        HARNESS,
    )
    frame = world.state.frame
    small = replace(frame, limits=replace(frame.limits, total_pool=30))
    world.state.frame = small
    world.state.pool._most = 30  # the bound that a larger limit would need 3,000 rows to reach
    world.run()
    assert world.state.pool.size == 30
    assert "pool_full" in [each.kind for each in world.state.remarks]


def test_quotas_share_the_whole_limit() -> None:
    assert quotas(500, [1] * 12) == [42] * 8 + [41] * 4
    assert quotas(100, [3, 1]) == [75, 25]
    assert quotas(24, [0, 2]) == [8, 16]


def test_the_same_replies_give_the_same_run() -> None:
    case = {
        "input": twelve_targets(),
        "search": [{"rows": [{"range_by_quota": True, "stride": 500}]}],
        "judge": [{"phase": "keyword_judge", "value": "continue", "keyword_index": 0}],
        "limits": {"maxPoolRowsPerRound": 60, "maxRounds": 3},
    }
    first, second = ran(**case), ran(**case)
    assert first.requests == second.requests
    assert first.searches == second.searches
    assert results_of(first.state) == results_of(second.state)
