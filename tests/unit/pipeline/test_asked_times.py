"""A value of another time ends no search, closes no sub-question and does not lead; it is shown, and said to be none."""

import itertools
from datetime import date
from typing import Any

import pytest
from signal_search.contracts.plan import PlannedCall, SubQuestion
from signal_search.contracts.query import RetrieveRequest, Tier
from signal_search.contracts.result import Result, StopReason

from infra.settings import load
from tests.fakes.builders import (
    NOW_MS,
    a_document,
    a_job,
    a_log,
    finished,
    queued,
    started,
    stopped,
)
from workers.pipeline.decide import Decision, decide
from workers.pipeline.evidence import asked_on
from workers.pipeline.news import News
from workers.pipeline.publish import publish
from workers.pipeline.reading import Reading
from workers.pipeline.rules import snapshot
from workers.pipeline.state import JobView, fold

RULES = snapshot(load())
QUESTION = "How much did the tidal array deliver in May?"
CHINESE = "潮汐阵列5月发电多少？"
# Beside the value, each page has words of its own: pages that say the same are one voice.
PAGES = {
    each.doc_id: each
    for each in (
        a_document(doc_id="year", url="https://a.org/", site="a.org", title="The tidal array", published="2026-04-10",
                   text="The tidal array did deliver 71 gigawatt hours in 2024. The cable comes ashore at the quay."),
        a_document(doc_id="month", url="https://b.org/", site="b.org", title="Tidal array news", published="2026-05-28",
                   text="The array delivered 7.4 gigawatt hours in May. All the turbines were in the water."),
        a_document(doc_id="older", url="https://c.org/", site="c.org", title="A tidal array", published="2024-02-01",
                   text="In 2023 the tidal array was to deliver 65 gigawatt hours. A crane lifts each turbine."),
        a_document(doc_id="zh-year", url="https://d.org/", site="d.org", title="潮汐阵列", language="zh",
                   text="潮汐阵列2024年发电71吉瓦时。电缆在东码头上岸。"),
        a_document(doc_id="zh-month", url="https://e.org/", site="e.org", title="潮汐阵列消息", language="zh",
                   text="潮汐阵列五月份发电7.4吉瓦时。涡轮机全部在水中。"),
    )
}  # fmt: skip


def planned(question: str, *doc_ids: str, tier: Tier) -> dict[str, Any]:
    terms = ("潮汐阵列", "发电") if question == CHINESE else ("tidal array", "deliver")
    return {
        "query": question,
        "language": "zh" if question == CHINESE else "en",
        "tier": tier,
        "questions": (SubQuestion(id="q1", text=question, terms=terms),),
        "calls": tuple(
            PlannedCall(id=f"q1.{each}", source_id=each, question_id="q1") for each in doc_ids
        ),
    }


def a_view(question: str, asked: tuple[str, ...], came: tuple[str, ...], *more: Any, tier: Tier = Tier.L0) -> JobView:  # fmt: skip
    """The sources `asked` in this order, each with the page of its name, of which `came` have come."""
    log = [started(f"q1.{each}", 1) for each in asked]
    log += [queued(f"q1.{each}#1", PAGES[each].url, kind="page") for each in asked]  # type: ignore[misc]
    ends = [finished(f"q1.{each}#1", each) for each in came]
    job = a_job(request=RetrieveRequest(query=question))
    return fold(a_log(*log, *ends, *more, job=job, **planned(question, *asked, tier=tier)))


def decided(question: str, asked: tuple[str, ...], came: tuple[str, ...], tier: Tier = Tier.L0) -> Decision:  # fmt: skip
    return decide(a_view(question, asked, came, tier=tier), PAGES, RULES, now_ms=NOW_MS + 10)


def published(question: str, *came: str) -> Result:
    return publish(a_view(question, came, came, stopped(*came)), PAGES, RULES)


