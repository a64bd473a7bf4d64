"""An adaptive page on the terminal: lines, languages and exit codes."""

from typing import Any

import pytest
from signal_search.cli.adaptive_render import adaptive_ending, adaptive_lines
from signal_search.cli.progress import describe
from signal_search.cli.texts import Texts
from signal_search.contracts.adaptive_result import (
    AdaptiveResult,
    AdaptiveStop,
    KeywordProgress,
    ScreenedResult,
)
from signal_search.contracts.judging import Judgements
from signal_search.contracts.trace import Screened

RESULT = ScreenedResult(
    url="https://e.test/a",
    title="A\x1b[31m title",
    description="One\nextract",
    value_score=0.784,
    direction_match=0.9,
    kind="lead",
    matches=(),
)
KEYWORD = KeywordProgress(
    target_id="a",
    task_id="t1",
    canonical_id="q1",
    keyword="alpha",
    status="satisfied",
    reason="keyword_satisfied",
    score=0.8,
    best=0.7,
    coverage=0.7,
    repeated=0.0,
    distinct_evidence=2,
    final_status="satisfied",
)


def a_page(**changes: Any) -> AdaptiveResult:
    values: dict[str, Any] = {
        "results": (RESULT,),
        "total_results": 3,
        "next_cursor": "id.1",
        "expires_at": None,
        "retrieval_sufficient": True,
        "keyword_progress": (KEYWORD,),
        "pending_assessments": 0,
        "stop_reason": "keyword_queue_empty",
        "warnings": ("careful",),
    }
    return AdaptiveResult(**{**values, **changes})


def test_a_page_in_lines() -> None:
    lines = [each.text for each in adaptive_lines(a_page(), Texts("en"))]
    assert lines[1:] == [
        "   https://e.test/a",
        "   One extract",
        "  a · alpha: satisfied, 2 independent results",
        "adaptive search: 1 of 3 shown; keyword_queue_empty; keyword search satisfied; completeness not assessed",
        "more: --cursor id.1",
        "  careful",
    ]
    assert lines[0].endswith("[lead] 0.78 0.90")


def test_a_page_in_chinese_says_that_completeness_was_not_assessed() -> None:
    lines = [each.text for each in adaptive_lines(a_page(retrieval_sufficient=False), Texts("zh"))]
    assert any("未完成或已穷尽" in each and "未评估答案是否完整" in each for each in lines)


@pytest.mark.parametrize(
    ("stop", "results", "code"),
    [
        ("keyword_queue_empty", (), 0),
        ("not_configured", (), 1),
        ("jev_unavailable", (), 1),
        ("jev_unavailable", (RESULT,), 3),
        ("budget_calls", (RESULT,), 3),
        ("deadline", (), 3),
        ("no_action", (RESULT,), 3),
        ("no_engines", (), 4),
    ],
)
def test_the_exit_code_tells_how_it_ended(
    stop: AdaptiveStop, results: tuple[ScreenedResult, ...], code: int
) -> None:
    assert adaptive_ending(a_page(stop_reason=stop, results=results)) == code


def test_what_the_judge_did_is_a_line_of_progress() -> None:
    entry = Screened(
        at_ms=0, key="k", number=1, phase="plan", driver="rule", tokens=5, said=Judgements()
    )
    assert describe(entry, Texts("en")) == "the judge answered 0 questions"
    failed = Screened(
        at_ms=0,
        key="k",
        number=1,
        phase="plan",
        driver="systemone",
        tokens=5,
        said=Judgements(error="overloaded"),
    )
    assert describe(failed, Texts("en")) == "the judge failed: overloaded"
