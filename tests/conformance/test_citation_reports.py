"""Forty public bug reports about exported references, each with the output its reporters called right.

Inputs are those of the reports, brought into our record of a work. What is read back is read by parsers that are not
ours: bibtexparser, rispy, and json.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import bibtexparser
import pytest
import rispy
from signal_search.citations import bibtex, csl, export, markdown, ris
from signal_search.citations.keys import citation_keys
from signal_search.contracts.document import Author
from signal_search.contracts.result import CitedSource

from tests.fakes.results import a_result, a_source


def bib(source: CitedSource) -> Mapping[str, str]:
    library = bibtexparser.parse_string(bibtex.write(a_result(sources=(source,))))
    assert not library.failed_blocks
    (entry,) = library.entries
    return {field.key: field.value for field in entry.fields}


def field(name: str, **changes: Any) -> str:
    return bib(a_source(**changes)).get(name, "")


def ris_lines(**changes: Any) -> list[str]:
    return ris.write(a_result(sources=(a_source(**changes),))).split("\r\n")[:-1]


def ris_record(**changes: Any) -> Mapping[str, Any]:
    (record,) = rispy.loads(ris.write(a_result(sources=(a_source(**changes),))))
    return record


def csl_item(**changes: Any) -> Mapping[str, Any]:
    (item,) = json.loads(csl.write(a_result(sources=(a_source(**changes),))))
    return item


def person(family: str, given: str) -> tuple[Author, ...]:
    return (Author(family=family, given=given),)


def body(name: str) -> tuple[Author, ...]:
    return (Author(literal=name),)


def whole_everywhere(name: str, written: str = "") -> None:
    """A body's name is one author, undivided, in every format."""
    shown = written or name
    plain = shown.replace("\\&", "&")
    assert field("author", authors=body(name)) == f"{{{shown}}}"
    assert ris_record(authors=body(name))["authors"] == [plain]
    assert csl_item(authors=body(name))["author"] == [{"literal": plain}]
    assert f"{{Author}}: {plain}\n" in export(
        a_result(sources=(a_source(authors=body(name)),)), "noteexpress"
    )


# --- identifiers and addresses stay what they are ---------------------------------------------------------------------


def report_1() -> None:
    assert (
        field("doi", doi=r"10.1007/978-3-032-00942-5\_12", work_type="book-chapter")
        == "10.1007/978-3-032-00942-5_12"
    )


def report_2() -> None:
    url = "https://en.wikipedia.org/wiki/Underscore_(disambiguation)"
    assert field("url", url=url) == url


def report_3() -> None:
    assert field("doi", doi="10.1207/s15327051hci0702_1") == "10.1207/s15327051hci0702_1"
    assert field("url", url="https://example.org/a_b#c") == "https://example.org/a_b#c"


def report_4() -> None:
    assert field("doi", doi="10.1000/a_b%c&d#e") == "10.1000/a_b%c&d#e"


def report_5() -> None:
    doi = "10.1007/978-3-531-19121-8_8"
    assert field("doi", doi=doi) == doi
    assert field("publisher", publisher=doi) == r"10.1007/978-3-531-19121-8\_8"


def report_6() -> None:
    assert field("doi", doi=r"10.1007/978-3-319-55696-3\_16") == "10.1007/978-3-319-55696-3_16"


def report_7() -> None:
    assert (
        field("url", url="https://doi.org/10.1214%2F13-sts434")
        == "https://doi.org/10.1214/13-sts434"
    )


def report_8() -> None:
    assert "underscore_in_urls" in field("url", url="https://example.org/underscore_in_urls")


def report_9() -> None:
    doi = "10.1175/1520-0485(1996)026<2712:TEOIWU>2.0.CO;2"
    link = "https://doi.org/10.1175/1520-0485(1996)026%3C2712:TEOIWU%3E2.0.CO;2"
    source = a_source(doi=doi, url=f"https://doi.org/{doi}")
    assert (bib(source)["doi"], bib(source)["url"]) == (doi, link)
    assert f"[1]: <{link}>" in markdown.write(a_result(sources=(source,)))


def report_10() -> None:
    assert field("doi", doi="10.1000/x_y") == ris_record(doi="10.1000/x_y")["doi"] == "10.1000/x_y"


