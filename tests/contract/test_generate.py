"""Generation over HTTP, on a real gateway and store, with a model that misbehaves in every way it can."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from redis import Redis
from signal_search.contracts.budget import Dimension

from api_gateway.problems import problem
from budget.policy import deployment_level, tenant_level, token_level
from budget.redis_ledger import RedisLedger
from infra.clock import SystemClock
from infra.loopback_web import LoopbackWeb
from infra.loopback_web.faults import Fault
from infra.loopback_web.model import SCENARIOS
from infra.settings import load
from infra.tokens import TokenStore
from scoring.expression.compiler import compile_program
from scoring.generation.allowance import Allowance
from scoring.generation.draft import SUMMARY_PREFIX
from tests.fakes.gateway import running
from tests.fakes.judge import KEY, model_calls, model_settings
from tests.fakes.scorer import a_program
from tests.fakes.servers import wait_until

PATH = "/v1/scoring/generate"
WISH = "after 2020, by lexical"
Ask = Callable[..., httpx.Response]


@pytest.fixture(scope="module")
def gateway(
    served: LoopbackWeb, redis_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx.Client]:
    folder = str(tmp_path_factory.mktemp("generate"))
    with running(model_settings(served, redis_url=redis_url, data_dir=folder)) as client:
        yield client


@pytest.fixture
def ask(gateway: httpx.Client, web: LoopbackWeb, redis: Redis) -> Ask:
    """Ask for a program of a scenario, over a store that is empty but for counts, and a model without a past."""
    assert web.log.entries("model.test") == []

    def post(scenario: str = "", client: httpx.Client = gateway, **fields: Any) -> httpx.Response:
        query = f"scenario:{scenario}" if scenario else "surface code threshold"
        return client.post(PATH, json={"query": query, "requirements": WISH, **fields})

    return post


def told(reply: httpx.Response) -> tuple[int, str, int]:
    """Status, code and tokens of a failure, whose body has the house's form, a usage and nothing else."""
    body = reply.json()
    assert body.keys() == {"detail", "usage", "request_id"}
    assert body["detail"].keys() <= {"code", "message", "field", "position"}
    assert body["usage"].keys() == {"llm_tokens"}
    shown = reply.text
    assert KEY not in shown
    assert "model.test" not in shown
    assert WISH not in shown
    return reply.status_code, body["detail"]["code"], body["usage"]["llm_tokens"]


def test_a_program_with_its_explanation(ask: Ask, web: LoopbackWeb) -> None:
    reply = ask()
    assert reply.status_code == 200
    body = reply.json()
    made = body.pop("scorer")
    assert made == {
        "language": "qatlas-expr-v1",
        "filter": "coalesce(year, 0) > 2020",
        "score": "lexical",
    }
    program = compile_program(a_program("lexical", "coalesce(year,0)>2020"))
    assert body == {
        "summary": "Model explanation: Later than 2020, by lexical.",
        "warnings": ["Check it."],
        "scorer_hash": program.hash,
        "feature_version": program.feature_version,
        "usage": {"llm_tokens": 41},
    }
    assert model_calls(web) == 1


# scenario, calls of the model, tokens that it reported
SUCCESSES = [
    ("parts", 1, 41),
    ("fenced", 1, 41),
    ("no_filter", 1, 41),
    ("prose_then_good", 2, 82),
    ("type_error_then_good", 2, 82),
    ("no_usage", 1, 0),
    ("parts_of_usage", 1, 41),
    ("half_of_usage", 1, 11),
    ("negative_usage", 1, 0),
    ("worded_usage", 1, 0),
    ("odd_usage", 1, 0),
]


@pytest.mark.parametrize(("scenario", "calls", "tokens"), SUCCESSES)
def test_a_program_in_spite_of(
    ask: Ask, web: LoopbackWeb, scenario: str, calls: int, tokens: int
) -> None:
    reply = ask(scenario)
    assert reply.status_code == 200
    body = reply.json()
    assert body["scorer"]["score"] == "lexical"
    assert body["scorer"]["filter"]
    assert body["summary"].startswith(SUMMARY_PREFIX)
    assert (model_calls(web), body["usage"]["llm_tokens"]) == (calls, tokens)


def test_a_filter_that_is_absent_keeps_everything(ask: Ask) -> None:
    assert ask("no_filter").json()["scorer"]["filter"] == "true"