@pytest.mark.parametrize(
    ("question", "wrong", "right"),
    [(QUESTION, "year", "month"), (CHINESE, "zh-year", "zh-month")],
)
def test_the_page_of_another_time_does_not_end_the_search(
    question: str, wrong: str, right: str
) -> None:
    waiting = decided(question, (wrong, right), (wrong,))
    assert waiting.stop is None
    assert [(each.sites, each.agreeing, each.elsewhen) for each in waiting.evidence.questions] == [(0, 0, 1)]  # fmt: skip
    for asked in itertools.permutations((wrong, right)):
        over = decided(question, asked, asked)
        assert over.stop is not None
        assert over.stop.reason is StopReason.AGREEMENT
    first = decided(question, (right, wrong), (right,))
    assert first.stop is not None
    assert first.stop.reason is StopReason.AGREEMENT


def test_two_pages_of_other_times_close_no_sub_question() -> None:
    found = decided(QUESTION, ("year", "older"), ("year", "older"), Tier.L2)
    assert [each.sites for each in found.evidence.questions] == [0]
    assert found.stop is None or found.stop.reason is not StopReason.CHECKLIST_CLOSED


def test_pages_of_other_times_alone_are_no_lack_of_evidence() -> None:
    found = decided(QUESTION, ("year",), ("year",))
    assert found.stop is not None
    assert (found.stop.reason, found.stop.coverage) == (StopReason.PLAN_COMPLETE, 0.0)


@pytest.mark.parametrize("came", list(itertools.permutations(("year", "month", "older"))))
def test_the_value_of_the_asked_time_leads_in_every_order(came: tuple[str, ...]) -> None:
    result = published(QUESTION, *came)
    assert "7.4" in result.findings[0].text
    assert [each.label for each in result.findings] == ["", "other_time", "other_time"]
    assert "asked_time_not_found" not in {each.reason for each in result.uncertainties}


@pytest.mark.parametrize(
    ("question", "page", "text", "label"),
    [
        (QUESTION, "year", f"Nothing was found for May: {QUESTION}", "Not known to be of the time"),
        (CHINESE, "zh-year", f"未找到5月的内容：{CHINESE}", "未能确认属于所问的时间"),
    ],
)
def test_without_it_the_result_says_so(question: str, page: str, text: str, label: str) -> None:
    result = published(question, page)
    assert [each.label for each in result.findings] == ["other_time"]
    assert [each.text for each in result.uncertainties if each.reason == "asked_time_not_found"] == [text]  # fmt: skip
    assert text in result.answer
    assert label in result.answer


def test_last_year_is_counted_from_the_day_of_the_job() -> None:
    question = SubQuestion(id="q1", text="How much did the tidal array deliver last year?", terms=("tidal array",))  # fmt: skip
    pages = [
        a_document(text=f"The tidal array did deliver 73 gigawatt hours in {year}.")
        for year in (2024, 2025, 2026)
    ]
    today = asked_on(a_view(QUESTION, ("older",), ("older",)))
    assert today == date(2026, 9, 21)  # 1,790,000,000 s after the epoch
    found = [bool(Reading([each], RULES.verify, today).answering(question)) for each in pages]
    assert found == [False, True, False]


def test_a_value_of_another_time_is_no_news_but_a_site_with_it_has_spoken() -> None:
    question = planned(QUESTION, tier=Tier.L0)["questions"][0]
    reading = Reading([PAGES["year"], PAGES["month"]], RULES.verify)
    news = News([question], reading)
    assert [news.of([PAGES[each]]) for each in ("year", "month")] == [0, 1]
    assert News([question], reading, of_asked_time=False).of([PAGES["year"]]) == 1


def test_of_a_page_with_both_the_sentence_of_the_asked_time_is_quoted() -> None:
    both = a_document(
        doc_id="both",
        title="The tidal array",
        text="The tidal array did deliver 71 gigawatt hours in 2024. In May the array gave 7.4 gigawatt hours.",
    )
    question = SubQuestion(id="q1", text=QUESTION, terms=("tidal array", "deliver"))
    [first, *_] = Reading([both], RULES.verify).passages(question, both)
    assert first.span.quote == "In May the array gave 7.4 gigawatt hours."
