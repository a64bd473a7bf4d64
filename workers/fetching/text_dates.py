"""Dates that only the visible text of a page shows: Chinese ones, and whether a guessed first of the month is there.

The date library knows no 年月日 and takes the year alone, and of a date it may not use it keeps year and month: both
come out as the first of a month that the page never named.
"""

import re
from collections.abc import Iterable
from datetime import date

_DAY = r"(\d{4})\s*年\s*(\d{1,2})\s*月\s*(\d{1,2})\s*日"
_ALONE = re.compile(
    rf"\s*{_DAY}\s*(?:[星期周][一二三四五六日天]{{1,2}})?\s*(?:\d{{1,2}}[:：]\d{{2}}(?:[:：]\d{{2}})?)?\s*"
)
_LABELLED = re.compile(
    rf"(?:发布|發布|发表|發表|公布|刊发|更新|时间|時間|日期)[^0-9\n]{{0,12}}{_DAY}"
)
_MAX_CHARS = 200_000


def chinese_date(texts: Iterable[str]) -> str:
    """Return the ISO date that is labelled as one or stands alone in its element; empty if there is none.

    texts: the text nodes of a page in order. A date inside a sentence is what the page is about, not when it appeared.
    """
    joined: list[str] = []
    for text in texts:
        found = _ALONE.fullmatch(text)
        if found and (iso := _iso(found)):
            return iso
        joined.append(text)
    labelled = _LABELLED.search("".join(joined)[:_MAX_CHARS])
    return _iso(labelled) if labelled else ""


def _iso(found: "re.Match[str]") -> str:
    try:
        return date(int(found[1]), int(found[2]), int(found[3])).isoformat()
    except ValueError:
        return ""


def shows_day(text: str, day: str) -> bool:
    """Say whether a text shows an ISO date as numbers, or its day beside a word and its year (`1 August 2024`)."""
    year, month, number = day.split("-")
    m, d = month.lstrip("0"), number.lstrip("0")
    forms = (
        rf"{year}\D{{1,3}}0?{m}\D{{1,3}}0?{d}(?!\d)",
        rf"(?<!\d)0?{d}\D{{1,3}}0?{m}\D{{1,3}}{year}",
        rf"(?<!\d)0?{m}\D{{1,3}}0?{d}\D{{1,3}}{year}",
        rf"(?<!\d)0?{d}(?!\d)[^\d\n]{{2,20}}{year}",
    )
    return any(re.search(each, text) for each in forms)
