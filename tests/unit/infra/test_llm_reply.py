"""Reading a completion: by hand for what is known, and with anything at all for what must never happen."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from signal_search.errors import JudgeFailed

from infra.llm_reply import known_tokens, read_reply, reported_tokens

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(["choices", "usage", "x"]), inner)
    ),
)


def body(content: Any, usage: Any = None) -> bytes:
    return json.dumps({"choices": [{"message": {"content": content}}], "usage": usage}).encode()


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"total_tokens": 0}, 0),
        ({"total_tokens": 41, "prompt_tokens": 1, "completion_tokens": 1}, 41),
        ({"prompt_tokens": 30, "completion_tokens": 11}, 41),
        ({"prompt_tokens": 30}, 30),
        ({"total_tokens": -1, "completion_tokens": 11}, 11),
        ({"total_tokens": True}, None),
        ({"total_tokens": 41.5}, None),
        ({"total_tokens": "41"}, None),
        ({"total_tokens": 10**12}, 10**12),
        ({"total_tokens": 10**12 + 1}, None),
        ({"total_tokens": 10**40}, None),
        ({}, None),
        (None, None),
        (41, None),
        ([41], None),
    ],
)
def test_tokens_are_whole_numbers_that_were_reported(usage: Any, tokens: int | None) -> None:
    assert known_tokens(body("x", usage)) == tokens
    assert reported_tokens(body("x", usage)) == (tokens or 0)


def test_an_error_may_report_too() -> None:
    assert reported_tokens(b'{"error": {}, "usage": {"total_tokens": 5}}') == 5
    assert reported_tokens(b"<html>") == 0


@pytest.mark.parametrize(
    ("chars", "fits"), [("x" * 16, True), ("x" * 17, False), ("量" * 6, False)]
)
def test_the_limit_counts_bytes(chars: str, fits: bool) -> None:
    if fits:
        assert read_reply(body(chars), most_bytes=16).text == chars
        return
    with pytest.raises(JudgeFailed) as caught:
        read_reply(body(chars, {"total_tokens": 3}), most_bytes=16)
    assert (caught.value.code, caught.value.tokens) == ("model_response_too_large", 3)


def test_a_secret_in_the_text_spoils_it_and_no_secret_does_not() -> None:
    with pytest.raises(JudgeFailed):
        read_reply(body("it is sk-1 indeed"), most_bytes=99, secrets=("sk-1",))
    assert read_reply(body("fine"), most_bytes=99, secrets=("",)).text == "fine"


@given(st.binary() | JSON.map(lambda value: json.dumps(value).encode()))
def test_no_bytes_break_the_reader(raw: bytes) -> None:
    try:
        completion = read_reply(raw, most_bytes=100)
    except JudgeFailed as error:
        tokens = error.tokens
    else:
        tokens = completion.tokens
        assert 0 < len(completion.text.encode()) <= 100
    assert tokens == reported_tokens(raw)


@given(JSON)
def test_no_content_breaks_the_reader(content: Any) -> None:
    try:
        completion = read_reply(body(content), most_bytes=100)
    except JudgeFailed:
        return
    assert completion.text.strip()
