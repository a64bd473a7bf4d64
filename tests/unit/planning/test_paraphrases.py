"""Sixty own questions that share no wording with the golden set: the bars of the golden set hold on them too."""

import pytest
from signal_search.contracts.query import Intent, Tier

from workers.planning.intent import read_intent
from workers.planning.tier import read_tier

TIER_BAR = 0.9
INTENT_BAR = 0.85

# question, tiers that are right, intents that are right. Where two readings are fair, both are listed.
CASES: tuple[tuple[str, str, str], ...] = (
    # one checkable value
    ("1997 年 7 月 1 日是周几", "L0", "fact"),
    ("On which weekday did 14 July 1789 fall", "L0", "fact"),
    ("How many inches are in a yard", "L0", "fact"),
    ("一英里等于多少公里", "L0", "fact"),
    ("乞力马扎罗山有多高", "L0", "fact"),
    ("What is the boiling point of ethanol", "L0", "fact"),
    ("how deep is Lake Baikal", "L0", "fact"),
    ("Java 怎么把字符串转换成整数", "L0", "howto"),
    ("How can I reverse a list in Python?", "L0", "howto"),
    ("git 撤销最近一次提交的命令", "L0", "fact howto"),
    ("tar 解压的命令是什么", "L0", "fact howto"),
    ("what does idempotent mean", "L0", "fact"),
    ("什么是幂等", "L0", "fact"),
    ("熵的定义", "L0", "fact"),
    ("进程和线程有什么区别", "L0", "compare"),
    ("What is the difference between HTTP and HTTPS?", "L0", "compare"),
    ("GET 与 POST 的本质区别是什么", "L0", "compare"),
    ("How do mutexes and semaphores differ?", "L0", "compare"),
    ("在 Excel 里如何合并两列", "L0", "howto"),
    ("define eventual consistency", "L0", "fact"),
    # one clear fact
    ("德国现行增值税税率", "L1", "fact"),
    ("Minimum wage in France", "L1", "fact"),
    ("特斯拉 2024 年全球交付量", "L1", "fact"),
    ("How many iPhones did Apple sell in 2023", "L1", "fact"),
    ("NASA 是什么的缩写", "L1", "fact"),
    ("what does CRISPR stand for", "L1", "fact"),
    ("相对论是谁提出的", "L1", "fact"),
    ("Who wrote the first compiler", "L1", "fact"),
    ("眼下参数最多的开源模型是哪个", "L1", "latest"),
    ("What is currently the tallest building under construction", "L1", "latest"),
    ("Kafka 和 RabbitMQ 哪一个支持消息回溯", "L1", "fact"),
    ("Does SQLite or DuckDB have a columnar storage engine", "L1", "fact"),
    ("北京大学的校长", "L1", "fact"),
    ("When was the European Central Bank founded", "L0 L1", "fact"),
    ("高中生怎样准备英语口语考试", "L1", "howto"),
    ("how to bake sourdough bread", "L1", "howto"),
    ("喝隔夜茶致癌是真的吗", "L1 L2", "verify"),
    ("Is it true that goldfish have a three-second memory", "L1 L2", "verify"),
    # weigh and diagnose
    ("比较 MongoDB 与 Cassandra 的写入性能", "L2", "compare"),
    ("Compare solar and wind power for a small island", "L2", "compare"),
    ("Kubernetes 和 Nomad 做容器编排哪个更合适", "L2", "compare why"),
    ("pros and cons of remote work", "L2", "compare"),
    ("自建机房还是上公有云，该怎么取舍", "L2", "why"),
    ("How should we decide between a monolith and microservices", "L2", "why"),
    ("为何锂电池在低温下续航会下降", "L2", "why"),
    ("What causes inflation to persist after supply shocks ease", "L2", "why"),
    ("央行加息一般对房价有什么影响", "L2", "why"),
    ("What does an inverted yield curve imply for the economy", "L2", "why"),
    ("一家三十人的设计工作室怎样降低软件订阅开支的公司方案", "L2", "research howto"),
    ("How can a small hospital team reduce energy bills", "L2", "research"),
    ("调研残疾人就业保障金减免", "L2", "research"),
    ("Look into import duties for second-hand machinery", "L2", "research"),
    # a field
    ("梳理联邦学习的前沿进展和开源框架", "L3", "research"),
    ("Literature review of spaced repetition in language learning", "L3", "research"),
    ("系统梳理固态电池的技术路线与主要厂商", "L3", "research"),
    ("A comprehensive study of carbon border taxes and who pays them", "L3", "research"),
    ("深入研究 Rust 异步运行时（Tokio/async-std/smol/Glommio）", "L3", "research"),
    ("State of the art in protein structure prediction", "L3", "research"),
    ("调研过去五年无人驾驶出租车的运营情况与事故", "L3", "research"),
    (
        "Survey the adoption and dangers of facial recognition in policing over the past decade",
        "L3",
        "research",
    ),
)


def test_there_are_sixty() -> None:
    assert len({text for text, _, _ in CASES}) == 60


def test_bars_hold_on_unseen_wordings() -> None:
    tiers = intents = 0
    wrong: list[str] = []
    for text, right_tiers, right_intents in CASES:
        reading = read_intent(text)
        tier = read_tier(text, reading.intent).tier
        tier_is_right = tier in right_tiers.split()
        intent_is_right = reading.intent in right_intents.split()
        tiers += tier_is_right
        intents += intent_is_right
        if not (tier_is_right and intent_is_right):
            wrong.append(f"{text}: {tier} {reading.intent}")
    assert tiers >= TIER_BAR * len(CASES), wrong
    assert intents >= INTENT_BAR * len(CASES), wrong


@pytest.mark.parametrize(
    ("text", "tier"),
    [
        ("研究生如何选课", Tier.L1),  # graduate student, not research
        ("中国科学院计算技术研究所的地址", Tier.L1),  # an institute's name
        ("学术搜索 Google Scholar 的网址", Tier.L1),  # part of an engine's name
    ],
)
def test_words_inside_other_words_are_no_cues(text: str, tier: Tier) -> None:
    assert read_tier(text, read_intent(text).intent).tier is tier


def test_bare_year_is_no_wish_for_news() -> None:
    assert read_intent("2024 年奥运会举办城市").intent is Intent.FACT
