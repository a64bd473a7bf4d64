"""Passages are whole sentences, byte for byte, and stay within their tokens."""

from scoring.passages import best_passages, estimate_tokens
from tests.fakes.builders import a_document

TEXT = (
    "Mount Ansel lies in the north. Its summit is 2,114 metres high. "
    "昂塞尔峰的海拔是2114米。Goats live on its slopes. The height was measured in 1903."
)
DOCUMENT = a_document(text=TEXT)


def quotes(question: str, limit: int = 400, terms: tuple[str, ...] = ()) -> list[str]:
    return [each.quote for each in best_passages(question, DOCUMENT, limit, terms)]


def test_spans_are_bytes_of_the_stored_text() -> None:
    raw = TEXT.encode()
    spans = best_passages("海拔 summit goats", DOCUMENT, 400)
    assert len(spans) == 3
    assert all(raw[each.start : each.end].decode() == each.quote for each in spans)


def test_best_sentence_comes_first() -> None:
    assert quotes("summit metres high")[0] == "Its summit is 2,114 metres high."
    assert quotes("When was the height measured?")[0] == "The height was measured in 1903."


def test_other_language_finds_its_sentence_through_terms() -> None:
    # The second has the value that is asked for, the third the word only.
    assert quotes("峰顶 高度", terms=("summit", "height")) == [
        "Its summit is 2,114 metres high.",
        "昂塞尔峰的海拔是2114米。",
        "The height was measured in 1903.",
    ]


def test_nothing_fits_an_unrelated_question() -> None:
    assert quotes("tax law of Portugal") == []


def test_tokens_are_kept() -> None:
    # "Its summit is 2,114 metres high." has 32 characters: 8 tokens
    assert quotes("summit metres high", limit=8) == ["Its summit is 2,114 metres high."]
    assert quotes("summit metres high", limit=7) == []


def test_token_estimate() -> None:
    assert estimate_tokens("中文abcd") == 3
    assert estimate_tokens("abc") == 0
