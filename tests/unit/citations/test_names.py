"""Names of people and bodies, in the orders that formats want."""

import pytest
from signal_search.citations.names import (
    authors_of,
    family_first,
    given_first,
    split_particle,
)
from signal_search.contracts.document import Author


@pytest.mark.parametrize(
    ("author", "first", "last"),
    [
        (Author(family="van der Berg", given="Jan"), "van der Berg, Jan", "Jan van der Berg"),
        (Author(family="张", given="三"), "张三", "张三"),
        (Author(family="欧阳", given="修"), "欧阳修", "欧阳修"),
        (Author(family="김", given="민수"), "김민수", "김민수"),
        (Author(family="Zhang", given="三"), "Zhang, 三", "三 Zhang"),
        (Author(literal="Foo, Bar"), "Foo, Bar", "Foo, Bar"),
        (Author(literal="阿里巴巴"), "阿里巴巴", "阿里巴巴"),
        (Author(family="Plato"), "Plato", "Plato"),
    ],
)
def test_names_in_both_orders(author: Author, first: str, last: str) -> None:
    assert family_first(author) == first
    assert given_first(author) == last


def test_trailing_commas_and_empty_names_are_dropped() -> None:
    raw = (
        Author(literal="Department for Education, "),
        Author(),
        Author(literal=" ;"),
        Author(family="A\r\n", given="B"),
    )
    assert authors_of(raw) == (
        Author(literal="Department for Education"),
        Author(family="A", given="B"),
    )


@pytest.mark.parametrize(
    ("family", "parts"),
    [
        ("van der Louw", ("van der", "Louw")),
        ("von Humboldt", ("von", "Humboldt")),
        ("d' Alembert", ("d'", "Alembert")),
        ("Van Gogh", ("", "Van Gogh")),
        ("hooks", ("", "hooks")),
        ("van der", ("van", "der")),
        ("García Márquez", ("", "García Márquez")),
        ("", ("", "")),
    ],
)
def test_a_particle_is_lower_case_and_leaves_a_name(family: str, parts: tuple[str, str]) -> None:
    assert split_particle(family) == parts
