"""A summary by a model: text beside the hits, with references to hits that exist, or the reason why there is none."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from signal_search.errors import JudgeFailed

from infra.llm import Prompt
from infra.llm_reply import Completion
from infra.settings import Search, load
from workers.synthesis.summary import Shown, Summary, read_summary, summarise

HITS = (Shown(title="One", snippet="first"), Shown(title="Two"))


def figures(**changes: object) -> Search:
    model = {"agent_base_url": "http://m.test", "agent_model": "m", "agent_api_key": "k"}
    return load(search={"agent_enabled": True, **model, **changes}).search


def never(_prompt: Prompt) -> Completion:
    raise AssertionError


def test_a_summary_of_the_hits() -> None:
    asked: list[Prompt] = []

    def ask(prompt: Prompt) -> Completion:
        asked.append(prompt)
        return Completion(text="One says so [1], the other not [2].", tokens=9, reports=True)

    found = summarise("q", HITS, figures(), ask)
    assert found == Summary(text="One says so [1], the other not [2].", tokens=9)
    told = json.loads(asked[0].messages[1].content)
    assert told == {
        "query": "q",
        "hits": [
            {"n": 1, "title": "One", "snippet": "first"},
            {"n": 2, "title": "Two", "snippet": ""},
        ],
    }
    assert not asked[0].quick


def test_only_the_first_hits_and_a_part_of_each_go_out() -> None:
    asked: list[Prompt] = []

    def ask(prompt: Prompt) -> Completion:
        asked.append(prompt)
        return Completion(text="x [20] [21]")

    many = [Shown(title="t" * 1000, snippet="s" * 1000)] * 50
    assert summarise("q", many, figures(), ask).text == "x [20]"
    hits = json.loads(asked[0].messages[1].content)["hits"]
    assert (len(hits), len(hits[0]["title"]), len(hits[0]["snippet"])) == (20, 300, 400)


def test_reasons_for_none() -> None:
    assert summarise("q", HITS, figures(agent_enabled=False), never).error == "not_configured"
    assert summarise("q", (), figures(), never).error == "no_hits"
    blank = summarise("q", HITS, figures(), lambda _: Completion(text=" \x07 ", tokens=2))
    assert blank == Summary(tokens=2, error="model_response_invalid")

    def ask(_prompt: Prompt) -> Completion:
        raise JudgeFailed(code="model_unavailable", tokens=1)

    assert summarise("q", HITS, figures(), ask) == Summary(tokens=1, error="model_unavailable")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("See [1].", "See [1]."),
        ("See [3].", "See."),
        ("See [0] and [2]", "See and [2]"),
        ("At https://evil.example/x now", "At  now"),
        ("www.evil.example", ""),
        ("\x1b[31mred\x1b[0m", "[31mred[0m"),
        ("two\nlines", "two\nlines"),
        ("x" * 5000, "x" * 4000),
    ],
)
def test_what_is_shown_of_it(text: str, shown: str) -> None:
    assert read_summary(text, count=2) == shown


@given(st.text())
def test_no_text_breaks_it(text: str) -> None:
    shown = read_summary(text, count=2)
    assert len(shown) <= 4000
    assert "http://" not in shown.lower()
