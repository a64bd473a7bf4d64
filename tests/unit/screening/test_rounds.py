"""What rounds do with material that changes, answers that stay missing, topics, dates and targets that are the same."""

from typing import Any

import pytest

from scoring.screening.progress import Material, standing, take
from tests.unit.screening.test_loop_bounds import ran, requests
from workers.screening.material import pending_count
from workers.screening.report import page_base, progress_of, results_of

ONE: dict[str, Any] = {
    "tasks": [
        {
            "context": "Pointer check",
            "targets": [{"id": "a", "keywords": ["alpha"], "question": "What is alpha about?"}],
        }
    ]
}
MATCH = {"phase": "source_judge", "field": "keyword_match"}


def kinds(world: Any) -> list[str]:
    return [each.kind for each in world.state.remarks]


def statuses(world: Any) -> list[str]:
    return [each.status for each in progress_of(world.state)]


# --- answers that stay missing ----------------------------------------------------------------------------------------


def test_a_match_that_stays_unknown_is_asked_twice_and_then_blocks_nothing() -> None:
    world = ran(
        input=ONE,
        search=[{"rows": [{"i": 1}]}],
        judge=[{**MATCH, "value": "__omit__"}, {"phase": "keyword_judge", "value": "exhausted"}],
    )
    assert len(requests(world, "source_judge")) == 2
    assert (world.state.stop, statuses(world)) == ("keyword_queue_empty", ["exhausted"])
    assert {"exhaustion_rejected", "match_retries_exhausted"} <= set(kinds(world))
    targets = [one.target for one in world.state.targets]
    assert pending_count(world.state, targets) == 1  # unknown is not turned into "no"


def test_a_later_review_keeps_what_an_earlier_one_knew() -> None:
    world = ran(
        input=ONE,
        search=[{"rows": [{"i": 1}]}],
        judge=[
            {
                "phase": "source_judge",
                "field": "reading_value",
                "value": "__omit__",
                "phase_call_lte": 1,
            },
            {**MATCH, "value": 0.8, "phase_call_lte": 1},
            {**MATCH, "value": "__omit__"},
        ],
    )
    [only] = [each for one in world.state.targets for each in world.state.pool.of(one.target)]
    assert only.judgement is not None
    assert only.judgement.keywords == {"alpha": 0.8}
    assert statuses(world) == ["satisfied"]


@pytest.mark.parametrize("phase", ["source_judge", "keyword_judge"])
def test_a_judge_that_fails_leaves_keywords_pending_and_says_so(phase: str) -> None:
    world = ran(input=ONE, search=[{"rows": [{"i": 1}]}], fail=[phase])
    assert (world.state.stop, statuses(world)) == ("jev_unavailable", ["pending"])
    assert "judge_failed" in kinds(world)
    assert len(results_of(world.state)) == (1 if phase == "keyword_judge" else 0)


def test_a_failed_batch_of_decisions_leaves_it_and_all_later_ones_pending() -> None:
    long = [
        f"{at} " + "word " * 17 for at in range(4)
    ]  # so long that four targets need several requests
    tasks = [
        {
            "context": "c" * 400,
            "targets": [
                {
                    "id": f"t{at}",
                    "keywords": [f"{task}{at}{each}" for each in long],
                    "question": "q" * 400,
                }
                for at in range(4)
            ],
        }
        for task in range(3)
    ]
    world = ran(
        input={"tasks": tasks, "intent": "i" * 2000},
        search=[{"rows": [{"range": [0, 3]}]}],
        fail=["keyword_judge"],
    )
    assert set(statuses(world)) == {"pending"}
    assert len(requests(world, "keyword_judge")) == 1
    assert world.state.stop == "jev_unavailable"


# --- topics, intent, dates --------------------------------------------------------------------------------------------


def test_topics_are_asked_for_and_credited() -> None:
    facts = [{"id": "f1", "question": "When?"}, {"id": "f2", "question": "Why?"}]
    asked = {
        "tasks": [{"context": "c", "targets": [{**ONE["tasks"][0]["targets"][0], "facts": facts}]}]
    }
    world = ran(
        input=asked,
        search=[{"rows": [{"i": 1}]}],
        judge=[{"phase": "source_judge", "field": "topic_match", "keyword_index": 1, "value": 0.2}],
    )
    [progress] = progress_of(world.state)
    # u = 0.8, a match of 0.9 for the keyword and for one of two topics.
    assert progress.best == pytest.approx(0.72)
    assert progress.coverage == pytest.approx(0.36)
    assert progress.score == pytest.approx(0.25 * 0.72 + 0.9 * 0.36)


