"""From the answers of several sources to one list: in turn, two of a site at first, one row for an address."""

from signal_search.contracts.adaptive_plan import Target
from signal_search.contracts.hit import Hit

from workers.pipeline.adaptive_rows import _rows, _whole
from workers.screening.texts import excerpt_of, version_of


def hits(source: str, *urls: str) -> list[Hit]:
    return [Hit(url=url, source_id=source, title=f"{source} {at}") for at, url in enumerate(urls)]


def urls(*lists: list[Hit], most: int = 100) -> list[str]:
    return [each.url for each in _rows(lists, most)]


def test_sources_take_turns() -> None:
    first = hits("a", "http://a1.test/", "http://a2.test/")
    second = hits("b", "http://b1.test/", "http://b2.test/", "http://b3.test/")
    assert urls(first, second) == [
        "http://a1.test/",
        "http://b1.test/",
        "http://a2.test/",
        "http://b2.test/",
        "http://b3.test/",
    ]


def test_a_third_page_of_a_site_waits_for_the_second_pass() -> None:
    many = hits("a", *(f"http://one.test/{at}" for at in range(4)), "http://two.test/")
    assert urls(many) == [
        "http://one.test/0",
        "http://one.test/1",
        "http://two.test/",
        "http://one.test/2",
        "http://one.test/3",
    ]
    assert len(urls(many, most=2)) == 2


def test_one_address_is_one_row_with_the_fuller_text_and_both_ranks() -> None:
    first = [Hit(url="http://www.e.test/a/?utm_source=x", source_id="a", snippet="one two")]
    second = [Hit(url="http://e.test/a", source_id="b", snippet="one two three", title="T")]
    [row] = _rows([first, second], 10)
    assert (row.url, row.title, row.snippet) == (
        "http://www.e.test/a/?utm_source=x",
        "T",
        "one two three",
    )
    assert row.score == 2 / 61  # first at both: 1 / (60 + 1) each


def test_dates_are_days_where_they_are_known() -> None:
    stated = {
        "2026-01-15": "2026-01-15",
        "2026-01-31T23:30:00-02:00": "2026-01-31T23:30:00-02:00",
        "May 4, 2026": "2026-05-04",
        "2026": "2026",
        "soon": "",
    }
    for written, expected in stated.items():
        [row] = _rows([[Hit(url="http://e.test/", source_id="a", published=written)]], 10)
        assert row.published == expected


TARGET = Target(id="q1", text="tidal power", keywords=("array",))


def test_passages_that_touch_the_target_come_first_and_stay_in_order() -> None:
    blocks = [
        "Nothing here at all to see.",
        "The tidal array makes power.",
        "x " * 400,
        "Power again.",
    ]
    excerpt = excerpt_of("\n\n".join(blocks), TARGET)
    assert excerpt.index("tidal array") < excerpt.index("Power again")


def test_menus_are_left_out_and_tables_are_not() -> None:
    menu = "[Home](http://a/) [News](http://b/) [Contact](http://c/)"
    table = "| [a](http://a/) | [b](http://b/) | [c](http://c/) |"
    assert (
        excerpt_of(f"{menu}\n\nThe tidal array makes power.", TARGET)
        == "The tidal array makes power."
    )
    assert "[b]" in excerpt_of(table, TARGET)


def test_a_version_names_the_basis_and_the_text() -> None:
    assert (
        version_of("abc", "snippet") == "snippet:a9993e3647"
    )  # FIPS 180-4: SHA-1 of "abc" is a9993e36 4706816a ...
    assert version_of("abc", "engine_content") != version_of("abc", "snippet")


def test_a_sentence_keeps_the_title_it_begins_with() -> None:
    told = Hit(url="http://e.test/", title="Mount Ansel", snippet="is 2,114 metres high.")
    assert _whole(told, "Mount Ansel is 2,114 metres high.") == "Mount Ansel is 2,114 metres high."
    apart = Hit(url="http://e.test/", title="Mount Ansel", snippet="It is high.")
    for text in ("Mount Ansel. It is high.", "Mount Ansel\nIt is high.", "Another text."):
        assert _whole(apart, text) == "It is high."
