"""The times that a text names, each first and last day worked out by hand; in days without a year only month and day count."""

from datetime import date

import pytest

from scoring.times.period import (
    Period,
    Relation,
    day,
    months,
    relation,
    season,
    since,
    until,
    years,
)
from scoring.times.reading import times_in, without_times

TODAY = date(2026, 3, 10)


def read(text: str) -> list[str]:
    """Every time for sure, as its days: without a year MM-DD only."""
    found = [each for each in times_in(text, TODAY) if each.is_sure]
    return [f"{shown(each.period, 'first')}..{shown(each.period, 'last')}" for each in found]


def shown(period: Period, end: str) -> str:
    written = getattr(period, end).isoformat()
    return written[5:] if period.is_yearless else written


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("How much did it deliver in 2024?", "2024-01-01..2024-12-31"),
        ("Who won the 2024 election?", "2024-01-01..2024-12-31"),
        ("tidal array output 2024", "2024-01-01..2024-12-31"),
        ("Output (2024) rose", "2024-01-01..2024-12-31"),
        ("How much in May?", "05-01..05-31"),
        ("how much in may?", "05-01..05-31"),
        ("It opened in February.", "02-01..02-29"),
        ("in May 2026", "2026-05-01..2026-05-31"),
        ("in February 2026", "2026-02-01..2026-02-28"),
        ("on 14 May 1907", "1907-05-14..1907-05-14"),
        ("on May 14th, 1907", "1907-05-14..1907-05-14"),
        ("on 17 May", "05-17..05-17"),
        ("on 2026-05-28", "2026-05-28..2026-05-28"),
        ("in the second quarter of 2024", "2024-04-01..2024-06-30"),
        ("in Q4 2024", "2024-10-01..2024-12-31"),
        ("in the first half of 2024", "2024-01-01..2024-06-30"),
        ("in the 1990s", "1990-01-01..1999-12-31"),
        ("in the 19th century", "1800-01-01..1899-12-31"),
        ("in the sixteenth century", "1500-01-01..1599-12-31"),
        ("in the twentieth century", "1900-01-01..1999-12-31"),
        ("between 2019 and 2021", "2019-01-01..2021-12-31"),
        ("from March to June 2021", "2021-03-01..2021-06-30"),
        ("since 2020", "2020-01-01..9999-12-31"),
        ("after May 2024", "2024-06-01..9999-12-31"),
        ("before 2020", "0001-01-01..2019-12-31"),
        ("until 2020", "0001-01-01..2020-12-31"),
        ("last year", "2025-01-01..2025-12-31"),
        ("this year", "2026-01-01..2026-12-31"),
        ("last month", "2026-02-01..2026-02-28"),
        ("yesterday", "2026-03-09..2026-03-09"),
        ("last May", "2025-05-01..2025-05-31"),
        ("last February", "2026-02-01..2026-02-28"),
        ("2024年发电多少", "2024-01-01..2024-12-31"),
        ("二〇二四年发电多少", "2024-01-01..2024-12-31"),
        ("5月发电多少", "05-01..05-31"),
        ("五月份发电多少", "05-01..05-31"),
        ("十二月发电多少", "12-01..12-31"),
        ("2024年5月发电多少", "2024-05-01..2024-05-31"),
        ("1907年5月14日通车", "1907-05-14..1907-05-14"),
        ("5月17日", "05-17..05-17"),
        ("2024年第二季度", "2024-04-01..2024-06-30"),
        ("三季度", "07-01..09-30"),
        ("2024年下半年", "2024-07-01..2024-12-31"),
        ("20世纪90年代", "1990-01-01..1999-12-31"),
        ("九十年代", "1990-01-01..1999-12-31"),
        ("1880年代", "1880-01-01..1889-12-31"),
        ("十九世纪", "1800-01-01..1899-12-31"),
        ("2019年至2021年", "2019-01-01..2021-12-31"),
        ("1-5月", "01-01..05-31"),
        ("2020年以来", "2020-01-01..9999-12-31"),
        ("2020年以前", "0001-01-01..2019-12-31"),
        ("2024年前后", "2024-01-01..2024-12-31"),
        ("去年", "2025-01-01..2025-12-31"),
        ("前年5月", "2024-05-01..2024-05-31"),
        ("上个月", "2026-02-01..2026-02-28"),
        ("昨天", "2026-03-09..2026-03-09"),
    ],
)
def test_a_time_is_read(text: str, days: str) -> None:
    assert read(text) == [days]


