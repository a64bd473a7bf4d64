"""The kind of value that a question asks for, and whether a sentence has one: how high, how long, how often, when ...

Small and general: the kinds and words are ours. This tells which sentence answers, never whether it is true.
"""

import re
from functools import cache

from scoring.claims.numerals import ENGLISH, MONTHS, SCALES
from scoring.text import tokens

_WORDS = "|".join(each for each in (*ENGLISH, *SCALES) if each != "one")
_HAN_DIGITS = "[零一二两三四五六七八九十百千万亿]"
# The end of a number is enough, since what follows tells its kind; a pattern that read a long run of digits from each
# of them would take the square of its length.
_NUMBER = rf"(?:\d[,. ]{{0,8}}|\b(?:{_WORDS}|one(?! of\b)|half)\b|{_HAN_DIGITS})"
_GAP = r"[\s-]{0,8}"
_LENGTH = (
    r"(?:(?:m|metres?|meters?|km|kilometres?|kilometers?|cm|centimetres?|centimeters?|mm|millimetres?|millimeters?"
    r"|miles?|feet|foot|ft|inch|inches|yards?|light-years?)\b|米|公里|千米|厘米|毫米|英尺|英里|光年)"
)
_DURATION = (
    r"(?:(?:ms|milliseconds?|s|secs?|seconds?|mins?|minutes?|h|hrs?|hours?|days?|nights?|weeks?|months?|years?|decades?"
    r"|century|centuries)\b|毫秒|秒|分钟|小时|天|日|周|星期|个月|年|世纪)"
)
_YEAR = r"(?:1\d|20)\d\d"
# A count in Chinese: 一 alone is too common a word to be one.
_COUNTED = (
    rf"{_HAN_DIGITS}\s{{0,8}}(?:[个座台人名位艘次条家所种只头辆架本篇件层间度倍成元块吨克]"
    r"|公斤|千克|平方|立方|毫?升|[千兆]?瓦|[%％])"
)
_PLAIN_MONTHS = "|".join(each for each in MONTHS if each not in {"may", "march"})
_CLOCK = (
    r"\b\d{1,2}[:.]\d\d\b|\b\d{1,2}\s*(?:am|pm|a\.m|p\.m|o['’]clock)\b"
    r"|\b(?:noon|midnight|dawn|dusk|sunrise|sunset)\b"
)
_DAYS = (
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:daily|nightly|weekly|monthly|yearly|hourly)\b"
    rf"|\b(?:{_PLAIN_MONTHS})\b|\b(?:in|since|until|by|of|every|each) (?:may|march)\b|\b(?:may|march) \d"
)
_DATE_ZH = (
    rf"{_YEAR}\s*年|(?:\d|{_HAN_DIGITS})\s{{0,8}}[月日号点时]|星期|周[一二三四五六日]|每[天日周月年]"
    r"|中午|午夜|凌晨|清晨"
)
_OFTEN = (
    r"\b(?:every|each|per|once|twice|times|daily|nightly|hourly|weekly|monthly|quarterly|yearly|annually|always|never"
    r"|constantly|continuously)\b|每|次"
)
_LONG = (
    rf"(?:{_NUMBER}{_GAP}|\ban?[\s-]{{1,8}})(?:{_LENGTH}|{_DURATION})|\b(?:forever|indefinitely|permanently)\b|永久|永远"
    rf"|\b{_YEAR}\s*(?:[-–—]|to|until)\s*(?:{_YEAR}|\d\d)\b"
)

# Kind of question -> what a sentence must have to answer it. The first that is asked counts: 多久一次 is not 多久.
_KINDS: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = tuple(
    (re.compile(asked, re.IGNORECASE), re.compile(answered, re.IGNORECASE))
    for asked, answered in (
        (r"\bhow (?:often|frequently)\b|多久[^，。？?]{0,8}一次|频率|每隔多久", _OFTEN),
        (
            r"\bhow (?:high|tall|deep|far|wide)\b|海拔|多高|高度|多远|多深|多宽",
            rf"{_NUMBER}{_GAP}{_LENGTH}",
        ),
        (r"\bhow long\b|多长|多久", _LONG),
        (
            r"\bhow old\b|几岁|多大年纪|年龄",
            rf"{_NUMBER}{_GAP}(?:{_DURATION}|岁)|\b{_YEAR}\b|{_YEAR}\s*年",
        ),
        (
            r"\bhow (?:many|much|large|big|heavy|fast)\b|\bmaximum\b|\bminimum\b|多少|几个|多大|多重|多快|最大|最小",
            rf"\d|\b(?:{_WORDS}|one(?! of\b))\b|{_COUNTED}",
        ),
        (
            r"\bwhen\b|\b(?:what|which) (?:year|date|day|time)\b|何时|什么时候|哪一?年|哪天|几号|几点",
            rf"\b{_YEAR}\b|{_CLOCK}|{_DAYS}|{_DATE_ZH}",
        ),
        (
            r"\bwhat (?:is|are)\b|\bdefine\b|是什么|什么是|定义",
            r"\b(?:is|are|was|were|means)\b|是|指|称为",
        ),
    )
)


def kind_of(question: str) -> int:
    """Return which kind of value a question asks for: a position in the table of kinds, -1 for none."""
    return next((at for at, (asked, _) in enumerate(_KINDS) if asked.search(question)), -1)


def has_value(kind: int, sentence: str) -> bool | None:
    """Return whether a sentence has a value of a kind; None where no kind is asked for (-1)."""
    return None if kind < 0 else _KINDS[kind][1].search(sentence) is not None


def is_value_word(word: str) -> bool:
    """Return whether a question word is answered by the value itself: "How high" by "2,847 metres"."""
    return word in _value_words()


# Made on first use: Chinese words are cut by a dictionary that takes half a second to read.
@cache
def _value_words() -> frozenset[str]:
    return frozenset(
        tokens(
            "high tall long deep far wide height length depth duration old age often frequently many much large big"
            " heavy fast year date day time maximum minimum"
        )
    ) | frozenset(
        tokens(
            "海拔 多高 高度 多长 长度 多久 多远 多深 多宽 多少 多大 多重 多快 几个 几岁 年龄 频率 何时 时候 哪年 几点"
        )
    )
