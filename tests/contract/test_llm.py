"""The model's client against a model that misbehaves: what each fault is called, and what is known of its tokens."""

import asyncio
import json

import msgspec
import pytest
from signal_search.contracts.generation import Message
from signal_search.errors import JudgeFailed, JudgeTimedOut

from infra.clock import SystemClock
from infra.llm import MAX_TEXT_BYTES, JudgeClient, Prompt, ask
from infra.llm_reply import Completion
from infra.loopback_web import LoopbackWeb
from infra.loopback_web.faults import Fault
from infra.settings import Settings
from tests.fakes.judge import KEY, model_calls, model_settings


def a_prompt(scenario: str = "", **changes: object) -> Prompt:
    asked = Message(role="user", content=f"scenario:{scenario}" if scenario else "anything")
    prompt = Prompt(messages=(asked,), max_tokens=64, timeout_s=10.0, max_body_bytes=65_536)
    return msgspec.structs.replace(prompt, **changes)


def complete(settings: Settings, prompt: Prompt) -> Completion:
    return ask(settings, SystemClock(), prompt)


def fails(settings: Settings, prompt: Prompt) -> tuple[str, int, int]:
    with pytest.raises(JudgeFailed) as caught:
        complete(settings, prompt)
    return caught.value.code, caught.value.status, caught.value.tokens


def test_an_answer_is_its_text_and_its_reported_tokens(web: LoopbackWeb) -> None:
    completion = complete(model_settings(web), a_prompt())
    assert json.loads(completion.text)["scorer"]["score"] == "lexical"
    assert (completion.tokens, completion.reports) == (41, True)


def test_parts_of_text_are_joined(web: LoopbackWeb) -> None:
    settings = model_settings(web)
    assert (
        complete(settings, a_prompt("parts")).text == complete(settings, a_prompt("no_usage")).text
    )


@pytest.mark.parametrize(
    ("scenario", "code", "tokens"),
    [
        ("status_401", "model_error", 0),
        ("status_429", "model_error", 0),
        ("status_500", "model_error", 0),
        ("status_500_usage", "model_error", 41),
        ("redirect", "model_error", 0),
        ("html", "model_response_invalid", 0),
        ("gzip", "model_response_invalid", 0),
        ("huge", "model_response_too_large", 0),
        ("not_json", "model_response_invalid", 0),
        ("not_utf8", "model_response_invalid", 0),
        ("wrong_shape", "model_response_invalid", 41),
        ("no_choices", "model_response_invalid", 41),
        ("null_content", "model_response_invalid", 41),
        ("empty_content", "model_response_invalid", 41),
        ("picture", "model_response_invalid", 41),
        ("long_text", "model_response_too_large", 41),
        ("key", "model_response_invalid", 41),
    ],
)
def test_a_fault_has_a_name_and_is_not_asked_twice(
    web: LoopbackWeb, scenario: str, code: str, tokens: int
) -> None:
    assert fails(model_settings(web), a_prompt(scenario)) == (code, 502, tokens)
    assert model_calls(web) == 1


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ({"reset": True}, "model_unavailable"),
        ({"truncate": True}, "model_response_invalid"),
        ({"html_error": True}, "model_error"),
        ({"status": 503, "retry_after": 1}, "model_error"),
        ({"captcha_200": True}, "model_response_invalid"),
    ],
)
def test_a_fault_of_the_line(web: LoopbackWeb, fault: dict[str, object], code: str) -> None:
    web.faults.add(Fault(host="model.test", **fault))  # type: ignore[arg-type]
    assert fails(model_settings(web), a_prompt())[0] == code
    assert model_calls(web) == 1


def test_a_slow_answer_ends_with_the_time_of_the_whole_exchange(web: LoopbackWeb) -> None:
    """The first byte comes at once and the others one by one: no single wait is long."""
    with pytest.raises(JudgeTimedOut) as caught:
        complete(model_settings(web), a_prompt("drip", timeout_s=0.5))
    assert (caught.value.code, caught.value.status) == ("generation_timeout", 504)


def test_a_model_may_think_for_longer_than_a_page_may_take(web: LoopbackWeb) -> None:
    web.faults.add(Fault(host="model.test", latency_s=0.5))
    assert complete(model_settings(web, fetch={"total_timeout_s": 0.2}), a_prompt()).tokens == 41


