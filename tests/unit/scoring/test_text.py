"""Words and sentences: cases from pages that other segmenters cut wrongly."""

import pytest

from scoring.text import is_chinese, sentences, stem, tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("今天是2024.5.1。明天放假！真的吗？", ["今天是2024.5.1。", "明天放假！", "真的吗？"]),
        ("他说：“我不去。”然后走了。", ["他说：“我不去。”", "然后走了。"]),
        ("增长1.5%；其中出口下降3.2%。", ["增长1.5%；", "其中出口下降3.2%。"]),
        ("真的？！太好了……我们走吧。", ["真的？！", "太好了……", "我们走吧。"]),
        ("见https://a.cn/x?y=1。版本为v2.0.1。", ["见https://a.cn/x?y=1。", "版本为v2.0.1。"]),
        (
            "他（她）来了。\n第二行没有标点\n第三行。",
            ["他（她）来了。", "第二行没有标点", "第三行。"],
        ),
        ("「好！」他說。「走吧。」", ["「好！」", "他說。", "「走吧。」"]),
        ("价格为3.14元.数量5个.", ["价格为3.14元.", "数量5个."]),
        ("Dr. Smith came in 1990. He left.", ["Dr. Smith came in 1990.", "He left."]),
        ("It grew in the U.S. The U.S. Army left.", ["It grew in the U.S.", "The U.S. Army left."]),
        ("J. R. Smith ran 3.5 km.[12] Then 4.", ["J. R. Smith ran 3.5 km.[12]", "Then 4."]),
        ("1. First point. 2. Second one!", ["1. First point.", "2. Second one!"]),
        (
            "Is Yahoo! a site? Yes. See a.b.com for e.g. More.",
            ["Is Yahoo! a site?", "Yes.", "See a.b.com for e.g. More."],
        ),
        ("  \n ", []),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, expected: list[str]) -> None:
    assert [each.text for each in sentences(text)] == expected


def test_offsets_are_utf8_bytes() -> None:
    found = sentences(" é。Next one. ")
    # A space, two bytes of é, three of 。
    assert [(each.start, each.end) for each in found] == [(1, 6), (6, 15)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The companies' running costs: 1,234.5", ["company", "run", "cost", "1234.5"]),
        ("C++ and C# against ＧＰＴ", ["c++", "c#", "against", "gpt"]),
        ("北京大学的水", ["北京大学", "水", "北京", "京大", "大学"]),
        ("of the and", []),
        ("的了", []),
    ],
)
def test_tokens(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("studies", "study", True),
        ("running", "run", True),
        ("increased", "increase", True),
        ("classes", "class", True),
        ("university", "universal", False),
        ("bring", "br", False),
        ("status", "statu", False),
    ],
)
def test_stems_meet_only_forms_of_one_word(one: str, other: str, same: bool) -> None:
    assert (stem(one) == stem(other)) is same


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("珠峰有多高", True),
        ("GPT-4 模型的参数", True),
        ("Beijing (北京) is a city in the north", False),
        ("これは日本語です", False),
        ("", False),
    ],
)
def test_is_chinese(text: str, expected: bool) -> None:
    assert is_chinese(text) is expected