def test_where_nobody_set_a_limit_nothing_is_kept(ask: Ask, redis: Redis) -> None:
    assert ask().status_code == 200
    assert redis.keys("ss:{b}*") == []


# scenario, status, code, calls of the model, tokens that it reported
FAILURES = [
    ("status_401", 502, "model_error", 1, 0),
    ("status_429", 502, "model_error", 1, 0),
    ("status_500", 502, "model_error", 1, 0),
    ("status_500_usage", 502, "model_error", 1, 41),
    ("redirect", 502, "model_error", 1, 0),
    ("html", 502, "model_response_invalid", 1, 0),
    ("gzip", 502, "model_response_invalid", 1, 0),
    ("not_json", 502, "model_response_invalid", 1, 0),
    ("not_utf8", 502, "model_response_invalid", 1, 0),
    ("wrong_shape", 502, "model_response_invalid", 1, 41),
    ("no_choices", 502, "model_response_invalid", 1, 41),
    ("null_content", 502, "model_response_invalid", 1, 41),
    ("empty_content", 502, "model_response_invalid", 1, 41),
    ("picture", 502, "model_response_invalid", 1, 41),
    ("key", 502, "model_response_invalid", 1, 41),
    ("huge", 502, "model_response_too_large", 1, 0),
    ("long_text", 502, "model_response_too_large", 1, 41),
    ("prose", 422, "generation_invalid", 2, 82),
    ("type_error", 422, "generation_invalid", 2, 82),
    ("extra_field", 422, "generation_invalid", 2, 82),
    ("long_summary", 422, "generation_invalid", 2, 82),
    ("many_warnings", 422, "generation_invalid", 2, 82),
    ("long_warning", 422, "generation_invalid", 2, 82),
    ("blank_warning", 422, "generation_invalid", 2, 82),
    ("large_program", 422, "generation_invalid", 2, 82),
    ("unsupported", 422, "unsupported_requirements", 1, 41),
    ("clarification", 422, "clarification", 1, 41),
    ("repeating", 422, "clarification", 1, 41),
    ("lying_usage", 413, "token_budget_exceeded", 1, 1_000_000),
    ("bulky_then_good", 413, "token_budget_exceeded", 1, 41),
]


@pytest.mark.parametrize("row", FAILURES, ids=lambda row: row[0])
def test_a_failure_has_its_code_and_keeps_its_tokens(
    ask: Ask, web: LoopbackWeb, row: tuple[str, int, str, int, int]
) -> None:
    scenario, status, code, calls, tokens = row
    assert told(ask(scenario)) == (status, code, tokens)
    assert model_calls(web) == calls


def test_every_scenario_is_tried() -> None:
    tried = {each[0] for each in FAILURES} | {each[0] for each in SUCCESSES}
    of_judges = {"all_true", "all_false", "odd_verdicts", "few_verdicts"}
    assert SCENARIOS - tried == {"drip", "fields", *of_judges}  # which have tests of their own
    assert tried <= SCENARIOS


def test_a_connection_that_breaks(ask: Ask, web: LoopbackWeb) -> None:
    web.faults.add(Fault(host="model.test", reset=True))
    assert told(ask()) == (502, "model_unavailable", 0)
    assert model_calls(web) == 1


def test_what_the_model_says_when_it_declines_is_marked_as_its_words(ask: Ask) -> None:
    message = ask("clarification").json()["detail"]["message"]
    assert message == "Model explanation: Which year is meant?"


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"api_keys": {}}, None),
        ({"query": 1}, "query"),
        ({"query": None}, "query"),
        ({"query": ""}, "query"),
        ({"query": " \n\t"}, "query"),
        ({"query": "q" * 4001}, "query"),
        ({"requirements": True}, "requirements"),
        ({"requirements": "　"}, "requirements"),
        ({"requirements": "r" * 4001}, "requirements"),
    ],
)
def test_a_request_that_is_not_valid(
    ask: Ask, web: LoopbackWeb, fields: dict[str, Any], field: str | None
) -> None:
    reply = ask(**fields)
    assert told(reply) == (422, "invalid_request", 0)
    assert reply.json()["detail"].get("field") == field
    assert model_calls(web) == 0


@pytest.mark.parametrize("missing", ["query", "requirements"])
def test_both_fields_are_required(ask: Ask, gateway: httpx.Client, missing: str) -> None:
    body = {"query": "q", "requirements": "r"}
    del body[missing]
    reply = gateway.post(PATH, json=body)
    assert told(reply) == (422, "invalid_request", 0)
    assert reply.json()["detail"]["field"] == missing


