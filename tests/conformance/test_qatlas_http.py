"""Generation and capabilities over HTTP as the scorer guide promises them (CONFORMANCE_DIR/qatlas.json).

Each case runs against a real gateway and store, with a model that does what the case says it does.
"""

import gzip
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from redis import Redis

from api_gateway.request_slots import slots_of
from budget.slots import Slots
from infra.settings import Settings, load
from infra.tokens import TokenStore
from tests.conformance.cases import Case, params
from tests.fakes.gateway import running
from tests.fakes.scripted_model import GOOD, Answer, Script, ScriptedModel, said, scripted

PATH = "/v1/scoring/generate"
PLAIN = {"query": "surface code", "requirements": "by lexical"}
OUTPUTS = {
    "valid": [GOOD],
    "invalid twice": ["no json", "no json"],
    "invalid, then valid": ["no json", GOOD],
    "unsupported_requirements": ['{"status":"unsupported_requirements","message":"no such data"}'],
    "clarification": ['{"status":"clarification","message":"which year?"}'],
}


class World:
    """Where a case runs: a store, a folder, a gateway with a model."""

    def __init__(self, redis: Redis, redis_url: str, folder: Path) -> None:
        self.redis = redis
        self.redis_url = redis_url
        self.folder = folder

    def settings(self, model: ScriptedModel, base_url: str, **search: Any) -> Settings:
        parts = {
            "scorer_generation_enabled": True,
            "agent_base_url": base_url,
            "agent_model": "m",
            "agent_api_key": "k",
            **search,
        }
        host = (urlsplit(base_url).hostname or "").rstrip(".")
        loopback = {"only": True, "hosts": {host: f"127.0.0.1:{model.port}"}}
        return load(
            redis_url=self.redis_url, data_dir=str(self.folder), search=parts, loopback=loopback
        )


def _request(given: Case) -> dict[str, Any]:
    """Return the body of a case: what it says, and what any body has where it says nothing of one."""
    own = {name: value for name, value in given.items() if name not in _DIRECTIONS}
    return own if "query" in own or "requirements" in own else {**PLAIN, **own}


# What a case says of the model and the deployment, not of the request.
_DIRECTIONS = frozenset(
    {
        "model_output",
        "model_http",
        "model_bytes",
        "model_encoding",
        "model_usage",
        "reserve",
        "base_url",
        "success",
        "enabled",
        "inflight",
        "third",
        "authorization",
        "service_token_set",
        "body",
        "bytes",
    }
)


def _script(given: Case) -> Script:
    if "model_http" in given:
        return lambda _n: Answer(b'{"error": "x"}', status=given["model_http"])
    if "model_bytes" in given:
        return lambda _n: Answer(b" " * given["model_bytes"])
    if "model_encoding" in given:
        packed = gzip.compress(said(GOOD).body)
        return lambda _n: Answer(packed, headers=(("content-encoding", given["model_encoding"]),))
    texts = OUTPUTS[given.get("model_output", "valid")]
    usage = given.get("model_usage", {"total_tokens": 41})
    return lambda n: said(texts[min(n, len(texts)) - 1], usage)


def check_generate(given: Case, expect: Case, world: World) -> None:
    search: dict[str, Any] = {}
    if "reserve" in given:
        search["scorer_generation_total_tokens"] = 1024
    if given.get("enabled") is False:
        search["scorer_generation_enabled"] = False
    base_url = given.get("base_url", "http://model.test/v1")
    with scripted(_script(given)) as model:
        headers = {"Content-Type": "application/json"}
        if given.get("service_token_set"):
            TokenStore.load(world.folder / "tokens.json").create("t", ("write",), {}, now_ms=1)
        for number in range(given.get("inflight", 0)):
            assert Slots(world.redis).take(slots_of("generate"), f"other-{number}", 32, 60_000)
        with running(world.settings(model, base_url, **search)) as client:
            reply = client.post(PATH, content=_content(given), headers=headers)
        _check(reply, model, expect)


def _content(given: Case) -> bytes:
    if "bytes" in given:
        return bytes(given["bytes"], "ascii").decode("unicode_escape").encode("latin-1")
    if "body" in given:
        return str(given["body"]).encode()
    return json.dumps(_request(given)).encode()