def test_a_model_that_is_not_there(web: LoopbackWeb) -> None:
    loopback = {"only": True, "hosts": {"model.test": "127.0.0.1:9"}}
    settings = model_settings(web)
    closed = settings.model_copy(update={"loopback": settings.loopback.model_copy(update=loopback)})
    assert fails(closed, a_prompt()) == ("model_unavailable", 502, 0)


def test_only_the_loopback_table_may_be_asked_where_it_is_the_only_one(web: LoopbackWeb) -> None:
    settings = model_settings(web, search={"agent_base_url": "https://models.example/v1"})
    assert fails(settings, a_prompt()) == ("model_unavailable", 502, 0)


def test_a_private_endpoint_may_be_asked(web: LoopbackWeb) -> None:
    """The operator's endpoint is no page: an address of this machine is as good as any."""
    settings = model_settings(web, search={"agent_base_url": f"http://127.0.0.1:{web.port}/v1"})
    open_ = settings.model_copy(
        update={"loopback": settings.loopback.model_copy(update={"only": False})}
    )
    # The loopback web has no model under its own address: it answers with a list of its hosts.
    assert fails(open_, a_prompt()) == ("model_response_invalid", 502, 0)


@pytest.mark.parametrize(
    ("scenario", "tokens", "reports"),
    [
        ("no_usage", 0, False),
        ("parts_of_usage", 41, True),
        ("half_of_usage", 11, True),
        ("lying_usage", 1_000_000, True),
        ("negative_usage", 0, False),
        ("worded_usage", 0, False),
        ("odd_usage", 0, False),
    ],
)
def test_tokens_are_those_that_are_reported(
    web: LoopbackWeb, scenario: str, tokens: int, reports: bool
) -> None:
    completion = complete(model_settings(web), a_prompt(scenario))
    assert (completion.tokens, completion.reports) == (tokens, reports)


def test_the_limit_of_text_is_in_bytes(web: LoopbackWeb) -> None:
    assert MAX_TEXT_BYTES == 16 * 1024
    smaller = a_prompt("long_text", max_body_bytes=16_000)
    assert fails(model_settings(web), smaller) == ("model_response_too_large", 502, 0)


def fields_of(completion: Completion) -> dict[str, object]:
    fields: dict[str, object] = json.loads(json.loads(completion.text)["summary"])
    return fields


@pytest.mark.parametrize(
    ("base_url", "quick", "has_switch"),
    [
        ("https://api.deepseek.com", True, True),
        ("https://api.deepseek.com/v1", True, True),
        ("https://api.deepseek.com/v1/", True, True),
        ("https://API.DeepSeek.com./", True, True),
        ("https://api.deepseek.com", False, False),
        ("http://model.test/v1", True, False),
    ],
)
def test_thinking_is_switched_off_at_one_host_only(
    web: LoopbackWeb, base_url: str, quick: bool, has_switch: bool
) -> None:
    settings = model_settings(
        web, search={"agent_base_url": base_url, "agent_model": "deepseek-v4-pro"}
    )
    fields = fields_of(complete(settings, a_prompt("fields", quick=quick)))
    expected = {
        "model": "deepseek-v4-pro",
        "max_tokens": 64,
        "temperature": 0,
        "stream": False,
        **({"thinking": {"type": "disabled"}} if has_switch else {}),
    }
    assert fields == expected


@pytest.mark.parametrize(
    "base_url",
    [
        "https://gw.example/api.deepseek.com",
        "https://api.deepseek.com.example.org",
        "https://xapi.deepseek.com",
        "http://api.deepseek.com:8080@model.test",
    ],
)
def test_a_host_that_only_looks_like_it_gets_no_switch(web: LoopbackWeb, base_url: str) -> None:
    try:
        settings = model_settings(web, search={"agent_base_url": base_url})
    except ValueError:
        return
    client = JudgeClient(settings, SystemClock())
    assert "thinking" not in client._body(a_prompt(quick=True))
    asyncio.run(client.aclose())


def test_nothing_of_the_exchange_shows_in_an_error(web: LoopbackWeb) -> None:
    with pytest.raises(JudgeFailed) as caught:
        complete(model_settings(web), a_prompt("key"))
    shown = f"{caught.value!r} {caught.value.message}"
    assert KEY not in shown
    assert "model.test" not in shown