def test_the_texts_may_have_4000_characters_whatever_their_bytes(ask: Ask) -> None:
    """4000 Chinese characters are within the limit of the field; their 12,000 bytes are beyond that of the tokens."""
    assert told(ask(query="量" * 4000)) == (413, "token_budget_exceeded", 0)


@pytest.mark.parametrize(
    ("content", "status", "code"),
    [
        (b"\xff\xfe", 400, "request_encoding"),
        (b'{"query": "\x00"}', 400, "request_encoding"),
        (b"{", 400, "request_encoding"),
        (b"[" * 65, 422, "request_nesting_limit"),
        (b'"' + b"x" * 65_536 + b'"', 413, "request_too_large"),
        (b"[]", 422, "invalid_request"),
    ],
)
def test_a_body_that_is_refused(
    ask: Ask, gateway: httpx.Client, content: bytes, status: int, code: str
) -> None:
    headers = {"Content-Type": "application/json"}
    assert told(gateway.post(PATH, content=content, headers=headers)) == (status, code, 0)


def test_a_body_in_chunks_is_counted_as_it_comes(ask: Ask, gateway: httpx.Client) -> None:
    pieces = (b" " * 1000 for _ in range(66))
    reply = gateway.post(PATH, content=pieces, headers={"Content-Type": "application/json"})
    assert told(reply) == (413, "request_too_large", 0)


@pytest.mark.parametrize("wish", ["只要 Nature 期刊的论文", "papers by the author Kitaev"])
def test_wishes_that_no_feature_knows_do_not_reach_the_model(
    ask: Ask, web: LoopbackWeb, wish: str
) -> None:
    assert told(ask(requirements=wish)) == (422, "unsupported_requirements", 0)
    assert model_calls(web) == 0


def test_the_other_methods_tell_their_usage_too(ask: Ask, gateway: httpx.Client) -> None:
    assert told(gateway.get(PATH)) == (405, "method_not_allowed", 0)


def test_capabilities_say_whether_programs_are_made(ask: Ask, gateway: httpx.Client) -> None:
    body = gateway.get("/v1/scoring/capabilities").json()
    assert body["generation_available"] is True
    assert body["language"] == "qatlas-expr-v1"
    assert isinstance(body["features"], dict)


@pytest.mark.parametrize(
    "search",
    [
        {"scorer_generation_enabled": False},
        {"agent_base_url": ""},
        {"agent_api_key": "  "},
        {"agent_model": " "},
    ],
)
def test_without_a_switch_or_a_whole_model_there_is_none(
    web: LoopbackWeb, redis: Redis, redis_url: str, tmp_path: Path, ask: Ask, search: dict[str, Any]
) -> None:
    settings = model_settings(web, redis_url=redis_url, data_dir=str(tmp_path), search=search)
    with running(settings) as client:
        assert client.get("/v1/scoring/capabilities").json()["generation_available"] is False
        assert told(ask(client=client)) == (503, "generation_unavailable", 0)
        assert told(ask(client=client, query=" ")) == (422, "invalid_request", 0)
    assert model_calls(web) == 0


def test_generation_is_off_unless_switched_on() -> None:
    assert load().search.scorer_generation_enabled is False


def test_time_is_counted_over_both_calls(
    web: LoopbackWeb, redis: Redis, redis_url: str, tmp_path: Path, ask: Ask
) -> None:
    """Each call would do with the time, both together would not; a busy machine has seconds for the first."""

    def asked(scenario: str, timeout_s: float) -> tuple[int, str, int]:
        search = {"scorer_generation_timeout": timeout_s}
        settings = model_settings(web, redis_url=redis_url, data_dir=str(tmp_path), search=search)
        with running(settings) as client:
            return told(ask(scenario, client))

    assert asked("drip", 1.0) == (504, "generation_timeout", 0)
    web.faults.add(Fault(host="model.test", latency_s=3.5, count=2))
    assert asked("prose_then_good", 6.5) == (504, "generation_timeout", 41)
    wait_until(lambda: model_calls(web) == 3, "the model has noted the call that nobody waited for")