def report_11() -> None:
    assert field("doi", doi="10.1007/978-3-030-01388-2_6") == "10.1007/978-3-030-01388-2_6"


def report_12() -> None:
    """The reporter asks for an escaped underscore; with the url field the verbatim address is right."""
    assert field("url", url="https://example.org/a_b") == "https://example.org/a_b"


# --- a body is one author ---------------------------------------------------------------------------------------------


def report_13() -> None:
    whole_everywhere("Scrapy developers")
    whole_everywhere("Barnes and Noble, Inc.")


def report_14() -> None:
    whole_everywhere("Indiana University")


def report_15() -> None:
    whole_everywhere("Kruger and sons")


def report_16() -> None:
    assert field("publisher", publisher="Simon and Schuster") == "Simon {and} Schuster"


def report_17() -> None:
    whole_everywhere("Organization for Economic Cooperation and Development")


def report_18() -> None:
    whole_everywhere("IMO")
    assert field("author", authors=body("IMO, ")) == "{IMO}"


def report_19() -> None:
    assert (
        field("author", authors=body("Department for Education, ")) == "{Department for Education}"
    )


def report_20() -> None:
    whole_everywhere("OEIS Foundation Inc.")


def report_21() -> None:
    whole_everywhere("Corporate authors")
    assert field("publisher", publisher="Monthy & Co.") == r"Monthy \& Co."


# --- RIS --------------------------------------------------------------------------------------------------------------


def report_22() -> None:
    lines = ris_lines(published="2020", authors=person("Doe", "Jane"))
    assert lines[0].startswith("TY  - ")
    assert lines[-1] == "ER  - "
    assert all(lines)


def report_23() -> None:
    lines = ris_lines(pages="28-30")
    assert "SP  - 28" in lines
    assert "EP  - 30" in lines


def report_24() -> None:
    lines = ris_lines(work_type="journal-article", arxiv_id="1706.03762", container="J", volume="1")
    assert [line for line in lines if line.startswith("TY")] == ["TY  - JOUR"]


def report_25() -> None:
    written = export(a_result(), "ris").encode()
    assert written.count(b"\r\n") == written.count(b"\n")
    assert written.endswith(b"ER  - \r\n")


def report_26() -> None:
    assert ris_record(title="Line one.\nTY  - JOUR\nER  - ")["title"] == "Line one. TY - JOUR ER -"


def report_27() -> None:
    """No text of a page passes for its abstract: there is no AB at all."""
    assert not [line for line in ris_lines(container="A series") if line.startswith("AB")]


def report_28() -> None:
    title = "Soil-moisture data - a long - long title with hyphens"
    assert ris_record(title=title)["title"] == title


def report_29() -> None:
    assert ris_lines(work_type="Article of some kind")[0] == "TY  - GEN"
    assert ris_record(authors=body("Foo, Bar"))["authors"] == ["Foo, Bar"]


def report_30() -> None:
    authors = (*person("Doe", "Jane"), *person("Roe", "Richard"))
    assert ris_record(authors=authors)["authors"] == ["Doe, Jane", "Roe, Richard"]


def report_31() -> None:
    record = ris_record(title="A title\r\n", published="2009", container="J\r\n")
    assert record["year"] == "2009"
    assert not [value for value in record.values() if "\r" in str(value)]


def report_32() -> None:
    lines = ris_lines(published="2015-10")
    assert "DA  - 2015/10//" in lines
    assert all(lines)


# --- names ------------------------------------------------------------------------------------------------------------


def report_33() -> None:
    assert field("author", authors=person("张", "三")) == "{张三}"
    assert ris_record(authors=person("张", "三"))["authors"] == ["张三"]


def key_of(**changes: Any) -> str:
    return citation_keys([a_source(**changes)])[0]


def report_34() -> None:
    first = key_of(
        title="中国经济", authors=person("王", "伟"), published="2020", url="https://e.cn/1"
    )
    second = key_of(
        title="世界经济", authors=person("王", "伟"), published="2020", url="https://e.cn/2"
    )
    assert first != second
    assert first.isascii()


def report_35() -> None:
    for family in ("长孙", "东方", "令狐", "慕容", "欧阳", "上官", "司马"):
        assert field("author", authors=person(family, "明")) == f"{{{family}明}}"
        assert csl_item(authors=person(family, "明"))["author"][0]["family"] == family
    whole_everywhere("阿里巴巴")


