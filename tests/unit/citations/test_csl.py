"""CSL-JSON: names, dates and identifiers as the schema has them."""

import json

from signal_search.citations import csl
from signal_search.contracts.document import Author

from tests.fakes.results import ARTICLE, PREPRINT, a_result, a_source


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