def test_the_settings_reach_the_model(
    web: LoopbackWeb, redis: Redis, redis_url: str, tmp_path: Path, ask: Ask
) -> None:
    search = {"scorer_generation_max_tokens": 77, "agent_base_url": "https://api.deepseek.com"}
    settings = model_settings(web, redis_url=redis_url, data_dir=str(tmp_path), search=search)
    with running(settings) as client:
        summary = ask("fields", client).json()["summary"].removeprefix(SUMMARY_PREFIX)
    fields = json.loads(summary)
    assert (fields["max_tokens"], fields["thinking"]) == (77, {"type": "disabled"})


# --- who asks, and on whose account -----------------------------------------------------------------------------------


@pytest.fixture
def tokens(tmp_path: Path) -> dict[str, str]:
    path = tmp_path / "tokens.json"
    few = {Dimension.MODEL_TOKENS: 6000}
    return {
        "red": TokenStore.load(path).create("red", ("write",), {}, now_ms=1)[0],
        "few": TokenStore.load(path).create("red", ("write",), few, now_ms=1)[0],
        "reader": TokenStore.load(path).create("red", ("read",), {}, now_ms=1)[0],
    }


@pytest.fixture
def limited(
    web: LoopbackWeb, redis: Redis, redis_url: str, tmp_path: Path, tokens: dict[str, str]
) -> Iterator[httpx.Client]:
    settings = model_settings(
        web,
        redis_url=redis_url,
        data_dir=str(tmp_path),
        tenant={"model_tokens": 12_000},
        deployment={"per": "ever", "model_tokens": 100_000},
    )
    assert tokens
    with running(settings) as client:
        yield client


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_without_a_token_nothing_is_read(limited: httpx.Client, web: LoopbackWeb) -> None:
    reply = limited.post(PATH, content=b"\xff", headers={"Content-Type": "application/json"})
    assert told(reply) == (401, "unauthorized", 0)
    assert model_calls(web) == 0


def test_generating_costs_so_reading_is_not_enough(
    limited: httpx.Client, tokens: dict[str, str]
) -> None:
    reply = limited.post(PATH, json={}, headers=bearer(tokens["reader"]))
    assert told(reply) == (403, "forbidden", 0)


def test_what_the_model_reports_is_booked_on_every_level(
    limited: httpx.Client, tokens: dict[str, str], redis: Redis, tmp_path: Path
) -> None:
    body = {"query": "q", "requirements": WISH}
    assert limited.post(PATH, json=body, headers=bearer(tokens["few"])).status_code == 200
    ledger, now_ms = RedisLedger(redis), SystemClock().now_ms()
    records = TokenStore.load(tmp_path / "tokens.json").records
    token_id = next(each.id for each in records if each.limits)
    for level in (
        token_level(token_id, now_ms),
        tenant_level("red", "day", now_ms),
        deployment_level("ever", now_ms),
    ):
        balance = ledger.balance(level)
        assert (balance.used, balance.held) == (
            {Dimension.JUDGE_REQUESTS: 1, Dimension.MODEL_TOKENS: 41},
            {},
        )


def test_what_is_not_reported_is_booked_as_it_was_held(
    limited: httpx.Client, tokens: dict[str, str], redis: Redis
) -> None:
    """The model may have used it: 256 + 1024 and the bytes of the messages, which are more than 3000 and less than 5000."""
    body = {"query": "scenario:no_usage", "requirements": WISH}
    reply = limited.post(PATH, json=body, headers=bearer(tokens["red"]))
    assert reply.json()["usage"] == {"llm_tokens": 0}
    used = RedisLedger(redis).balance(deployment_level("ever", 0)).used[Dimension.MODEL_TOKENS]
    assert 4280 < used < 6280


def test_a_call_that_was_never_made_costs_nothing(
    limited: httpx.Client, tokens: dict[str, str], redis: Redis, web: LoopbackWeb
) -> None:
    web.faults.add(Fault(host="model.test", reset=True))
    body = {"query": "q", "requirements": WISH}
    assert limited.post(PATH, json=body, headers=bearer(tokens["red"])).status_code == 502
    balance = RedisLedger(redis).balance(deployment_level("ever", 0))
    assert (balance.used, balance.held) == ({}, {})


