"""The stored form of a text, and its language."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.fetching.language import language_of
from workers.fetching.plain_text import one_line, plain_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\r\nb\rc\u2028d", "a\nb\nc\nd"),
        ("a  \t\n\n \n\n\nb", "a\n\nb"),
        ("\n\n a \n", "a"),
        ("e\u0301", "é"),
        ("a\x00\x07b\ufeff", "ab"),
        ("  code\n    indented", "code\n    indented"),
        ("bad \ud800 surrogate", "bad \ufffd surrogate"),
    ],
)
def test_plain_text(text: str, expected: str) -> None:
    assert plain_text(text) == expected


@given(st.text(st.characters(codec=None), max_size=80))
def test_stable_and_encodable(text: str) -> None:
    once = plain_text(text)
    assert plain_text(once) == once
    assert once.encode().decode() == once


def test_one_line() -> None:
    assert one_line(" a\n\n b\tc ", 4) == "a b"
    assert one_line(" a\n\n b\tc ", 5) == "a b c"


@pytest.mark.parametrize(
    ("text", "declared", "expected"),
    [
        ("The committee published its findings after a long review of the evidence.", "de", "en"),
        ("Der Ausschuss veröffentlichte seine Ergebnisse nach einer langen Prüfung.", "", "de"),
        ("Комитет опубликовал свои выводы после долгой проверки доказательств.", "", "ru"),
        ("委员会在长时间审查证据之后公布了结果。", "", "zh"),
        ("委員会は証拠を長い時間をかけて審査した後、結果を発表した。", "", "ja"),
        ("위원회는 증거를 오랫동안 검토한 후 결과를 발표했다.", "", "ko"),
        ("使用 Python 编写的检索系统 API 参考", "en", "zh"),
        ("OK", "fr-CA", "fr"),
        ("OK", "", ""),
        ("", "", ""),
    ],
)
def test_language(text: str, declared: str, expected: str) -> None:
    assert language_of(text, declared) == expected
