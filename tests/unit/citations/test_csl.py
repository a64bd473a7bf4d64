"""CSL-JSON: names, dates and identifiers as the schema has them."""

import json

import pytest
from citeproc import (
    Citation,
    CitationItem,
    CitationStylesBibliography,
    CitationStylesStyle,
    formatter,
)
from citeproc.source.json import CiteProcJSON
from hypothesis import given
from hypothesis import strategies as st
from signal_search.citations import csl
from signal_search.contracts.document import Author

from tests.fakes.results import ARTICLE, CHINESE, PREPRINT, a_result, a_source


def items(*sources: object) -> list[dict[str, object]]:
    return json.loads(csl.write(a_result(sources=sources)))


def test_a_journal_article() -> None:
    (item,) = items(ARTICLE)
    assert item == {
        "id": "berg1996ekman",
        "type": "article-journal",
        "title": "The Ekman layer & 50% of $US_dollars: {a} DNA study",
        "author": [
            {"family": "Berg", "given": "Jan", "non-dropping-particle": "van der"},
            {"literal": "Organization for Economic Cooperation and Development"},
            {"family": "张", "given": "三"},
        ],
        "container-title": "Journal of Physical Oceanography",
        "publisher": "Simon and Schuster",
        "issued": {"date-parts": [[1996, 12, 1]]},
        "accessed": {"date-parts": [[2026, 9, 21]]},
        "volume": "26",
        "issue": "12",
        "page": "2712–2735",
        "DOI": "10.1175/1520-0485(1996)026<2712:TEOIWU>2.0.CO;2",
        "URL": "https://doi.org/10.1175/1520-0485(1996)026",
        "language": "en",
    }


def test_a_preprint_carries_its_number_and_its_retraction() -> None:
    (item,) = items(PREPRINT)
    assert (item["type"], item["number"], item["note"]) == (
        "article",
        "arXiv:1706.03762",
        "Retracted",
    )


def test_a_body_is_literal_and_an_unknown_date_is_absent() -> None:
    (item,) = items(
        a_source(authors=(Author(literal="OEIS Foundation Inc."), Author(family="Plato")))
    )
    assert item["author"] == [{"literal": "OEIS Foundation Inc."}, {"literal": "Plato"}]
    assert "issued" not in item


def test_no_sources_give_an_empty_list() -> None:
    assert items() == []


def rendered(*sources: object) -> list[str]:
    """Return the references as an independent processor writes them, in the style that comes with it."""
    found = items(*sources)
    style = CitationStylesStyle("harvard-cite-them-right", validate=False)
    bibliography = CitationStylesBibliography(style, CiteProcJSON(found), formatter.plain)
    for item in found:
        bibliography.register(Citation([CitationItem(item["id"])]))
    return [str(each) for each in bibliography.bibliography()]


def test_an_independent_processor_writes_the_references() -> None:
    article, preprint, chinese = rendered(ARTICLE, PREPRINT, CHINESE)
    assert article.startswith(
        "van der Berg, J., Organization for Economic Cooperation and Development and"
    )
    assert "(1996) “The Ekman layer & 50% of $US_dollars: {a} DNA study”" in article
    assert "Journal of Physical Oceanography, 26(12), pp. 2712–2735" in article
    assert "10.1175/1520-0485(1996)026<2712:TEOIWU>2.0.CO;2" in article
    assert preprint.startswith("Vaswani, A. and Shazeer, N. (2017) “Attention Is All You Need”")
    assert chinese.startswith("国家统计局 (2024) 2023年国民经济回升向好.")


@pytest.mark.parametrize(
    "work_type",
    ["journal-article", "proceedings-article", "book-chapter", "book", "dissertation", "report",
     "posted-content", "dataset", "software", "standard", "patent", "webpage", "sculpture"],
)  # fmt: skip
def test_every_kind_is_a_type_the_processor_knows(work_type: str) -> None:
    (line,) = rendered(a_source(work_type=work_type, published="2020-02-03"))
    assert "2020" in line
    assert "Write-ahead logging" in line


# The processor reads markup of its own (nested quotes, tags) and joins punctuation; letters and digits come back.
plain = st.text(alphabet="abcXYZ 019张三é", min_size=1, max_size=20).filter(str.strip)


@given(plain, st.lists(plain, min_size=1, max_size=3), st.integers(1000, 2999))
def test_title_names_and_year_come_back(title: str, bodies: list[str], year: int) -> None:
    authors = tuple(Author(literal=each) for each in bodies)
    (line,) = rendered(a_source(title=title, authors=authors, published=str(year)))
    assert " ".join(title.split()) in line
    assert str(year) in line
    assert " ".join(bodies[0].split()) in line


def test_a_particle_is_told_apart_by_where_it_stands() -> None:
    (item,) = items(
        a_source(
            authors=(
                Author(family="Humboldt", given="Alexander von"),
                Author(family="Lopez", given="Ana maria"),
                Author(family="Gaulle", given="de"),
            )
        )
    )
    assert item["author"] == [
        {"family": "Humboldt", "given": "Alexander", "dropping-particle": "von"},
        {"family": "Lopez", "given": "Ana maria"},
        {"family": "Gaulle", "given": "de"},
    ]
