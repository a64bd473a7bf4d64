"""Numbers: reading them, and never taking one for another."""

import pytest

from scoring.claims.numbers import Agreement, agreement, quantities
from scoring.claims.quantity import Comparator, Kind
from scoring.text import is_chinese


def _first(text: str):
    return quantities(text, chinese=is_chinese(text))[0]


@pytest.mark.parametrize(
    ("text", "value", "kind", "unit", "comparator"),
    [
        ("built in 1990", 1990, Kind.YEAR, "", Comparator.EXACT),
        ("in the 1990s", 1990, Kind.DECADE, "", Comparator.EXACT),
        ("about 3.5 km long", 3500, Kind.NUMBER, "m", Comparator.ABOUT),
        ("more than 1.2 million people", 1_200_000, Kind.NUMBER, "people", Comparator.MORE),
        ("fell 4 percent", 4, Kind.PERCENT, "", Comparator.EXACT),
        ("$250,000 in total", 250_000, Kind.NUMBER, "$", Comparator.EXACT),
        ("twenty-five members", 25, Kind.NUMBER, "members", Comparator.EXACT),
        ("on 3 May", 3, Kind.DAY, "", Comparator.EXACT),
        ("the mid-18th century", 18, Kind.ORDINAL, "", Comparator.EXACT),
        ("batted .377 that year", 0.377, Kind.NUMBER, "that", Comparator.EXACT),
        ("面积达170万平方公里", 1_700_000, Kind.NUMBER, "", Comparator.EXACT),
        ("约占百分之三十五", 35, Kind.PERCENT, "", Comparator.EXACT),
        ("一九九〇年成立", 1990, Kind.YEAR, "", Comparator.EXACT),
        ("第十六届大会", 16, Kind.ORDINAL, "", Comparator.EXACT),
        ("超过三百人参加", 300, Kind.NUMBER, "人", Comparator.MORE),
        ("全长五公里", 5000, Kind.NUMBER, "m", Comparator.EXACT),
    ],
)
def test_reading(text: str, value: float, kind: Kind, unit: str, comparator: Comparator) -> None:
    found = _first(text)
    assert (found.value, found.kind, found.unit, found.comparator) == (
        pytest.approx(value),
        kind,
        unit,
        comparator,
    )


@pytest.mark.parametrize("text", ["no one came", "COVID-19 spread", "十分重要", "千万别去"])
def test_words_that_only_look_like_numbers(text: str) -> None:
    assert quantities(text, chinese=is_chinese(text)) == ()


@pytest.mark.parametrize(
    ("claimed", "found", "expected"),
    [
        # Two faults of the prototype: a tolerance of half a percent, and decades compared by their digits.
        ("in 1990", "in 1994", Agreement.CONFLICT),
        ("in the 1990s", "in the 1992s", Agreement.CONFLICT),
        ("in the 1990s", "in 1990", Agreement.MISSING),
        ("about 1990", "in 1994", Agreement.CONFLICT),
        ("in 1990", "in 1990", Agreement.MATCH),
        ("1.2 million people", "1,234,567 people", Agreement.MATCH),
        ("1.2 million people", "1,260,000 people", Agreement.CONFLICT),
        ("4.66 million workers", "about 4.63 million workers", Agreement.CONFLICT),
        ("about 5 kg", "4.8 kg", Agreement.MATCH),
        ("5 mg", "5 kg", Agreement.CONFLICT),
        ("5 mg", "5 km", Agreement.MISSING),
        ("5 km", "5,000 metres", Agreement.MATCH),
        ("more than 50 people", "63 people", Agreement.MATCH),
        ("more than 50 people", "40 people", Agreement.CONFLICT),
        ("more than 3 people", "900 people", Agreement.CONFLICT),
        ("50 people", "more than 50 people", Agreement.CONFLICT),
        ("40 %", "40 people", Agreement.MISSING),
        ("第三名", "第四名", Agreement.CONFLICT),
        ("8848.86米", "8844.43米", Agreement.CONFLICT),
        ("1.2亿元", "12000万元", Agreement.MATCH),
        ("三十五人", "35人", Agreement.MATCH),
    ],
)
def test_agreement(claimed: str, found: str, expected: Agreement) -> None:
    chinese = is_chinese(claimed)
    others = quantities(found, chinese=is_chinese(found))
    assert agreement(quantities(claimed, chinese=chinese)[0], others) is expected