def test_a_text_outside_the_window_is_reviewed_and_not_shown() -> None:
    window = {"start": "2026-01-01", "end": "2026-01-31", "basis": "published"}
    world = ran(
        input={"tasks": [{**ONE["tasks"][0], "time_range": window}]},
        search=[
            {"rows": [{"i": 1, "published": "2026-02-01"}, {"i": 2, "published": "2026-01-15"}]}
        ],
    )
    assert [each.url for each in results_of(world.state)] == ["https://source2.test/article"]
    warnings = page_base(world.state, "keyword_queue_empty").warnings
    assert "texts left out by their dates: 1" in warnings


def test_equal_targets_are_searched_once_and_keep_their_places() -> None:
    target = {"id": "a", "keywords": ["alpha"], "question": "What is alpha about?"}
    world = ran(
        input={
            "tasks": [
                {"context": "Same", "targets": [target, {**target, "id": "b"}]},
                {"context": "Same", "targets": [{**target, "id": "c"}]},
            ]
        },
        search=[{"rows": [{"i": 1}]}],
    )
    assert len(world.searches) == 1
    rows = [(each.task_id, each.target_id, each.canonical_id) for each in progress_of(world.state)]
    assert rows == [("t1", "a", "q1"), ("t1", "b", "q1"), ("t2", "c", "q1")]
    [result] = results_of(world.state)
    assert [each.target_id for each in result.matches] == ["a", "b", "c"]


def test_questions_without_a_name_are_told_by_their_number() -> None:
    world = ran(input={"questions": ["One?", "Two?"]}, search=[{"rows": [{"i": 1}]}])
    assert [each.target_id for each in progress_of(world.state)] == ["q1", "q2"]


# --- sources ----------------------------------------------------------------------------------------------------------


def test_sources_that_were_not_asked_come_before_another_query() -> None:
    world = ran(
        input=ONE,
        search=[{"rows": []}],
        judge=[
            {"phase": "plan", "field": "ddg", "value": 0.9},
            {"phase": "plan", "value": 0.1, "field": "bing"},
            {"phase": "plan", "value": 0.1, "field": "yahoo"},
            {"phase": "keyword_judge", "value": "continue"},
        ],
    )
    asked = [(each["depth"], each["engineList"]) for each in world.searches[:3]]
    assert asked == [
        ("medium", ["ddg"]),
        ("medium", ["bing", "yahoo"]),
        ("complex", ["bing", "ddg", "yahoo"]),
    ]


def test_a_text_with_too_few_words_is_no_material() -> None:
    world = ran(input=ONE, search=[{"rows": [{"i": 1, "snippet": "Two words"}]}])
    assert not requests(world, "source_judge")
    assert page_base(world.state, "no_action").pending_assessments == 0


def test_requests_fit_with_the_longest_input_and_texts() -> None:
    text = "字" * 600
    tasks = [
        {
            "context": "境" * 400,
            "targets": [
                {
                    "id": f"t{at}",
                    "keywords": [f"{task}{at}{word}" + "词" * 95 for word in range(4)],
                    "question": "问" * 400,
                    "intent": "意" * 1000,
                    "facts": [{"id": f"f{n}", "question": "事" * 400} for n in range(8)],
                }
                for at in range(4)
            ],
        }
        for task in range(3)
    ]
    world = ran(
        input={"tasks": tasks, "intent": "图" * 2000},
        search=[{"rows": [{"i": at, "snippet": f"{at} {text}"} for at in range(30)]}],
        limits={"maxRounds": 1},
    )
    assert all(each["fits"] for each in world.requests)
    assert requests(world, "source_judge")
    assert requests(world, "keyword_judge")


# --- what a decision is worth -----------------------------------------------------------------------------------------


def test_satisfied_rests_on_every_row_that_matched() -> None:
    first = Material(id="e1", version="a", is_assessed=True, is_useful=True, matches={"k": 0.9})
    second = Material(id="e2", version="b", is_assessed=True, is_useful=True, matches={"k": 0.6})
    taken = take("satisfied", 0.9, keyword="k", rows=[first, second], successes=1)
    assert standing(taken.decision, "k", [first, second]).status == "satisfied"
    changed = Material(id="e2", version="c", is_assessed=True, is_useful=True, matches={"k": 0.6})
    assert standing(taken.decision, "k", [first, changed]).reason == "keyword_material_changed"
    third = Material(id="e3", version="d", is_assessed=False)
    assert standing(taken.decision, "k", [first, second, third]).status == "satisfied"


def test_exhausted_is_reopened_by_anything_new() -> None:
    row = Material(id="e1", version="a", is_assessed=True)
    taken = take("exhausted", 0.9, keyword="k", rows=[row], successes=1)
    assert standing(taken.decision, "k", [row]).status == "exhausted"
    dated = Material(id="e1", version="a", published="2026-01-01", is_assessed=True)
    for rows in ([row, Material(id="e2", version="b")], [dated], []):
        assert standing(taken.decision, "k", rows).status == "continue"
