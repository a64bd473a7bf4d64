"""The wording of an answer: how sure it sounds, both sides of a conflict, what is retracted, by sub-question."""

from typing import Any

import pytest
from signal_search.contracts.finding import Claim, Conflict, Finding, Span, Uncertainty, Verdict

from tests.fakes.results import a_source
from workers.synthesis.answer import write_answer

HIGH = "Mount Ansel is 2,114 metres high."
LOW = "Mount Ansel is 2,014 metres high."
FIRST = a_source(1, title="Atlas", published="2019-05-01")
SECOND = a_source(2, title="Survey")
SOURCES = (FIRST, SECOND)


def finding(text: str = HIGH, *citations: int, **changes: Any) -> Finding:
    claim = Claim(text=text, verdict=Verdict.TRUE, reason="verbatim")
    values: dict[str, Any] = {"question_id": "q1", "question": "How high is it?", "confidence": 0.7}
    return Finding(
        text=text, claims=(claim,), citations=citations or (1, 2), **{**values, **changes}
    )


def span(number: int, quote: str) -> Span:
    source = SOURCES[number - 1]
    return Span(doc_id=source.doc_id, url=source.url, start=0, end=len(quote), quote=quote)


def conflict(weaker_weight: float = 0.4) -> Conflict:
    return Conflict(
        topic="Mount Ansel high", kind="number", stronger=span(1, HIGH), weaker=span(2, LOW),
        stronger_weight=0.8, weaker_weight=weaker_weight,
    )  # fmt: skip


def written(*findings: Finding, **changes: Any) -> str:
    values: dict[str, Any] = {
        "conflicts": (), "uncertainties": (), "sources": SOURCES, "language": "en", "confidence": 0.8,
    }  # fmt: skip
    return write_answer(findings, **{**values, **changes})


def test_several_sources_and_high_confidence_are_stated_plainly() -> None:
    assert written(finding()).startswith(f"**Answer**: {HIGH} [1][2]\n")


@pytest.mark.parametrize(("citations", "confidence"), [((1,), 0.8), ((1, 2), 0.69)])
def test_one_source_or_low_confidence_is_attributed_with_its_year(
    citations: tuple[int, ...], confidence: float
) -> None:
    text = written(finding(HIGH, *citations), confidence=confidence)
    assert text.startswith(f"**Answer**: According to Atlas (2019): {HIGH}")
    assert text.endswith(f"Confidence: {confidence:.2f}")


def test_a_source_without_a_date_is_named_without_a_year() -> None:
    assert "According to Survey: " in written(finding(HIGH, 2))


def test_chinese_words() -> None:
    text = written(finding("安塞尔山高 2114 米。", 1), language="zh", confidence=0.5)
    assert text.startswith("**先答**: 据《Atlas》（2019 年）：安塞尔山高 2114 米。 [1]")
    assert text.endswith("置信度: 0.50")


def test_what_may_be_of_another_time_says_so_wherever_it_stands() -> None:
    other = finding(HIGH, 1, label="other_time")
    assert written(other).startswith(
        "**Answer**: *Not known to be of the time that was asked for* — According to Atlas (2019): "
    )
    assert f"\n\n- *Not known to be of the time that was asked for* — {HIGH} [1]" in written(finding(), other)  # fmt: skip
    assert written(other, language="zh").startswith("**先答**: *未能确认属于所问的时间* — 据")


def test_both_sides_of_a_conflict_about_the_answer_follow_at_once_the_weaker_labelled() -> None:
    more = finding("It was first climbed in 1903.", 1)
    text = written(finding(), more, conflicts=(conflict(),))
    _lead, disputed, other, _confidence = text.split("\n\n")
    assert disputed == (
        f"**Sources disagree**:\n- {HIGH} [1] ↔ *An opposing view exists (weaker source)* — {LOW} [2]"
    )
    assert other.startswith("- It was first climbed")
    chinese = written(finding(), conflicts=(conflict(),), language="zh")
    assert "存在相反观点（低可信源）* — " in chinese


def test_sides_of_one_weight_are_not_called_weaker() -> None:
    assert "weaker" not in written(finding(), conflicts=(conflict(0.8),))


def test_a_conflict_about_something_else_comes_after_the_findings() -> None:
    first, more = finding("It was first climbed in 1903."), finding("The path is marked.", 1)
    parts = written(first, more, conflicts=(conflict(),)).split("\n\n")
    assert [each[:10] for each in parts] == ["**Answer**", "- The path", "**Sources ", "Confidence"]


def test_retracted_sources_are_said() -> None:
    withdrawn = a_source(2, title="A [bold] study", retracted=True)
    text = written(finding(), sources=(FIRST, withdrawn))
    assert "**Retracted or withdrawn, do not rely on it**:\n- A \\[bold\\] study [2]" in text
    assert "已撤稿或撤回" in written(finding(), sources=(FIRST, withdrawn), language="zh")


def test_findings_of_several_sub_questions_stand_below_their_questions() -> None:
    second = finding("Tea is grown there.", 2, question_id="q2", question="What grows there?")
    third = finding("So is rye.", 2, question_id="q2", question="What grows there?")
    assert (
        "**By sub-question**:\n- What grows there?\n  - Tea is grown there. [2]\n  - So is rye. [2]"
        in written(finding(), second, third)
    )
    assert "**分项**:" in written(finding(), second, language="zh")


def test_what_is_not_verified_is_listed_and_nothing_is_written_without_findings() -> None:
    open_point = Uncertainty(text="It is *new*", reason="no date")
    assert "**Not verified**:\n- It is \\*new\\*" in written(finding(), uncertainties=(open_point,))
    assert written(uncertainties=(open_point,)) == ""
