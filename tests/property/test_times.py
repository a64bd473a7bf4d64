"""What must hold for every day, every period and every text."""

from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from scoring.asked_time import asked_time, is_of_time
from scoring.times.period import Period, Relation, day, relation, since, until, years
from scoring.times.reading import times_in, without_times
from tests.fakes.builders import a_document

MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December")  # fmt: skip
DAYS = st.dates(date(1000, 1, 1), date(2099, 12, 31))
YEARS = st.integers(1000, 2099)
PERIODS = st.tuples(DAYS, DAYS).map(lambda ends: Period(min(ends), max(ends)))
PIECES = st.sampled_from(
    ["in", "since", "May", "may", "2024", "1999-", "to", "Q1", "5", "月", "日", "年", "年代", "去年", "第", "世纪",
     "十", "二〇", "last", "year", "and", "between", ",", " ", " ", "\n", "31", "29 February", "99"]
)  # fmt: skip
TEXTS = st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=14).map("".join))


@given(DAYS)
def test_a_day_is_read_as_it_is_written(own: date) -> None:
    name = MONTHS[own.month - 1]
    written = [
        own.isoformat(),
        f"{own.day} {name} {own.year}",
        f"{name} {own.day}, {own.year}",
        f"{own.year}年{own.month}月{own.day}日",
    ]
    for each in written:
        [found] = times_in(each, None)
        assert (found.period, found.is_sure) == (Period(own, own), True)


@given(TEXTS, st.one_of(st.none(), DAYS))
def test_every_text_is_read(text: str, today: date | None) -> None:
    found = times_in(text, today)
    ends = [0, *(place for each in found for place in (each.start, each.end)), len(text)]
    assert ends == sorted(ends)
    assert all(each.period.first <= each.period.last for each in found)
    assert len(without_times(text)) <= len(text) + len(found)


@given(PERIODS, PERIODS)
def test_a_relation_and_its_mirror(one: Period, other: Period) -> None:
    mirrored = {Relation.PART: Relation.WIDER, Relation.WIDER: Relation.PART}
    there, back = relation(one, other), relation(other, one)
    assert back is mirrored.get(there, there)
    assert (there is Relation.SAME) == (one == other)
    assert (there is Relation.APART) == (one.last < other.first or other.last < one.first)


@given(PERIODS)
def test_what_has_an_open_end_holds_what_it_begins_with(own: Period) -> None:
    assert relation(own, since(own)) is Relation.PART
    assert relation(own, until(own)) is Relation.PART
    assert relation(own, own) is Relation.SAME


@given(DAYS)
def test_a_day_is_a_part_of_its_year_with_or_without_naming_it(own: date) -> None:
    of_year = years(own.year, own.year)
    nameless = day(own.day, own.month, None)
    assert relation(Period(own, own), of_year) is Relation.PART
    assert nameless is not None
    assert relation(nameless, of_year) is Relation.PART


@given(YEARS, YEARS)
def test_a_value_answers_for_its_year_alone(asked_for: int, said: int) -> None:
    for question, text in (
        (f"How much did it deliver in {asked_for}?", f"It delivered 7 GWh in {said}."),
        (f"{asked_for}年发电多少？", f"{said}年发电七吉瓦时。"),
    ):
        asked = asked_time(question)
        assert asked is not None
        assert is_of_time(asked, a_document(text=text), 0) is (asked_for == said)
