"""Reading a question: override, depth, language, identifiers, topics, intent and tier with their reasons."""

import pytest
from signal_search.contracts.query import Intent, Tier

from workers.planning.identifiers import Identifier, find_identifiers, is_isbn
from workers.planning.intent import needs_clarification, read_intent
from workers.planning.language import language_of
from workers.planning.override import ordered_tier, split_override
from workers.planning.tier import read_tier
from workers.planning.topics import topics_of

# --- orders -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "query", "tier"),
    [
        ("/signal L3 some question", "some question", Tier.L3),
        ("  /SIGNAL l0   今天几号", "今天几号", Tier.L0),
        ("/signal L2", "/signal L2", None),
        ("/signal L4 x", "/signal L4 x", None),
        ("/signalL2 x", "/signalL2 x", None),
        ("ask /signal L2 x", "ask /signal L2 x", None),
        ("plain", "plain", None),
    ],
)
def test_override(text: str, query: str, tier: Tier | None) -> None:
    found = split_override(text)
    assert (found.query, found.tier) == (query, tier)


def test_prefix_then_depth_then_required_tier() -> None:
    assert ordered_tier(Tier.L0, "deep", Tier.L1) is Tier.L0
    assert ordered_tier(None, "deep", Tier.L1) is Tier.L3
    assert ordered_tier(None, "standard", None) is Tier.L2
    assert ordered_tier(None, "quick", None) is Tier.L1
    assert ordered_tier(None, None, Tier.L2) is Tier.L2
    assert ordered_tier(None, None, None) is None


def test_order_beats_the_rules_and_is_the_reason() -> None:
    reading = read_tier("survey of everything", Intent.RESEARCH, Tier.L0)
    assert (reading.tier, reading.reason) == (Tier.L0, "用户指定")


# --- language ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "wanted", "language"),
    [
        ("How high is it?", None, "en"),
        ("珠峰有多高", None, "zh"),
        ("Redis 与 Memcached 的区别", None, "zh"),
        ("What does 事务 mean in a database manual", None, "en"),
        ("データベースとは", None, "ja"),
        ("珠峰有多高", "en", "en"),
        ("x", "zh-CN", "zh"),
        ("123", None, "en"),
    ],
)
def test_language(text: str, wanted: str | None, language: str) -> None:
    assert language_of(text, wanted) == language


# --- identifiers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "scheme", "value"),
    [
        ("who cites 10.1038/S41586-020-2649-2?", "doi", "10.1038/s41586-020-2649-2"),
        ("见 10.1000/182。", "doi", "10.1000/182"),
        ("arXiv:1706.03762v5 的作者", "arxiv", "1706.03762v5"),
        ("see https://arxiv.org/abs/hep-th/9901001", "arxiv", "hep-th/9901001"),
        ("2401.12345 summary", "arxiv", "2401.12345"),
        ("is cve-2024-3094 exploited", "cve", "CVE-2024-3094"),
        ("what does rfc 9309 say", "rfc", "RFC 9309"),
        ("RFC0793 flags", "rfc", "RFC 793"),
        ("978-0-306-40615-7 有哪些版本", "isbn", "9780306406157"),
        ("ISBN 0-306-40615-2", "isbn", "0306406152"),
        ("claims of US 7654321 B2", "patent", "US7654321B2"),
        ("pip install tldextract fails", "package", "tldextract"),
        ("npm install @types/node error", "package", "@types/node"),
    ],
)
def test_identifier(text: str, scheme: str, value: str) -> None:
    assert find_identifiers(text) == (Identifier(scheme, value),)


@pytest.mark.parametrize(
    "text",
    [
        "sales of 2024.12345 units",  # month 24 does not exist
        "1.2345 and 12.3456 percent",
        "978-0-306-40615-8",  # wrong check digit
        "phone 13812345678",
        "CVE-24-1",
        "RFCs in general",
        "version 10.15.7",
        "2026-08-07",
    ],
)
def test_look_alikes_are_left_alone(text: str) -> None:
    assert find_identifiers(text) == ()


