"""Whether a sentence is of the time that is asked about, by itself and by what stands around it; worked out by hand."""

from datetime import date

import pytest

from scoring.asked_time import asked_time, is_of_time
from scoring.text import sentences
from tests.fakes.builders import a_document

TODAY = date(2026, 11, 30)


def judged(
    question: str, text: str, *, title: str = "Array", published: str = ""
) -> list[bool | None]:
    """The verdict on every sentence of a page."""
    asked = asked_time(question, TODAY)
    assert asked is not None
    page = a_document(title=title, text=text, published=published)
    return [is_of_time(asked, page, each.start) for each in sentences(text)]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("How much did the array deliver in May?", "May"),
        ("How much did it deliver between 2019 and 2021?", "2019 and 2021"),
        ("What did it deliver in 2023 and in 2024?", "2023, 2024"),
        ("潮汐阵列去年发电多少？", "去年"),
        ("How much does the Peugeot 2008 weigh?", None),
        ("How high may it be?", None),
        ("Did the railway open in 1909?", None),
        ("铁路是1909年通车的吗？", None),
    ],
)
def test_the_time_that_a_question_names(question: str, words: str | None) -> None:
    asked = asked_time(question, TODAY)
    assert (asked and asked.words) == words


ARRAY = "It has fed the grid since March 2021 and delivered 71 gigawatt hours in 2024."
SINCE_2021 = "The array has fed the grid since March 2021."


@pytest.mark.parametrize(
    ("question", "sentence", "expected"),
    [
        ("How much did it deliver in May?", ARRAY, False),
        ("How much did it deliver in 2024?", ARRAY, True),
        ("How much did it deliver in 2023?", ARRAY, False),
        ("How much did it deliver in May?", "It delivered 7.4 GWh in May 2026.", True),
        ("How much did it deliver in May 2026?", "It delivered 7.4 GWh in May 2025.", False),
        ("How much did it deliver in May 2026?", "It delivered 40 GWh in 2026.", False),
        ("How much did it deliver in 2026?", "It delivered 7.4 GWh in May 2026.", False),
        ("Who joined in 2026?", "Una Farrow joined in May 2026.", True),
        ("How much did it deliver since 2020?", "It delivered 71 GWh in 2024.", True),
        ("How much did it deliver between 2019 and 2021?", "It delivered 71 GWh in 2024.", False),
        ("How has it grown since 2020?", "It has grown twice.", True),
        ("How has it grown since 2020?", "It grew twice in 2015.", False),
        ("Who was mayor in 1995?", "Una Farrow was mayor from 1993 to 2001.", True),
        ("Who was mayor in 1995?", "Ben Orchard has been mayor since 2002.", False),
        ("Who was mayor in 1995?", "Two men were mayors in the 1990s.", False),
        ("What feeds the grid in 2024?", SINCE_2021, True),
        ("How much did it deliver in 2024?", SINCE_2021, None),
        ("Who was born in the 19th century?", "Una Farrow was born in 1889.", True),
        ("How much did it deliver in Q1 2024?", "In Q2 2024 it delivered 20 GWh.", False),
        ("How much did it deliver in 2024?", "2024: 71 GWh", True),
        ("How much did it deliver in 2024?", "2023\t65 GWh", False),
        ("How much did it deliver in 2024?", "The Merrin 2008 delivers 71 GWh.", None),
        ("阵列5月发电多少？", "阵列2024年发电71吉瓦时。", False),
        ("阵列5月发电多少？", "阵列五月发电7.4吉瓦时。", True),
        ("阵列2024年发电多少？", "阵列2023年发电65吉瓦时。", False),
        ("阵列去年发电多少？", "阵列2025年发电73吉瓦时。", True),
        ("阵列去年发电多少？", "阵列2024年发电71吉瓦时。", False),
        ("九十年代谁是市长？", "他1995年是市长。", True),
        ("九十年代谁是市长？", "他2005年是市长。", False),
        ("阵列2024年发电多少？", "The array delivered 71 GWh in 2024.", True),
        ("How much did the array deliver in May?", "阵列五月发电7.4吉瓦时。", True),
    ],
)  # fmt: skip
def test_a_sentence_by_itself(question: str, sentence: str, *, expected: bool | None) -> None:
    assert judged(question, sentence) == [expected]


MUCH = "How much did it deliver in May 2026?"


def test_a_sentence_without_a_time_is_of_that_before_it() -> None:
    assert judged(MUCH, "May 2026 was windy. It delivered 7.4 GWh.") == [True, True]
    assert judged(MUCH, "In 2024 it was calm. It delivered 71 GWh.") == [False, False]
    assert judged(MUCH, "It delivered 7.4 GWh. That was in May 2026.") == [True, True]


def test_the_nearest_decides() -> None:
    text = "Results of May 2026\nIn 2024 it was calm. It delivered 71 GWh.\nIt delivered 7.4 GWh."
    assert judged(MUCH, text) == [True, False, False, True]


def test_a_title_is_context_too() -> None:
    assert judged(MUCH, "It delivered 7.4 GWh.", title="Report for May 2026") == [True]
    assert judged(MUCH, "It delivered 71 GWh.", title="Report for 2024", published="2026-05-30") == [False]  # fmt: skip


@pytest.mark.parametrize(
    ("published", "expected"),
    [("2026-05-28", True), ("2026-05", True), ("2026-06-02", False), ("2026", False), ("", None)],
)
def test_where_nothing_is_named_the_publication_decides(
    published: str, *, expected: bool | None
) -> None:
    assert judged(MUCH, "It delivered 7.4 GWh.", published=published) == [expected]


@pytest.mark.parametrize(
    ("month", "published", "expected"),
    [
        ("May 2026", "2026-05-28", True),
        ("May 2025", "2026-05-28", False),
        ("May 2026", "2027-02-01", True),
        ("May 2025", "2027-02-01", False),
        ("May 2026", "", True),
    ],
)
def test_a_month_without_a_year_is_the_last_one_before_the_publication(
    month: str, published: str, *, expected: bool
) -> None:
    said = "It delivered 7.4 GWh in May."
    assert judged(f"How much did it deliver in {month}?", said, published=published) == [expected]


def test_last_month_of_a_page_is_counted_from_its_own_day() -> None:
    said = "It delivered 7.4 GWh last month. 上个月发电7.4吉瓦时。"
    assert judged(MUCH, said, published="2026-06-02") == [True, True]
    assert judged(MUCH, said, published="2026-08-02") == [False, False]
