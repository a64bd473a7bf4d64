"""RIS: one record per source whatever the values hold."""

import re

import rispy
from hypothesis import given
from hypothesis import strategies as st
from signal_search.citations import ris
from signal_search.citations.works import one_line
from signal_search.contracts.document import Author

from tests.fakes.results import ARTICLE, a_result, a_source


def record(**changes: object) -> list[str]:
    return ris.write(a_result(sources=(a_source(**changes),))).split("\r\n")


def test_a_journal_article() -> None:
    lines = ris.write(a_result(sources=(ARTICLE,))).split("\r\n")
    assert lines == [
        "TY  - JOUR",
        "AU  - van der Berg, Jan",
        "AU  - Organization for Economic Cooperation and Development",
        "AU  - 张三",
        "TI  - The Ekman layer & 50% of $US_dollars: {a} DNA study",
        "T2  - Journal of Physical Oceanography",
        "PY  - 1996",
        "DA  - 1996/12/01",
        "VL  - 26",
        "IS  - 12",
        "SP  - 2712",
        "EP  - 2735",
        "PB  - Simon and Schuster",
        "DO  - 10.1175/1520-0485(1996)026<2712:TEOIWU>2.0.CO;2",
        "UR  - https://doi.org/10.1175/1520-0485(1996)026",
        "Y2  - 2026/09/21",
        "LA  - en",
        "ER  - ",
        "",
    ]


def test_an_unknown_type_is_generic_and_never_undefined() -> None:
    assert record(work_type="sculpture")[0] == "TY  - GEN"


def test_a_month_without_a_day_keeps_its_slashes() -> None:
    assert "DA  - 2015/10//" in record(published="2015-10")
    assert "DA  - 2015///" in record(published="2015")


def test_an_author_with_a_comma_stays_whole() -> None:
    assert "AU  - Foo, Bar" in record(authors=(Author(literal="Foo, Bar"),))


def test_a_retraction_is_said() -> None:
    assert "N1  - Retracted" in record(retracted=True)


hostile = st.text(alphabet=st.sampled_from(list("aTYER -\r\n\u2028\x0b张")), max_size=30)


@given(hostile, hostile, hostile)
def test_no_value_can_begin_or_end_a_record(title: str, family: str, container: str) -> None:
    text = ris.write(
        a_result(
            sources=(
                a_source(
                    title=title, container=container, authors=(Author(family=family, given="x"),)
                ),
            )
            * 2
        )
    )
    lines = text.split("\r\n")
    assert lines.pop() == ""
    assert all(re.match(r"[A-Z][A-Z0-9]  - ", line) for line in lines)
    assert len(text.splitlines()) == len(lines)
    assert [line for line in lines if line.startswith(("TY", "ER"))] == ["TY  - ELEC", "ER  - "] * 2
    assert lines[0] == "TY  - ELEC"


@given(hostile, st.lists(hostile, max_size=3), hostile)
def test_an_independent_parser_reads_back_what_was_written(
    title: str, bodies: list[str], container: str
) -> None:
    authors = tuple(Author(literal=each) for each in bodies)
    source = a_source(title=title, authors=authors, container=container, published="2020-05")
    first, second = rispy.loads(ris.write(a_result(sources=(source, ARTICLE))))
    names = [one_line(each).strip(" ,;") for each in bodies]
    assert first.get("authors", []) == [each for each in names if each]
    assert first.get("title", "") == one_line(title)
    assert first.get("secondary_title", "") == one_line(container)
    assert (first["type_of_reference"], first["year"], first["date"]) == (
        "ELEC",
        "2020",
        "2020/05//",
    )
    assert second["doi"] == ARTICLE.doi
    assert (second["start_page"], second["end_page"], second["volume"]) == ("2712", "2735", "26")
