"""The default aspects of a research: which questions have them, what they are, and that no other job does."""

import pytest
from signal_search.contracts.plan import Plan
from signal_search.contracts.query import DelegationKind, RetrieveRequest, Tier

from tests.unit.planning.test_planner import SOURCES, TIERS
from workers.planning.aspects import LEVELS, NAMES, Detail, aspects_of, by_aspects
from workers.planning.outline import read_outline, write_outline
from workers.planning.planner import make_plan

CHINESE = ["定义与概念", "机制/原理", "对比/异同", "现状/应用", "争议/局限"]


def researched(query: str, depth: str = "standard", *, confirmed: bool = True) -> Plan:
    delegate = (DelegationKind.OUTLINE_CONFIRM,) if confirmed else ()
    request = RetrieveRequest(query=query, depth=depth, delegate=delegate)  # type: ignore[arg-type]
    return make_plan(request, sources=SOURCES, tiers=TIERS)


def test_five_at_l2_with_the_mechanism_in_detail_and_all_in_detail_at_l3() -> None:
    assert [each.name for each in aspects_of(Tier.L2, "zh")] == CHINESE
    detailed = [each.detail is Detail.FULL for each in aspects_of(Tier.L2, "zh")]
    assert detailed == [False, True, False, False, False]
    assert {each.detail for each in aspects_of(Tier.L3, "en")} == {Detail.FULL}
    assert [len(aspects_of(tier, "en")) for tier in Tier] == [0, 0, 5, 5]


def test_a_research_looks_at_the_whole_and_at_each_aspect() -> None:
    questions = researched("调研固态电池").questions
    assert [each.dimension for each in questions] == ["default", *CHINESE]
    assert [each.text for each in questions][:3] == [
        "调研固态电池",
        "固态电池 定义 概念",
        "固态电池 机制 原理",
    ]
    assert [each.role for each in questions] == ["main"] * 5 + ["contrary"]


def test_in_english_by_english_names_and_with_a_note_of_the_levels() -> None:
    found = researched("Research solid-state batteries", "deep")
    assert found.questions[1].text == "solid-state batteries definition concepts"
    [note] = [each for each in found.notes if each.startswith("aspects: ")]
    assert note.count("(in detail)") == 5


def test_the_accounts_of_a_company_have_their_figures() -> None:
    questions = researched("调研比亚迪的财报").questions
    assert [each.dimension for each in questions] == [
        "default", "营业收入", "归母净利润", "每股收益", "ROE", "同比变动", "contrary",
    ]  # fmt: skip
    english = researched("Research the financial results of Acme", "deep").questions
    assert english[1].text.endswith("revenue")


@pytest.mark.parametrize("query", ["调研固态电池", "Research solid-state batteries"])
def test_without_a_confirmed_outline_a_job_has_none(query: str) -> None:
    found = researched(query, confirmed=False)
    assert not NAMES & {each.dimension for each in found.questions}
    assert not [each for each in found.notes if each.startswith("aspects: ")]


@pytest.mark.parametrize(
    "query",
    [
        "Compare Redis and Memcached on speed and price",
        "对比 Redis 与 Memcached",
        "《三体》的作者的出生地",
        "How high is Mount Ansel?",
        "珠穆朗玛峰海拔多少",
    ],
)
def test_a_question_with_parts_of_its_own_or_one_value_has_none(query: str) -> None:
    plain = researched(query, confirmed=False)
    assert researched(query).questions == plain.questions


def test_a_narrow_job_has_none() -> None:
    assert len(researched("固态电池", "quick").questions) == 1


def test_the_whole_stays_in_the_words_of_its_asker() -> None:
    questions = researched("为什么锂电池会老化").questions
    assert [each.text for each in questions][:2] == ["为什么锂电池会老化", "锂电池会老化 定义 概念"]


def test_a_narrow_width_keeps_the_other_side_and_says_what_was_cut() -> None:
    found = by_aspects("调研固态电池", Tier.L2, 4)
    assert found is not None
    assert [each.dimension for each in found.questions] == [
        "default", "定义与概念", "机制/原理", "争议/局限",
    ]  # fmt: skip
    assert (found.original, found.note) == (6, "(宽度超限，原 6 叶子截断至 4)")
    assert by_aspects("调研固态电池", Tier.L2, 2) is None


def test_an_outline_that_is_confirmed_as_it_was_shown_keeps_its_aspects() -> None:
    questions = researched("调研固态电池").questions
    bare = [(each.id, each.text, each.role, each.dimension) for each in questions]
    read = read_outline(write_outline("调研固态电池", questions), questions, 8)
    assert read is not None
    assert [(each.id, each.text, each.role, each.dimension) for each in read.questions] == bare


def test_every_level_has_its_word() -> None:
    assert all(set(each) == set(Detail) for each in LEVELS.values())
