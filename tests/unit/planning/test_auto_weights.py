"""Weights by a model: three numbers, or the fixed ones with the reason."""

import json

import pytest
from signal_search.contracts.scorer import RankingWeights
from signal_search.errors import JudgeFailed, JudgeTimedOut

from infra.llm import Prompt
from infra.llm_reply import Completion
from infra.settings import Search, load
from workers.planning.auto_weights import Chosen, choose_weights, read_weights

FIXED = RankingWeights(lexical=1.0, citation=0.6, recency=0.2)


def figures(**changes: object) -> Search:
    model = {"agent_base_url": "http://m.test", "agent_model": "m", "agent_api_key": "k"}
    return load(search={"agent_enabled": True, **model, **changes}).search


def saying(text: str, tokens: int = 7) -> Completion:
    return Completion(text=text, tokens=tokens, reports=True)


def test_the_model_chooses() -> None:
    asked: list[Prompt] = []

    def ask(prompt: Prompt) -> Completion:
        asked.append(prompt)
        return saying('{"lexical": 0.5, "citation": 0, "recency": 1}')

    chosen = choose_weights("newest surface codes", figures(), ask)
    assert chosen == Chosen(
        weights=RankingWeights(lexical=0.5, citation=0.0, recency=1.0), tokens=7
    )
    [prompt] = asked
    assert json.loads(prompt.messages[1].content) == {"query": "newest surface codes"}
    assert not prompt.quick  # only generation switches thinking off


def never(_prompt: Prompt) -> Completion:
    raise AssertionError


def test_without_a_model_the_fixed_ones_hold() -> None:
    for off in (figures(agent_enabled=False), figures(agent_model="")):
        assert choose_weights("q", off, never) == Chosen(weights=FIXED, error="not_configured")


@pytest.mark.parametrize(
    ("error", "code"),
    [(JudgeFailed(tokens=3), "model_error"), (JudgeTimedOut(tokens=3), "generation_timeout")],
)
def test_a_model_that_fails_changes_nothing(error: JudgeFailed, code: str) -> None:
    def ask(_prompt: Prompt) -> Completion:
        raise error

    assert choose_weights("q", figures(), ask) == Chosen(weights=FIXED, tokens=3, error=code)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "citations matter",
        "[1,2,3]",
        '{"lexical": 1, "citation": 1}',
        '{"lexical": 1, "citation": 1, "recency": 1, "agreement": 1}',
        '{"lexical": 1, "citation": 1, "recency": 1.01}',
        '{"lexical": 1, "citation": -0.1, "recency": 1}',
        '{"lexical": "1", "citation": 1, "recency": 1}',
        '{"lexical": true, "citation": 1, "recency": 1}',
        '{"lexical": 0, "citation": 0, "recency": 0}',
        '{"lexical": NaN, "citation": 1, "recency": 1}',
        '{"lexical": 1e999, "citation": 1, "recency": 1}',
        "[" * 100_000,
    ],
)
def test_anything_else_is_no_choice(text: str) -> None:
    assert read_weights(text) is None
    chosen = choose_weights("q", figures(), lambda _prompt: saying(text))
    assert chosen == Chosen(weights=FIXED, tokens=7, error="model_response_invalid")
