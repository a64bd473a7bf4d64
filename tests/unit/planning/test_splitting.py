"""Splitting a question, and the words each leaf is searched with."""

import pytest
from signal_search.contracts.plan import Plan, PlannedCall, SubQuestion
from signal_search.contracts.query import Intent, Tier

from workers.planning.decompose import decompose, is_covered
from workers.planning.entities import split_entities
from workers.planning.expand import MOST_TERMS, expand, own_terms, terms_for
from workers.planning.rounds import next_round, rewrite
from workers.planning.subject import contrary_question, subject_of
from workers.planning.synonyms import chinese_for, chinese_to_english


@pytest.mark.parametrize(
    ("text", "members"),
    [
        ("A/B/C", ("A", "B", "C")),
        ("上海和北京和及时雨", ("上海", "北京", "及时雨")),
        ("百度学术 与 Google Scholar", ("百度学术", "Google Scholar")),
        ("Redis, Valkey and KeyDB", ("Redis", "Valkey", "KeyDB")),
        ("Kafka vs RabbitMQ", ("Kafka", "RabbitMQ")),
        ("甲骨文、微软以及谷歌 三家", ("甲骨文", "微软", "谷歌")),
        ("和平与发展", ("和平", "发展")),
        ("Rust", ("Rust",)),
    ],
)
def test_entities(text: str, members: tuple[str, ...]) -> None:
    assert split_entities(text) == members


def test_three_by_three_gives_nine_leaves() -> None:
    split = decompose("对比 A/B/C 三家在 GDPR/HIPAA/SOC2 的隐私差异", 20)
    assert [each.dimension for each in split.questions] == [
        f"{entity}/{axis}" for entity in "ABC" for axis in ("GDPR", "HIPAA", "SOC2")
    ]
    assert split.questions[4].text == "B 在 HIPAA 的隐私差异"
    assert split.note == ""


def test_cut_is_reported() -> None:
    split = decompose("对比 A/B/C 三家在 GDPR/HIPAA/SOC2 的隐私差异", 8)
    assert (len(split.questions), split.original) == (8, 9)
    assert split.note == "(宽度超限，原 9 叶子截断至 8)"


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("Compare Redis and Memcached on speed, memory and price", 6),
        ("Compare the licence of MySQL and MariaDB", 2),
        ("What are the differences between Kafka and Pulsar in latency?", 2),
        ("Kafka 和 Pulsar 在延迟上的差异", 2),
        ("Milvus、Qdrant、Weaviate 的对比", 3),
        ("选型调研：Milvus/Qdrant/Weaviate", 3),
    ],
)
def test_grids(text: str, texts: int) -> None:
    split = decompose(text, 20)
    assert len(split.questions) == texts
    assert is_covered(split)


def test_english_grid_names_entity_and_dimension() -> None:
    split = decompose("Compare Redis and Memcached on speed and price", 20)
    assert [each.text for each in split.questions] == [
        "Redis speed",
        "Redis price",
        "Memcached speed",
        "Memcached price",
    ]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Where was the inventor of the transistor born?", "inventor of the transistor"),
        ("万维网的发明者的母校", "万维网的发明者"),
        ("Who founded the company that developed Redis", "company that developed Redis"),
        ("先找出 Rust 的作者，再查他的公司", "找出 Rust 的作者"),
        ("First find the author of Dune, then list his prizes", "find the author of Dune"),
    ],
)
def test_hops_wait_for_each_other(text: str, first: str) -> None:
    hop1, hop2 = decompose(text, 8).questions
    assert hop1.text == first
    assert (hop1.depends_on, hop2.depends_on) == ((), ("q1",))


@pytest.mark.parametrize(
    "text",
    ["推荐一部电影", "Who is the president of France?", "the capital of France", "中国的首都"],
)
def test_one_hop_stays_whole(text: str) -> None:
    split = decompose(text, 8)
    assert [(each.text, each.dimension) for each in split.questions] == [(text, "default")]