def test_identifiers_come_in_order_and_once() -> None:
    found = find_identifiers("RFC 9110, CVE-2021-44228, RFC 9110")
    assert [each.value for each in found] == ["RFC 9110", "CVE-2021-44228"]


def test_isbn_check_digits() -> None:
    assert is_isbn("080442957X")
    assert not is_isbn("0804429570")
    assert not is_isbn("12345")


# --- topics -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "topics"),
    [
        ("GDP 通胀 论文", {"macro": 4.0, "academic": 2.0}),
        ("second chance", {}),
        ("who are you", {}),
        ("WHO guidance", {"health": 2.0}),
        ("SEC filings", {"finance": 2.0}),
        ("trial and error", {}),
        ("clinical trial", {"health": 3.0}),
        ("javascript", {"dev": 2.0}),
    ],
)
def test_topics(text: str, topics: dict[str, float]) -> None:
    assert topics_of(text) == topics


# --- intent and tier --------------------------------------------------------------------------------------------------


def test_clarification_below_the_bar() -> None:
    assert needs_clarification(read_intent("今天").confidence, 0.6)
    assert not needs_clarification(read_intent("GDPR").confidence, 0.6)
    assert needs_clarification(read_intent("????").confidence, 0.6)


@pytest.mark.parametrize(
    ("text", "intent", "tier"),
    [
        ("调研 A 与 B 的取舍", Intent.RESEARCH, Tier.L2),  # an order to study beats what it names
        ("A vs B 怎么选", Intent.WHY, Tier.L2),  # a choice beats a comparison
        ("Bun vs Deno 最新对比", Intent.COMPARE, Tier.L2),  # two named things are a comparison
        (
            "iPhone 15 和 iPhone 16 的区别",
            Intent.COMPARE,
            Tier.L2,
        ),  # models change, textbook terms do not
        ("最新的显卡评测", Intent.LATEST, Tier.L2),
        ("如何验证 TLS 证书", Intent.HOWTO, Tier.L1),  # how to verify is no request to verify
        ("今天是几号", Intent.FACT, Tier.L0),
        ("如何优化 MySQL 查询", Intent.HOWTO, Tier.L2),
        ("SQLite 做多写入的风险", Intent.FACT, Tier.L2),
        ("有人说疫苗风险很大，是真的吗", Intent.VERIFY, Tier.L2),
    ],
)
def test_order_of_the_rules(text: str, intent: Intent, tier: Tier) -> None:
    reading = read_intent(text)
    assert (reading.intent, read_tier(text, reading.intent).tier) == (intent, tier)


@pytest.mark.parametrize("wrap", ["请问{}？", "{}?", "  {}  "])
@pytest.mark.parametrize(
    "text", ["TCP 和 UDP 的核心区别", "珠穆朗玛峰海拔多少", "为什么天空是蓝的"]
)
def test_politeness_changes_nothing(text: str, wrap: str) -> None:
    plain, polite = read_intent(text), read_intent(wrap.format(text))
    assert polite.intent is plain.intent
    assert read_tier(wrap.format(text), polite.intent) == read_tier(text, plain.intent)


@pytest.mark.parametrize(
    ("text", "intent", "tier"),
    [
        ("What distinguishes a mutex from a semaphore?", Intent.COMPARE, Tier.L0),
        ("How do a list and a tuple differ?", Intent.COMPARE, Tier.L0),
        ("As a message broker, how do Kafka and NATS compare?", Intent.COMPARE, Tier.L2),
        ("What is a falling birth rate a symptom of in rich countries?", Intent.WHY, Tier.L2),
        ("Sorting a csv file with pandas", Intent.HOWTO, Tier.L0),
        ("Running shoes with carbon plates", Intent.FACT, Tier.L1),
        ("研究光伏与风电两条路线的优劣", Intent.RESEARCH, Tier.L2),
        ("研究光伏电池的技术路线", Intent.RESEARCH, Tier.L3),
    ],
)
def test_kinds_of_wording_that_paraphrases_brought_up(
    text: str, intent: Intent, tier: Tier
) -> None:
    found = read_intent(text)
    assert (found.intent, read_tier(text, found.intent).tier) == (intent, tier)