def report_36() -> None:
    """No reading of a character is guessed, so none can be wrong: 叶 is read ye or xie."""
    assert not re.search("xie|ye", key_of(title="时评", authors=person("叶", "海林"), site="a.cn"))


def report_37() -> None:
    assert field("author", authors=person("诸葛", "亮")) == "{诸葛亮}"
    assert csl_item(authors=person("诸葛", "亮"))["author"] == [{"family": "诸葛", "given": "亮"}]


def report_38() -> None:
    authors = person("van der Louw", "Theo A. W.")
    assert field("author", authors=authors) == "van der Louw, Theo A. W."
    assert ris_record(authors=authors)["authors"] == ["van der Louw, Theo A. W."]


def report_39() -> None:
    """The particle is told apart explicitly, so that a style may demote it or not."""
    assert csl_item(authors=person("van Beethoven", "Ludwig"))["author"] == [
        {"family": "Beethoven", "given": "Ludwig", "non-dropping-particle": "van"}
    ]


def report_40() -> None:
    """What the record puts before the family name belongs to it; what it puts behind the given name does not."""
    assert (
        csl_item(authors=person("van Gogh", "Vincent"))["author"][0]["non-dropping-particle"]
        == "van"
    )
    humboldt = csl_item(authors=person("Humboldt", "Alexander von"))["author"][0]
    assert humboldt == {"family": "Humboldt", "given": "Alexander", "dropping-particle": "von"}
    assert field("author", authors=person("Humboldt", "Alexander von")) == "Humboldt, Alexander von"


REPORTS: dict[str, Callable[[], None]] = {
    "1-volkm/bibtex-dblp#21": report_1,
    "2-FlamingTempura/bibtex-tidy#4": report_2,
    "3-LaTeXing/LaTeXing#155": report_3,
    "4-retorquere/zotero-better-bibtex#1341": report_4,
    "5-retorquere/zotero-better-bibtex#1336": report_5,
    "6-iridia-ulb/references#8": report_6,
    "7-davidagraf/doi2bib#30": report_7,
    "8-retorquere/zotero-better-bibtex#18": report_8,
    "9-retorquere/zotero-better-bibtex#2644": report_9,
    "10-JabRef/jabref#2542": report_10,
    "11-fabian-beck/pure-suggest#316": report_11,
    "12-mkucej/i-librarian-free#107": report_12,
    "13-BeelGroup/Docear4Word#51": report_13,
    "14-andras-simonyi/citeproc-el#72": report_14,
    "15-oetiker/lshort#89": report_15,
    "16-jgm/pandoc-citeproc#96": report_16,
    "17-JabRef/jabref#4508": report_17,
    "18-mkucej/i-librarian#129": report_18,
    "19-jalvesaq/zotcite#146": report_19,
    "20-JuliaDocs/DocumenterCitations.jl#44": report_20,
    "21-michal-h21/biblatex-iso690#92": report_21,
    "22-dsifford/academic-bloggers-toolkit#389": report_22,
    "23-NaturalHistoryMuseum/scratchpads2#6502": report_23,
    "24-rero/rero-ils#3978": report_24,
    "25-zotero/publications#22": report_25,
    "26-rero/sonar#1130": report_26,
    "27-datacite/datacite#1294": report_27,
    "28-datacite/datacite#683": report_28,
    "29-citation-js/citation-js#225": report_29,
    "30-asreview/asreview#1416": report_30,
    "31-larsgw/citation.js#191": report_31,
    "32-JabRef/jabref#3634": report_32,
    "33-jgm/pandoc-citeproc#327": report_33,
    "34-retorquere/zotero-better-bibtex#2381": report_34,
    "35-retorquere/zotero-better-bibtex#2624": report_35,
    "36-retorquere/zotero-better-bibtex#1662": report_36,
    "37-JabRef/jabref#9605": report_37,
    "38-zepinglee/citeproc-lua#53": report_38,
    "39-citation-style-language/styles#4857": report_39,
    "40-citation-style-language/documentation#39": report_40,
}


def test_there_are_forty() -> None:
    assert [int(name.split("-")[0]) for name in REPORTS] == list(range(1, 41))


@pytest.mark.parametrize("name", REPORTS)
def test_report(name: str) -> None:
    REPORTS[name]()
