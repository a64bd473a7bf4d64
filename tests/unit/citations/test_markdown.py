"""The document: complete, readable, and safe whatever the web put into it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from signal_search.citations import markdown
from signal_search.contracts.finding import Finding
from signal_search.contracts.result import StopReason

from tests.fakes.results import a_result, a_source, a_stop, nothing_reached


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("a*b_c`d", r"a\*b\_c\`d"),
        ("[x](y)|<b>", r"\[x\]\(y\)\|\<b\>"),
        ("# no heading", r"\# no heading"),
        ("- no item", r"\- no item"),
        ("1. no item", r"1\. no item"),
        ("&lt; ~~x~~", r"\&lt; \~\~x\~\~"),
        ("two\n\nparagraphs", "two paragraphs"),
    ],
)
def test_text_is_read_literally(text: str, escaped: str) -> None:
    assert markdown.escape(text) == escaped


@pytest.mark.parametrize(
    ("answer", "safe"),
    [
        ("<script>x</script>", "&lt;script>x&lt;/script>"),
        ("<!-- x -->", "&lt;!-- x -->"),
        ("see <https://example.org/a>", "see <https://example.org/a>"),
        ("a < b <3", "a < b <3"),
        ("<https://x onclick=y>", "&lt;https://x onclick=y>"),
        ("<javascript:alert(1)>", "&lt;javascript:alert(1)>"),
    ],
)
def test_no_html_is_passed_on(answer: str, safe: str) -> None:
    assert markdown.without_html(answer) == safe


def test_the_answer_comes_first_and_everything_is_there() -> None:
    text = markdown.write(a_result())
    assert text.startswith("# What is \\*WAL\\*?\n\nWAL appends changes to a log [1].\n")
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert headings == [
        "Findings",
        "Conflicts",
        "Open and uncertain",
        "How far to trust this",
        "Warnings",
        "Sources",
    ]
    assert "- WAL appends to a log [1][3] (0.80)\n  - ✓ TRUE: WAL appends — written there\n" in text
    assert "  - ✗ FALSE: WAL is slow — refuted\n  - ? UNCERTAIN: WAL is new — no date\n" in text
    assert "“WAL is on” [1] (0.81) rather than “WAL is off” [2] (0.50)" in text
    assert "no source says <https://example.org/b%20c>" in text
    assert "- Confidence: 0.76 — two independent sites agree\n- Claims supported: 1/3\n" in text
    assert "sources repeat themselves (`saturated`)" in text
    assert "1200 tokens (estimated), 3 calls, 5 fetches, 40960 bytes, 2 rounds" in text
    assert (
        "2. Ashish Vaswani, Noam Shazeer. Attention Is All You Need. 2017-06. <https://arxiv.org/abs/1706.03762> — weight 0.5000 **RETRACTED**"
        in text
    )
    assert text.endswith(
        "[2]: <https://arxiv.org/abs/1706.03762>\n[3]: <https://www.stats.gov.cn/sj/zxfb/202401/t20240117_1946624.html>\n"
    )


def test_chinese_results_have_chinese_headings() -> None:
    text = markdown.write(a_result(language="zh", exhausted=True, stop=a_stop(exhausted=True)))
    assert "## 发现\n" in text
    assert "- 预算或期限先到，覆盖可能不完整\n" in text
    assert "Findings" not in text


def test_nothing_is_invented_for_an_empty_result() -> None:
    text = markdown.write(nothing_reached())
    assert "No answer: nothing that was found supports one." in text
    assert "## Findings" not in text
    assert "## Sources" not in text
    assert StopReason.NO_SOURCE_REACHED.value in text


def test_an_address_that_is_no_web_address_is_not_linked() -> None:
    text = markdown.write(a_result(sources=(a_source(url="javascript:alert(1)"),)))
    assert "<javascript" not in text
    assert r"javascript:alert\(1\)" in text
    assert "[1]:" not in text


@given(st.text(alphabet=st.sampled_from(list("a<>/!b[]()\n`*&\\ -#1.")), max_size=40))
def test_no_text_of_a_source_becomes_markup(text: str) -> None:
    finding = Finding(
        text=text, question_id="q", question="", claims=(), citations=(1,), confidence=0.5
    )
    document = markdown.write(
        a_result(findings=(finding,), sources=(a_source(title=text),), answer="x")
    )
    without_escapes = re.sub(r"\\[\\`*_\[\]()|<>#~&$.\-+=)]", "", document)
    rest = re.sub(r"<https?://[^<>\s]*>", "", without_escapes)
    assert not re.search(r"<", rest)
    assert len(re.findall(r"^#", without_escapes, re.MULTILINE)) == document.count("\n## ") + 1
