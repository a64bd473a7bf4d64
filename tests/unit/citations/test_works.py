"""Cleaning of what web pages and records say about a work; inputs are spellings met in the wild."""

import pytest
from signal_search.citations.works import (
    date_parts,
    doi_of,
    iso_date,
    kind_of,
    link_target,
    one_line,
    page_range,
    url_of,
)

from tests.fakes.results import a_source


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\r\n b\tc", "a b c"),
        ("\x1b[31mred\x07", "[31mred"),
        ("全角　空格", "全角 空格"),
        ("line\u2028separator", "line separator"),
        ("", ""),
    ],
)
def test_text_is_brought_on_one_line(text: str, line: str) -> None:
    assert one_line(text) == line


@pytest.mark.parametrize(
    ("published", "parts"),
    [
        ("2024", (2024,)),
        ("2024-05", (2024, 5)),
        ("2024-05-03", (2024, 5, 3)),
        ("2024-05-03T10:00:00Z", (2024, 5, 3)),
        ("1993-00-00", (1993,)),
        ("2024-13-01", (2024,)),
        ("0000", ()),
        ("", ()),
        ("n.d.", ()),
        ("20240503", ()),
    ],
)
def test_a_date_has_one_to_three_parts(published: str, parts: tuple[int, ...]) -> None:
    assert date_parts(published) == parts


def test_a_date_is_written_with_leading_zeros() -> None:
    assert iso_date((987, 5, 3)) == "0987-05-03"


@pytest.mark.parametrize(
    ("raw", "doi"),
    [
        ("10.1007/978-3-032-00942-5\\_12", "10.1007/978-3-032-00942-5_12"),
        ("https://doi.org/10.1214%2F13-sts434", "10.1214/13-sts434"),
        ("http://dx.doi.org/10.1207/s15327051hci0702_1", "10.1207/s15327051hci0702_1"),
        ("doi: 10.1007/978-3-531-19121-8_8", "10.1007/978-3-531-19121-8_8"),
        (
            "10.1175/1520-0485(1996)026<2712:TEOIWU>2.0.CO;2",
            "10.1175/1520-0485(1996)026<2712:TEOIWU>2.0.CO;2",
        ),
        ("10.1000/100%25", "10.1000/100%25"),
        ("10.1000/a{b} c", "10.1000/a%7Bb%7D%20c"),
        ("see the journal", ""),
        ("", ""),
    ],
)
def test_a_doi_is_bare_and_verbatim(raw: str, doi: str) -> None:
    assert doi_of(a_source(doi=raw)) == doi


@pytest.mark.parametrize(
    ("raw", "url"),
    [
        (
            "https://en.wikipedia.org/wiki/Underscore_(disambiguation)?a=1&b=%7E#x",
            "https://en.wikipedia.org/wiki/Underscore_(disambiguation)?a=1&b=%7E#x",
        ),
        ("https://doi.org/10.1214%2F13-sts434", "https://doi.org/10.1214/13-sts434"),
        ("https://example.org/a\\_b", "https://example.org/a_b"),
        ("https://example.org/a b{c}\\d", "https://example.org/a%20b%7Bc%7D%5Cd"),
        ("https://example.org/a%2Fb", "https://example.org/a%2Fb"),
    ],
)
def test_an_address_is_verbatim(raw: str, url: str) -> None:
    assert url_of(a_source(url=raw)) == url


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("https://example.org/a<b>c", "https://example.org/a%3Cb%3Ec"),
        ("https://example.org/a b", "https://example.org/a%20b"),
        ("javascript:alert(1)", ""),
        ("data:text/html,x", ""),
        ("http://[broken", ""),
        ("", ""),
    ],
)
def test_only_web_addresses_become_links(url: str, target: str) -> None:
    assert link_target(url) == target


@pytest.mark.parametrize(
    ("pages", "pair"),
    [
        ("28-30", ("28", "30")),
        ("28–30", ("28", "30")),
        ("28--30", ("28", "30")),
        ("S12 - S19", ("S12", "S19")),
        ("e1234", ("e1234", "")),
        ("1-3, 7", ("1-3, 7", "")),
        ("", ("", "")),
    ],
)
def test_pages_are_split_only_when_they_are_a_range(pages: str, pair: tuple[str, str]) -> None:
    assert page_range(pages) == pair


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"work_type": "journal-article"}, "article"),
        ({"work_type": "Journal Article"}, "article"),
        ({"work_type": "proceedings_article"}, "conference"),
        ({"work_type": "posted-content"}, "preprint"),
        ({"work_type": "ScholarlyArticle"}, "article"),
        ({"arxiv_id": "1706.03762"}, "preprint"),
        ({"container": "Nature", "volume": "1"}, "article"),
        ({"container": "A blog"}, "web"),
        ({"work_type": "sculpture"}, "other"),
        ({"doi": "10.1/x"}, "other"),
        ({}, "web"),
    ],
)
def test_kinds_are_told_by_the_record_and_not_guessed(changes: dict[str, str], kind: str) -> None:
    assert kind_of(a_source(**changes)) == kind
