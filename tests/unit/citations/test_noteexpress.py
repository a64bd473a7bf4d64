"""NoteExpress import text: one field per line, authors repeated, an empty line after each record."""

from hypothesis import given
from hypothesis import strategies as st
from signal_search.citations import noteexpress
from signal_search.contracts.document import Author

from tests.fakes.results import CHINESE, a_result, a_source


def test_a_chinese_article() -> None:
    source = a_source(
        title="Test_Title with & ampersand: 中文",
        authors=(Author(family="张", given="三"), Author(family="欧阳", given="修")),
        container="计算机学报", published="2021-03", volume="44", issue="3", pages="1-12", work_type="journal-article",
        doi="10.11897/SP.J.1016.2021.00001", language="zh", url="https://example.cn/a",
    )  # fmt: skip
    assert noteexpress.write(a_result(sources=(source,))) == (
        "{Reference Type}: Journal Article\n"
        "{Title}: Test_Title with & ampersand: 中文\n"
        "{Author}: 张三\n"
        "{Author}: 欧阳修\n"
        "{Journal}: 计算机学报\n"
        "{Year}: 2021\n"
        "{Date}: 2021-03\n"
        "{Volume}: 44\n"
        "{Issue}: 3\n"
        "{Pages}: 1-12\n"
        "{URL}: https://example.cn/a\n"
        "{DOI}: 10.11897/SP.J.1016.2021.00001\n"
        "{Language}: zh\n"
        "\n"
    )


def test_a_meeting_is_the_tertiary_title() -> None:
    source = a_source(work_type="proceedings-article", container="NeurIPS")
    text = noteexpress.write(a_result(sources=(source,)))
    assert text.startswith("{Reference Type}: Conference Proceedings\n")
    assert "{Tertiary Title}: NeurIPS\n" in text


@given(st.text(alphabet=st.sampled_from(list("a{}: \r\n\u2028张")), max_size=30))
def test_no_value_can_begin_a_field_or_end_a_record(title: str) -> None:
    text = noteexpress.write(a_result(sources=(a_source(title=title), CHINESE)))
    records = text.split("\n\n")
    assert records.pop() == ""
    assert len(records) == 2
    assert all(line.startswith("{") for record in records for line in record.splitlines())
    assert sum(line.startswith("{Title}") for line in text.splitlines()) == 1 + bool(title.split())
