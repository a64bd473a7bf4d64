"""What holds of every text: offsets, verbatim sentences, and nothing but verdicts out of noise."""

from hypothesis import given, settings
from hypothesis import strategies as st
from signal_search.contracts.document import Document
from signal_search.contracts.finding import Verdict

from scoring.claims.rules import VerifyRules
from scoring.claims.split import statements
from scoring.claims.verdict import verify
from scoring.text import sentences, tokens

PIECES = st.sampled_from(
    [
        "The tower",
        " is 330 m tall",
        "。",
        ". ",
        "! ",
        "？",
        "\n",
        "珠峰海拔",
        "8848.86米",
        " not ",
        "“好”",
        "é",
        "，",
        ", and was ",
        "Dr. ",
        "3.5%",
        " It",
        "的",
    ]
)
TEXTS = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=25).map("".join))


def _document(text: str) -> Document:
    return Document(
        doc_id="a",
        url="https://a.example/",
        title="",
        text=text,
        source_id="s",
        site="a.example",
        fetched_at_ms=0,
    )


@given(TEXTS)
def test_sentences_are_bytes_of_their_text_in_order_and_lose_no_word(text: str) -> None:
    raw, end = text.encode(), 0
    found = sentences(text)
    for each in found:
        assert raw[each.start : each.end].decode() == each.text
        assert each.start >= end
        end = each.end
    assert "".join("".join(each.text.split()) for each in found) == "".join(text.split())


@given(TEXTS)
def test_statements_lie_in_their_sentence(text: str) -> None:
    raw = text.encode()
    for each in statements(text):
        assert each.sentence.start <= each.start <= each.end <= each.sentence.end
        raw[each.start : each.end].decode()


@given(TEXTS)
def test_tokens_do_not_depend_on_case(text: str) -> None:
    assert tokens(text) == tokens(text.casefold())


@settings(max_examples=60)
@given(TEXTS, TEXTS)
def test_any_claim_on_any_text_has_a_verdict_with_exact_spans(claim: str, text: str) -> None:
    found = verify(claim, [_document(text)], own_doc_ids=set(), rules=VerifyRules())
    for span in (*found.supporting, *found.contradicting):
        assert text.encode()[span.start : span.end].decode() == span.quote
    assert (found.verdict is Verdict.TRUE) == bool(found.supporting)


@settings(max_examples=60)
@given(
    st.lists(
        st.sampled_from(["tower", "river", "north", "opened", "in", "the", "of", "1889", "Ansel"]),
        min_size=3,
        max_size=12,
    )
)
def test_a_verbatim_sentence_is_true_and_its_negation_is_not(words: list[str]) -> None:
    sentence = "Note " + " ".join(words) + "."
    document = _document(f"Before it. {sentence} After it.")
    assert (
        verify(sentence, [document], own_doc_ids={"a"}, rules=VerifyRules()).verdict is Verdict.TRUE
    )
    negated = "Note not " + " ".join(words) + "."
    assert (
        verify(negated, [document], own_doc_ids={"a"}, rules=VerifyRules()).verdict
        is not Verdict.TRUE
    )
