"""BibTeX: what is escaped, what is verbatim, and that an independent parser reads back what was written."""

import re

import bibtexparser
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pylatexenc.latex2text import LatexNodes2Text
from signal_search.citations import bibtex
from signal_search.citations.works import one_line
from signal_search.contracts.document import Author
from signal_search.contracts.result import CitedSource

from tests.fakes.results import ARTICLE, CHINESE, PREPRINT, a_result, a_source


def fields_of(source: CitedSource) -> dict[str, str]:
    library = bibtexparser.parse_string(bibtex.write(a_result(sources=(source,))))
    assert not library.failed_blocks
    (entry,) = library.entries
    return {field.key: field.value for field in entry.fields}


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("Monthy & Co.", r"Monthy \& Co."),
        ("50% of $US_1 #1", r"50\% of \$US\_1 \#1"),
        (r"C:\temp ~x^2", r"C:\textbackslash{}temp \textasciitilde{}x\textasciicircum{}2"),
        ("a {b} c", r"a \{b\} c"),
        ("a } b", r"a \textbraceright{} b"),
        ("} {", r"\textbraceright{} \textbraceleft{}"),
        ("two\nlines", "two lines"),
        ("中文 & é", r"中文 \& é"),
    ],
)
def test_text_is_escaped(text: str, escaped: str) -> None:
    assert bibtex.escape(text) == escaped


@pytest.mark.parametrize(
    ("author", "written"),
    [
        (Author(family="van der Berg", given="Jan"), "van der Berg, Jan"),
        (Author(literal="Barnes and Noble, Inc."), "{Barnes and Noble, Inc.}"),
        (Author(literal="Indiana University"), "{Indiana University}"),
        (Author(literal="Kruger and sons"), "{Kruger and sons}"),
        (Author(literal="IMO, "), "{IMO}"),
        (Author(literal="AT&T"), r"{AT\&T}"),
        (Author(family="张", given="三"), "{张三}"),
        (Author(family="Smith, Jr.", given="Ann"), "{Smith, Jr.}, Ann"),
        (Author(family="Marks and Spencer", given="X"), "{Marks and Spencer}, X"),
    ],
)
def test_a_name_stays_one_name(author: Author, written: str) -> None:
    assert fields_of(a_source(authors=(author,)))["author"] == written


@pytest.mark.parametrize(
    ("title", "written"),
    [
        ("Attention is all you need", "Attention is all you need"),
        ("the DNA of iPhones", "the {DNA} of {iPhones}"),
        ("DNA repair", "{DNA} repair"),
        ("what $US buys", r"what {{\$US}} buys"),
        ("sets {A} and b", r"{sets \{A\} and b}"),
    ],
)
def test_capitals_are_protected(title: str, written: str) -> None:
    assert fields_of(a_source(title=title))["title"] == written


def test_identifiers_are_verbatim_and_the_same_text_elsewhere_is_escaped() -> None:
    source = a_source(
        doi="10.1007/978-3-531-19121-8_8", url="https://example.org/a_b?c=%7E&d#e", publisher="a_b"
    )
    fields = fields_of(source)
    assert fields["doi"] == "10.1007/978-3-531-19121-8_8"
    assert fields["url"] == "https://example.org/a_b?c=%7E&d#e"
    assert fields["publisher"] == r"a\_b"


def test_a_journal_article() -> None:
    fields = fields_of(ARTICLE)
    assert bibtex.write(a_result(sources=(ARTICLE,))).startswith("@article{berg1996ekman,\n")
    assert fields["journal"] == "Journal of Physical Oceanography"
    assert fields["publisher"] == "Simon {and} Schuster"
    assert (fields["volume"], fields["number"], fields["pages"]) == ("26", "12", "2712--2735")
    assert (fields["year"], fields["date"], fields["urldate"]) == (
        "1996",
        "1996-12-01",
        "2026-09-21",
    )
    assert fields["doi"] == "10.1175/1520-0485(1996)026<2712:TEOIWU>2.0.CO;2"
    assert fields["langid"] == "english"


