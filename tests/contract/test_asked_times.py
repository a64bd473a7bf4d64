"""A question names a month: the page about another time is no answer, whichever page comes first, over real HTTP."""

from collections.abc import Sequence

import pytest
from signal_search.contracts.result import Result, StopReason

from infra.loopback_web import LoopbackWeb
from infra.loopback_web.faults import Fault
from infra.loopback_web.server import hosts
from tests.fakes.walk import Walk, settings_for

QUESTION = "How much did the Merrin Sound tidal array deliver in May?"
PLAIN = "How much did the tidal array deliver in May?"  # the article is named after what it asks
OF_2024 = "site:http://harbour.test/energy/tidal-array"
OF_MAY = "site:http://news.test/2026/05/28/tidal-array-record"


def answered(redis_url: str, web: LoopbackWeb, question: str, sources: Sequence[str]) -> Result:
    walk = Walk(settings_for(redis_url, hosts(web.port)))
    walk.ask(question, *sources)
    [result] = walk.results("job_1")
    return result


@pytest.mark.parametrize("sources", [(OF_2024, OF_MAY), (OF_MAY, OF_2024)])
@pytest.mark.parametrize("late", ["harbour.test", "news.test"])
@pytest.mark.parametrize("question", [QUESTION, PLAIN])
@pytest.mark.usefixtures("redis")
def test_the_page_of_the_month_answers_in_every_order(
    redis_url: str, web: LoopbackWeb, question: str, sources: tuple[str, str], late: str
) -> None:
    web.faults.add(Fault(host=late, latency_s=0.3, count=None))
    result = answered(redis_url, web, question, sources)
    first = result.findings[0]
    assert result.stop.coverage == 1
    if question == PLAIN:
        assert result.stop.reason is StopReason.AGREEMENT
    assert "7.4 gigawatt hours in May" in first.text
    assert first.label == ""
    assert "asked_time_not_found" not in {each.reason for each in result.uncertainties}
    assert {each.label for each in result.findings if "2024" in each.text} <= {"other_time"}


@pytest.mark.usefixtures("redis")
def test_the_page_of_another_time_alone_is_shown_and_said_to_be_none(
    redis_url: str, web: LoopbackWeb
) -> None:
    result = answered(redis_url, web, QUESTION, [OF_2024])
    assert result.stop.reason is not StopReason.AGREEMENT
    assert result.stop.coverage == 0
    assert {each.label for each in result.findings} == {"other_time"}
    [missing] = [each for each in result.uncertainties if each.reason == "asked_time_not_found"]
    assert missing.text == f"Nothing was found for May: {QUESTION}"
    assert missing.text in result.answer
    assert "Not known to be of the time that was asked for" in result.answer


@pytest.mark.usefixtures("redis")
def test_the_year_that_the_page_names_is_answered_by_it(redis_url: str, web: LoopbackWeb) -> None:
    question = QUESTION.replace("May", "2024")
    result = answered(redis_url, web, question, [OF_2024])
    assert result.stop.reason is StopReason.AGREEMENT
    assert "71 gigawatt hours in 2024" in result.findings[0].text
    assert (result.findings[0].label, result.uncertainties) == ("", ())