def test_choice_between_two_is_one_leaf_each() -> None:
    split = decompose("自研小模型 vs 调用 API 怎么选", 8)
    assert [each.text for each in split.questions] == ["自研小模型 的区别", "调用 API 的区别"]


@pytest.mark.parametrize(
    "text", ["对比 唯一的东西", "Compare apples", "调研小微企业所得税优惠", "Research zinc"]
)
def test_what_cannot_be_split_stays_whole(text: str) -> None:
    assert [each.text for each in decompose(text, 8).questions] == [text]


def test_broad_study_without_facets_gets_aspects() -> None:
    split = decompose("系统梳理固态电池技术", 20)
    assert [each.text for each in split.questions] == [
        "固态电池技术",
        "固态电池技术 综述",
        "固态电池技术 最新进展",
        "固态电池技术 应用案例",
    ]


def test_role_goes_to_every_entity() -> None:
    split = decompose("对比 Redis 与 Memcached 作为缓存", 8)
    assert split.entities == ("Redis", "Memcached")
    assert split.questions[1].text == "Memcached 的作为缓存的区别"


def test_width_one_keeps_the_question_whole() -> None:
    assert [each.text for each in decompose("TCP 和 UDP 的核心区别", 1).questions] == [
        "TCP 和 UDP 的核心区别"
    ]


def test_facets_of_a_study() -> None:
    split = decompose("Research the deployment and risks of gene editing in agriculture", 20)
    assert [each.text for each in split.questions] == [
        "deployment of gene editing in agriculture",
        "risks of gene editing in agriculture",
    ]


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("请调研一下量子纠错", "量子纠错"),
        ("研究生如何选课", "研究生如何选课"),
        ("Please research the history of zinc", "history of zinc"),
        ("为什么天空是蓝的？", "天空是蓝的"),
        ("?", "?"),
    ],
)
def test_subject(text: str, subject: str) -> None:
    assert subject_of(text) == subject


def test_contrary_question_keeps_the_subject() -> None:
    assert contrary_question("调研联邦学习", 3) == SubQuestion(
        id="q3", text="联邦学习的局限 批评 失败 无效", role="contrary", dimension="contrary"
    )
    english = contrary_question("Research federated learning", 2)
    assert english.text == "federated learning criticism limitations failure problems"


# --- words ------------------------------------------------------------------------------------------------------------


def terms(text: str) -> tuple[str, ...]:
    return expand(SubQuestion(id="q1", text=text)).terms


def test_chinese_question_brings_english_words() -> None:
    assert terms("SQLite 的预写日志与并发") == (
        "SQLite",
        "预写日志",
        "并发",
        "write-ahead log",
        "WAL",
        "concurrency",
    )


@pytest.mark.parametrize(
    ("chinese", "english"),
    [
        ("事务", "transaction"),
        ("索引", "index"),
        ("锁", "lock"),
        ("视图", "view"),
        ("触发器", "trigger"),
        ("全文搜索", "full-text search"),
        ("预写日志", "write-ahead log"),
        ("备份", "backup"),
        ("加密", "encryption"),
    ],
)
def test_glossary_serves_documentation_questions(chinese: str, english: str) -> None:
    assert english in terms(f"SQLite 的{chinese}怎么用")


def test_glossary_is_of_use() -> None:
    assert len(chinese_to_english()) >= 500


def test_longer_terms_win_and_words_are_not_cut_out_of_others() -> None:
    assert "table" not in terms("谁代表中国发言")
    assert "research" not in terms("研究生宿舍")
    assert terms("全文搜索")[:2] == ("全文搜索", "full-text search")


def test_english_question_brings_chinese_words() -> None:
    assert chinese_for("Foreign keys and indexes") == ("外键", "索引")


def test_identifiers_go_first_and_are_never_split() -> None:
    found = expand(SubQuestion(id="q1", text="does CVE-2024-3094 affect 10.1038/abc-1"))
    assert found.identifiers == ("CVE-2024-3094", "10.1038/abc-1")
    assert found.terms[:2] == found.identifiers
    assert "3094" not in found.terms