def _check(reply: httpx.Response, model: ScriptedModel, expect: Case) -> None:
    body = reply.json()
    checks: dict[str, Callable[[Any], bool]] = {
        "http": lambda wanted: reply.status_code == wanted,
        "code": lambda wanted: body["detail"]["code"] == wanted,
        "usage": lambda wanted: body["usage"] == wanted,
        "usage_kept": lambda wanted: (
            (body["usage"]["llm_tokens"] == 41 * len(model.questions)) is wanted
        ),
        "model_calls": lambda wanted: len(model.questions) == wanted,
        "body_read": lambda wanted: wanted is False and reply.status_code in {401, 429},
        "queued": lambda wanted: wanted is False,
        "retry_after": lambda wanted: reply.headers["retry-after"] == wanted,
        "request_has": lambda wanted: all(
            {name: each.get(name) for name in wanted} == wanted for each in _asked(model)
        ),
        "request_lacks": lambda wanted: all(wanted not in each for each in _asked(model)),
        "keys": lambda wanted: set(body) == set(wanted),
        "summary_prefix": lambda wanted: body["summary"].startswith(str(wanted)),
        "warnings_is_list": lambda wanted: isinstance(body["warnings"], list) is wanted,
        "scorer.filter_present": lambda wanted: ("filter" in body["scorer"]) is wanted,
    }
    for name, wanted in expect.items():
        assert name in checks, f"unknown expectation {name}"
        assert checks[name](wanted), (name, wanted, reply.status_code, reply.text)


def _asked(model: ScriptedModel) -> list[dict[str, Any]]:
    assert model.questions, "the model was not asked"
    return model.questions


def check_capabilities(given: Case, expect: Case, world: World) -> None:
    assert given == {}
    for enabled in (True, False):
        with scripted(lambda _n: said(GOOD)) as model:
            settings = world.settings(model, "http://model.test", scorer_generation_enabled=enabled)
            with running(settings) as client:
                body = client.get("/v1/scoring/capabilities").json()
        assert set(expect["keys"]) <= set(body)
        assert body["language"] == expect["language"]
        assert body["generation_available"] is enabled


CHECKS: dict[str, Callable[[Case, Case, World], None]] = {
    "http_generate": check_generate,
    "http_capabilities": check_capabilities,
}


def ours() -> list[Any]:
    """Return the cases of these areas; the others have a file of their own."""
    found = params("qatlas.json", functions=CHECKS, later={})
    return [each for each in found if each.values[0].get("area", "") in {"", *CHECKS}]


@pytest.fixture
def world(redis: Redis, redis_url: str, tmp_path: Path) -> World:
    return World(redis, redis_url, tmp_path)


@pytest.mark.parametrize("case", ours())
def test_qatlas_http(case: Case, world: World) -> None:
    CHECKS[case["area"]](case["input"], case["expect"], world)


@pytest.mark.parametrize(
    ("given", "expect"),
    [
        ({"query": "q"}, {"http": 422, "code": "invalid_request", "usage": {"llm_tokens": 0}}),
        (
            {"model_output": "clarification"},
            {"http": 422, "code": "clarification", "model_calls": 1},
        ),
        (
            {"model_output": "unsupported_requirements"},
            {"code": "unsupported_requirements", "usage_kept": True},
        ),
        ({"model_encoding": "gzip"}, {"http": 502, "code": "model_response_invalid"}),
        ({"enabled": False}, {"http": 503, "code": "generation_unavailable", "model_calls": 0}),
        ({"inflight": 2}, {"http": 429, "code": "rate_limited", "retry_after": "1"}),
        (
            {"service_token_set": True, "body": "anything"},
            {"http": 401, "usage": {"llm_tokens": 0}},
        ),
        ({"bytes": "\\xff\\xfe"}, {"http": 400, "code": "request_encoding"}),
    ],
)
def test_what_the_guide_says_beside_the_cases(given: Case, expect: Case, world: World) -> None:
    check_generate(given, expect, world)


def test_two_of_three_at_once_are_answered(world: World) -> None:
    """No slot is taken for longer than its request: three one after the other, at most two beside each other."""
    with (
        scripted(lambda _n: said(GOOD)) as model,
        running(world.settings(model, "http://model.test")) as client,
    ):
        with ThreadPoolExecutor() as pool:
            codes = [
                each.status_code
                for each in pool.map(lambda _: client.post(PATH, json=PLAIN), range(6))
            ]
        assert set(codes) <= {200, 429}
        assert 200 in codes
        assert client.post(PATH, json=PLAIN).status_code == 200