@pytest.mark.parametrize(
    "text",
    [
        "May I ask what may happen?",
        "How old is Theresa May?",
        "Troops march in step to an august hall.",
        "How much fuel does the Peugeot 2008 use?",
        "What does RFC 2119 say of CVE-2024-1234?",
        "Is Windows 2000 safe?",
        "The summit is 2,024 metres high, 1903 steps up.",
        "Who fought the War of 1812?",
        "Spring tides run at 3.4 metres per second at springs.",
        "五月天乐队有几张专辑",
        "5个月后完成",
        "Who plays in the 2014 coming-of-age drama film Boyhood?",
        "It holds 2000 people, and up to 1500 on the deck.",
        "用了98年",
        "第3月台",
    ],
)
def test_what_only_looks_like_a_time_is_none(text: str) -> None:
    assert read(text) == []


def test_last_year_is_nothing_without_a_day_to_count_from() -> None:
    assert times_in("last year, 去年, yesterday, 上个月", None) == ()


def test_a_text_without_its_times() -> None:
    assert without_times("潮汐阵列2024年发电多少") == "潮汐阵列 发电多少"
    assert without_times("Peugeot 2008 in May") == "Peugeot 2008 in  "


# --- how one lies to another ------------------------------------------------------------------------------------------

MAY, OF_2024 = months(5, 5, None), years(2024, 2024)


@pytest.mark.parametrize(
    ("found", "asked", "expected"),
    [
        (years(2024, 2024), OF_2024, Relation.SAME),
        (years(2023, 2023), OF_2024, Relation.APART),
        (months(5, 5, 2024), OF_2024, Relation.PART),
        (years(2020, 2029), OF_2024, Relation.WIDER),
        (since(months(5, 5, 2024)), OF_2024, Relation.OVERLAP),
        (until(years(2019, 2019)), OF_2024, Relation.APART),
        (months(5, 5, 2019), MAY, Relation.SAME),
        (months(6, 6, 2019), MAY, Relation.APART),
        (day(17, 5, 2019), MAY, Relation.PART),
        (OF_2024, MAY, Relation.WIDER),
        (since(months(3, 3, 2021)), MAY, Relation.WIDER),
        (MAY, OF_2024, Relation.PART),
        (MAY, months(5, 5, 2024), Relation.SAME),
        (day(29, 2, None), months(2, 2, 2023), Relation.PART),
        (season("summer", 2024), season("summer", 2024), Relation.SAME),
        (season("summer", 2024), season("winter", 2024), Relation.APART),
        (months(7, 7, 2024), season("summer", 2024), Relation.OVERLAP),
        (months(7, 7, 2023), season("summer", 2024), Relation.APART),
        (season("summer", 2024), OF_2024, Relation.PART),
        (OF_2024, season("summer", 2024), Relation.WIDER),
        (season("summer", 2024), months(7, 7, 2024), Relation.OVERLAP),
        (season("summer", None), season("summer", 2024), Relation.SAME),
    ],
)
def test_one_time_lies_to_another(found: Period, asked: Period, expected: Relation) -> None:
    assert relation(found, asked) is expected


def test_a_month_without_a_year_is_put_into_the_likely_ones() -> None:
    of_2026 = months(5, 5, 2026)
    assert relation(MAY, of_2026, {2025}) is Relation.APART
    assert relation(MAY, of_2026, {2025, 2026}) is Relation.SAME
