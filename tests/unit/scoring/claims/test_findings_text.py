"""What an answer states and what it cites."""

import pytest

from scoring.claims.findings_text import citation_issues, cited_addresses, statement_part


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("先答：新华社称 A。\n来源：\n- https://a.com\n\n置信度：0.5", "新华社称 A。"),
        ("他写道：来源：不明。\n这是结论。", "他写道：来源：不明。\n这是结论。"),
        ("One fact.\n\n## Sources\n1. https://a.com", "One fact."),
        ("Intro.\nSources:\nmore text.\nSources:\n- https://a.com", "Intro.\nSources:\nmore text."),
        ("A fact.\nConfidence: 0.7", "A fact."),
    ],
)
def test_only_a_closing_section_is_cut(text: str, expected: str) -> None:
    assert statement_part(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("见 https://a.com/1。", ["https://a.com/1"]),
        (
            "(see https://a.com/x_(y)), https://b.com/?q=1.",
            ["https://a.com/x_(y)", "https://b.com/?q=1"],
        ),
        ("[a](https://a.com/1) and <https://a.com/1>", ["https://a.com/1"]),
        ("no address, not even ftp://a.com", []),
    ],
)
def test_addresses_end_before_punctuation(text: str, expected: list[str]) -> None:
    assert list(cited_addresses(text)) == expected


def test_an_address_that_was_not_fetched_is_an_issue() -> None:
    issues = citation_issues("https://a.com/1, https://b.com/2.", {"https://a.com/1"})
    assert [(each.type, each.url, each.action) for each in issues] == [
        ("citation_not_fetched", "https://b.com/2", "mark_unverified")
    ]