def test_other_languages_are_not_translated() -> None:
    assert terms("トランザクション SQLite") == ("SQLite",)


def test_terms_are_bounded() -> None:
    many = " ".join(f"word{number}" for number in range(100))
    assert len(terms(many)) == MOST_TERMS


def test_own_terms_leave_out_asking_words() -> None:
    assert own_terms("What is the boiling point of zinc?") == ("boiling", "point", "zinc")
    assert own_terms("请问锌的沸点是多少？") == ("锌", "沸点")


def test_terms_for_a_source_of_one_language() -> None:
    question = expand(SubQuestion(id="q1", text="SQLite 的事务"))
    assert terms_for(question, "en") == ("SQLite", "transaction")
    assert terms_for(question, "zh") == ("SQLite", "事务", "transaction")
    only_chinese = SubQuestion(id="q1", text="春节", terms=("春节",))
    assert terms_for(only_chinese, "en") == ("春节",)


# --- later rounds -----------------------------------------------------------------------------------------------------

QUESTION = SubQuestion(
    id="q1",
    text="SQLite 的预写日志如何影响并发",
    terms=("预写日志", "影响", "并发", "读者", "write-ahead log", "concurrency"),
)


def test_rewriting_goes_to_bare_terms_and_then_to_the_other_language() -> None:
    assert rewrite(QUESTION, 1) == QUESTION
    assert rewrite(QUESTION, 2).text == "预写日志 影响 并发"
    assert rewrite(QUESTION, 3).text == "write-ahead log concurrency"


def a_plan() -> Plan:
    return Plan(
        query="x",
        language="zh",
        intent=Intent.WHY,
        intent_confidence=0.85,
        tier=Tier.L2,
        tier_reason="",
        questions=(QUESTION, SubQuestion(id="q2", text="b", depends_on=("q1",))),
        calls=(
            PlannedCall(
                id="all.site1", source_id="site:https://a.example/", question_id="*", shared=True
            ),
            PlannedCall(id="q1.wiki", source_id="wiki", question_id="q1"),
            PlannedCall(id="q2.wiki", source_id="wiki", question_id="q2", round=2),
        ),
        limits={},
        max_sources=8,
        max_rounds=2,
    )


def test_next_round_takes_what_waits_and_rewrites_what_is_open() -> None:
    calls = next_round(a_plan(), {"q1", "q2"}, 2, 10)
    assert [(each.id, each.round) for each in calls] == [("q2.wiki", 2), ("r2.q1.wiki", 2)]


def test_next_round_respects_what_is_left() -> None:
    assert len(next_round(a_plan(), {"q1", "q2"}, 2, 1)) == 1
    assert next_round(a_plan(), {"q1"}, 2, 0) == ()
    assert next_round(a_plan(), {"q1"}, 3, 10) == ()
    assert next_round(a_plan(), set(), 2, 10) == ()


# --- the words to search with -----------------------------------------------------------------------------------------


def searched(question: str) -> list[tuple[str, ...]]:
    return [expand(each).terms for each in decompose(question, 8).questions]


def test_a_dimension_of_our_own_is_no_search_term() -> None:
    """A page about green tea need not have the words strengths and limits to speak for its side."""
    assert searched("Compare black tea and green tea") == [("black", "tea"), ("green", "tea")]
    assert searched("Redis vs Memcached") == [("Redis",), ("Memcached",)]


def test_the_same_words_of_the_caller_are_search_terms() -> None:
    asked = "Compare black tea and green tea in terms of strengths"
    assert searched(asked) == [("black", "tea", "strengths"), ("green", "tea", "strengths")]
    texts = [
        each.text
        for each in decompose("Compare tea and coffee in terms of taste and price", 8).questions
    ]
    assert texts == ["tea taste", "tea price", "coffee taste", "coffee price"]
