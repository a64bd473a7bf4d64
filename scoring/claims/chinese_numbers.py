"""Numbers in Chinese text: digits and words, percentages, years, dates, numerals with a unit."""

import re
from collections.abc import Iterator

from scoring.claims import numerals
from scoring.claims.quantity import Comparator, Kind, Quantity, measured, rounding_of

_DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_CHINESE = re.compile(
    rf"(?P<of>百分之)?(?P<rank>第)?(?P<digits>{_DIGITS}|[〇零一二两三四五六七八九十百千]{{1,9}})(?P<scale>万亿|亿|万|千|百)?"
    r"(?P<percent>个百分点|百分点|%|％)?(?P<unit>年代|年|个月|月|日|号|时|岁|元|人|例|次|名|个|公里|千米|厘米|毫米|米|吨|公斤|千克|克|届"
    "|家|种|天|倍|位|条|项|集|分|点|基点|美元|欧元|小时|分钟|秒)?"
)
_CHINESE_MORE = re.compile("(?:超过?|逾|多于|高于|大于|至少|不少于|突破)$")
_CHINESE_LESS = re.compile("(?:不足|少于|低于|小于|不到|至多|不超过)$")
_CHINESE_ABOUT = re.compile("(?:约|近|大约|左右)$")
_CHINESE_AFTER = (
    (re.compile("以上|多|余"), ">"),
    (re.compile("以下|以内"), "<"),
    (re.compile("左右"), "~"),
)


def chinese_quantities(text: str) -> Iterator[Quantity]:
    """Yield the numbers of a Chinese sentence in order."""
    for match in _CHINESE.finditer(text):
        raw = match["digits"].replace(",", "")
        if raw[0].isascii() or _is_numeral(match):
            yield _from_chinese(text, match, raw)


def _is_numeral(match: "re.Match[str]") -> bool:
    """Numerals stand in many words (十分, 千万别): without a unit, or as a lone 一, they are not numbers."""
    if match["of"] or match["rank"]:
        return True
    return match["digits"] not in set("一十百千") and bool(match["unit"] or match["scale"])


def _from_chinese(text: str, match: "re.Match[str]", raw: str) -> Quantity:
    scale = numerals.CHINESE_SCALES.get(match["scale"] or "", 1.0)
    value = (float(raw) if raw[0].isascii() else float(numerals.chinese_value(raw))) * scale
    unit = match["unit"] or ""
    kind = _chinese_kind(match, unit, value)
    rounding = rounding_of(raw, scale) if raw[0].isascii() else 0.0
    return measured(value, kind, unit, _chinese_comparator(text, match), rounding, match.start())


def _chinese_kind(match: "re.Match[str]", unit: str, value: float) -> Kind:
    if match["of"] or match["percent"]:
        return Kind.PERCENT
    if match["rank"]:
        return Kind.ORDINAL
    if unit == "年代":
        return Kind.DECADE
    if unit == "年" and 1000 <= value <= 2100:
        return Kind.YEAR
    return Kind.DAY if unit in {"月", "日", "号", "时"} else Kind.NUMBER


def _chinese_comparator(text: str, match: "re.Match[str]") -> Comparator:
    before, after = text[max(0, match.start() - 4) : match.start()], match.end()
    ways = (
        (_CHINESE_LESS, Comparator.LESS),
        (_CHINESE_MORE, Comparator.MORE),
        (_CHINESE_ABOUT, Comparator.ABOUT),
    )
    for pattern, meaning in ways:
        if pattern.search(before):
            return meaning
    for pattern, sign in _CHINESE_AFTER:
        if pattern.match(text, after):
            return Comparator(sign)
    return Comparator.EXACT