def test_who_has_not_enough_left_is_told_before_the_model_is_asked(
    limited: httpx.Client, tokens: dict[str, str], web: LoopbackWeb
) -> None:
    """A call holds about 5400 of the 6000; a second call does not fit beside the first one's 41 and its draft."""
    body = {"query": "scenario:no_usage", "requirements": WISH}
    few = bearer(tokens["few"])
    assert limited.post(PATH, json=body, headers=few).status_code == 200
    reply = limited.post(PATH, json=body, headers=few)
    assert told(reply) == (429, "quota_exceeded", 0)
    assert reply.json()["detail"]["message"].startswith("This token's quota of 6000 model_tokens")
    assert int(reply.headers["retry-after"]) > 0
    assert model_calls(web) == 1
    assert limited.post(PATH, json=body, headers=bearer(tokens["red"])).status_code == 200


def test_what_is_left_may_be_too_little_to_mend(
    limited: httpx.Client, tokens: dict[str, str], web: LoopbackWeb
) -> None:
    """The draft held about 5400 of the 6000 and used 41; mending it holds more than the rest."""
    body = {"query": "scenario:prose_then_good", "requirements": WISH * 30}
    reply = limited.post(PATH, json=body, headers=bearer(tokens["few"]))
    assert told(reply) == (429, "quota_exceeded", 41)
    assert model_calls(web) == 1


def test_an_id_that_comes_twice_is_paid_twice(
    limited: httpx.Client, tokens: dict[str, str], redis: Redis
) -> None:
    headers = {**bearer(tokens["red"]), "X-Request-ID": "mine"}
    for _ in range(2):
        limited.post(PATH, json={"query": "q", "requirements": WISH}, headers=headers)
    used = RedisLedger(redis).balance(deployment_level("ever", 0)).used
    assert used[Dimension.MODEL_TOKENS] == 82


# --- the page -----------------------------------------------------------------------------------------------------------

PAGE = Path(__file__).parents[2] / "docs/how-to/generate-a-scorer.md"
# The scorer guide's table, and what our house adds to it: scopes and quotas.
CODES = {
    (400, "request_encoding"),
    (401, "unauthorized"),
    (403, "forbidden"),
    (413, "request_too_large"),
    (413, "token_budget_exceeded"),
    (422, "invalid_request"),
    (422, "request_nesting_limit"),
    (422, "unsupported_requirements"),
    (422, "clarification"),
    (422, "generation_invalid"),
    (429, "rate_limited"),
    (429, "quota_exceeded"),
    (502, "model_error"),
    (502, "model_unavailable"),
    (502, "model_response_invalid"),
    (502, "model_response_too_large"),
    (502, "generation_failed"),
    (503, "generation_unavailable"),
    (504, "generation_timeout"),
}


def rows_of_the_page() -> dict[tuple[int, str], set[str]]:
    cells = re.findall(
        r"^\| (\d{3}) \| `([a-z_]+)` \| [^|]+ \| ([^|]+) \|$", PAGE.read_text("utf-8"), re.MULTILINE
    )
    return {(int(status), code): {*re.findall(r"`(\w+)`", by)} for status, code, by in cells}


def test_the_page_has_every_code_with_what_provokes_it() -> None:
    rows = rows_of_the_page()
    assert rows.keys() == CODES
    by_scenario: dict[tuple[int, str], set[str]] = {}
    for scenario, status, code, _, _ in FAILURES:
        by_scenario.setdefault((status, code), set()).add(scenario)
    slots = (Path(__file__).parent / "test_request_slots.py").read_text("utf-8")
    tests = set(
        re.findall(r"^def (test_\w+)", slots + Path(__file__).read_text("utf-8"), re.MULTILINE)
    )
    for row, provoked_by in rows.items():
        assert provoked_by, row
        named = {each for each in provoked_by if each.startswith("test_")}
        assert named <= tests, row
        assert provoked_by - named == by_scenario.get(row, set()), row


def test_a_fault_of_our_own_is_told_as_one_and_keeps_its_tokens() -> None:
    """No request reaches it, so it is told of an error that nobody expects."""
    allowance = Allowance(1000)
    allowance.report(41)
    scope = {"path": PATH, "state": {"allowance": allowance}}
    answer = problem(ZeroDivisionError("secret"), "req_1", scope)
    assert answer.status == 502
    assert json.loads(answer.body) == {
        "detail": {"code": "generation_failed", "message": "The generation failed."},
        "usage": {"llm_tokens": 41},
        "request_id": "req_1",
    }
    assert problem(ZeroDivisionError(), "req_1", {"path": "/v1/jobs"}).status == 500
