"""The operator's model as the judge: the same questions as JSON, and answers that are taken as they are or not at all."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from signal_search.contracts.judging import Judgements

from infra.clock import SystemClock
from infra.settings import Settings, load
from tests.contract.test_adaptive_judges import REQUEST
from tests.fakes.scripted_model import Answer, said, scripted
from workers.judges.openai_chat import ChatJudge

GOOD = {"src.e1.relevance": 0.9, "src.e1.kind": {"choice": "lead", "confidence": 0.8}}


def settings_for(port: int) -> Settings:
    search = {
        "agent_base_url": f"http://127.0.0.1:{port}/v1",
        "agent_model": "scripted",
        "agent_api_key": "sk-scripted-0123456789",
    }
    return load(search=search, adaptive={"judge": "openai_chat"})


def judged(script: Callable[[int], Answer]) -> tuple[Judgements, list[dict[str, Any]]]:
    with scripted(script) as model:
        judge = ChatJudge(settings_for(model.port), SystemClock())
        return judge.judge(REQUEST, left_s=20.0), model.questions


def test_short_answers_are_read_by_the_type_of_their_question() -> None:
    answers, questions = judged(lambda _n: said(json.dumps(GOOD)))
    assert answers.nouls == {"src.e1.relevance": 0.9}
    assert answers.choices["src.e1.kind"].choice == "lead"
    assert (answers.error, answers.attempts, answers.tokens) == ("", 1, 41)
    [asked] = questions
    told = json.loads(asked["messages"][1]["content"])
    assert set(told["questions"]) == set(REQUEST.questions)
    assert told["state"] == REQUEST.state


def test_a_fence_is_taken_off() -> None:
    answers, _ = judged(lambda _n: said(f"```json\n{json.dumps(GOOD)}\n```"))
    assert answers.nouls == {"src.e1.relevance": 0.9}


@pytest.mark.parametrize("text", ["It is relevant.", "[1, 2]", '{"a": ', "```\nno\n```"])
def test_what_is_no_object_is_no_answer_and_is_not_asked_for_again(text: str) -> None:
    answers, questions = judged(lambda _n: said(text))
    assert (answers.error, answers.tokens) == ("malformed_response", 41)
    assert len(questions) == 1


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (Answer(b"{}", status=500), "server_error"),
        (Answer(b"{}", status=401), "server_error"),
        (Answer(b"{}", status=302, headers=(("location", "http://127.0.0.1:9/"),)), "server_error"),
        (Answer(b"oops"), "malformed_response"),
    ],
)
def test_a_model_that_fails_is_a_judge_that_fails(answer: Answer, code: str) -> None:
    answers, questions = judged(lambda _n: answer)
    assert (answers.error, len(questions)) == (code, 1)
    assert (answers.nouls, answers.choices) == ({}, {})


def test_values_that_are_none_are_unknown() -> None:
    wrong = {"src.e1.relevance": "0.9", "src.e1.reading_value": 1.4, "src.e1.kind": "lead"}
    answers, _ = judged(lambda _n: said(json.dumps(wrong)))
    assert (answers.nouls, answers.choices, answers.invalid) == ({}, {}, 3)


def test_the_model_is_asked_about_fewer_texts_at_a_time() -> None:
    made = settings_for(1)
    assert made.adaptive.screen_limits.batch_size == made.adaptive.chat_batch_size == 8