def test_a_preprint_names_its_archive_and_a_retraction_is_said() -> None:
    fields = fields_of(PREPRINT)
    assert (fields["eprint"], fields["eprinttype"]) == ("1706.03762", "arxiv")
    assert fields["note"] == "Retracted"


def test_what_is_unknown_is_left_out() -> None:
    assert set(fields_of(a_source())) == {"title", "url"}


@pytest.mark.parametrize(
    ("work_type", "entry", "container", "publisher"),
    [
        ("proceedings-article", "inproceedings", "booktitle", "publisher"),
        ("book-chapter", "incollection", "booktitle", "publisher"),
        ("dissertation", "phdthesis", "howpublished", "school"),
        ("report", "techreport", "howpublished", "institution"),
        ("dataset", "misc", "howpublished", "publisher"),
    ],
)
def test_each_kind_has_its_own_fields(
    work_type: str, entry: str, container: str, publisher: str
) -> None:
    source = a_source(work_type=work_type, container="Home", publisher="House")
    fields = fields_of(source)
    assert bibtex.write(a_result(sources=(source,))).startswith(f"@{entry}{{")
    assert (fields[container], fields[publisher]) == ("Home", "House")


def test_without_sources_there_is_nothing() -> None:
    assert bibtex.write(a_result(sources=())) == ""


def test_a_latex_reader_sees_the_original_title() -> None:
    title = r"50% of $US & {sets} in C:\temp #1 a_b ~x naïve 中文"
    assert LatexNodes2Text().latex_to_text(fields_of(a_source(title=title))["title"]) == title


_COMMANDS = {
    "textbackslash": "\\", "textasciitilde": "~", "textasciicircum": "^", "textbraceleft": "{", "textbraceright": "}",
}  # fmt: skip


def read_latex(text: str) -> str:
    """Read as LaTeX does: commands with their empty group, escaped characters, groups without their braces."""

    def meaning(match: re.Match[str]) -> str:
        return _COMMANDS[match[1]] if match[1] else match[2] or ""

    return re.sub(r"\\(text\w+)\{\}|\\(.)|[{}]", meaning, text)


hard = st.text(alphabet=st.sampled_from(list("ab AZ{}$%_\\&#~^@\"'=,张三é <>\n-")), max_size=30)
names = st.builds(Author, family=hard, given=hard) | st.builds(Author, literal=hard)


@given(hard, st.lists(names, max_size=3), hard)
def test_round_trip(title: str, authors: list[Author], publisher: str) -> None:
    sources = (
        a_source(1, title=title, authors=tuple(authors), publisher=publisher, published="2020"),
        CHINESE,
    )
    library = bibtexparser.parse_string(bibtex.write(a_result(sources=sources)))
    assert not library.failed_blocks
    assert len(library.entries) == 2
    entry = library.entries[0].fields_dict
    for field, original in (("title", title), ("publisher", publisher)):
        found = entry[field].value if field in entry else ""
        assert read_latex(found) == one_line(original)
    assert entry["year"].value == "2020"


@given(hard, hard, hard, hard)
def test_braces_balance_in_every_value(title: str, family: str, given_name: str, url: str) -> None:
    source = a_source(
        title=title, url="https://e.org/" + url, authors=(Author(family=family, given=given_name),)
    )
    text = bibtex.write(a_result(sources=(source,)))
    depth = 0
    for each in text:  # as BibTeX counts: an escaped brace is a brace
        depth += (each == "{") - (each == "}")
        assert depth >= 0
    assert depth == 0


def test_separate_authors_are_separated_by_and() -> None:
    authors = (
        Author(family="Doe", given="A"),
        Author(literal="Foo and Bar"),
        Author(family="李", given="四"),
    )
    assert fields_of(a_source(authors=authors))["author"] == "Doe, A and {Foo and Bar} and {李四}"
