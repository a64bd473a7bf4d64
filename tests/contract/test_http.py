"""HTTP: every refusal of the interface provoked once on a real server; none repeats input, tokens or traces."""

import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from redis import Redis
from signal_search.contracts.job import JobEvent

from infra import keys
from infra.settings import load
from infra.tokens import TokenStore
from tests.fakes.gateway import finish, running

SECRET = "zz9secret"
UNKNOWN = "job_" + "0" * 26


@pytest.fixture(scope="module")
def open_gateway(
    redis_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx.Client]:
    settings = load(
        redis_url=redis_url,
        data_dir=str(tmp_path_factory.mktemp("open")),
        gateway={"tenant_slots": 2, "max_body_bytes": 2048},
    )
    with running(settings) as client:
        yield client


@pytest.fixture
def http(open_gateway: httpx.Client, redis: Redis) -> httpx.Client:
    """Return a client of a gateway without tokens, over an empty store."""
    return open_gateway


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("locked")


@pytest.fixture(scope="module")
def tokens(folder: Path) -> dict[str, str]:
    path = folder / "tokens.json"
    return {
        name: TokenStore.load(path).create(tenant, scopes, {}, now_ms=1)[0]
        for name, tenant, scopes in (
            ("red", "red", ("read", "write")),
            ("blue", "blue", ("read", "write")),
            ("reader", "red", ("read",)),
        )
    }


@pytest.fixture(scope="module")
def locked_gateway(redis_url: str, folder: Path, tokens: dict[str, str]) -> Iterator[httpx.Client]:
    with running(load(redis_url=redis_url, data_dir=str(folder))) as client:
        yield client


@pytest.fixture
def locked(locked_gateway: httpx.Client, redis: Redis) -> httpx.Client:
    """Return a client of a gateway that wants tokens, over an empty store."""
    return locked_gateway


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def submit(http: httpx.Client, query: str = "how high", **more: Any) -> httpx.Response:
    return http.post("/v1/retrieve", json={"query": query}, **more)


def post(http: httpx.Client, body: bytes, **headers: str) -> httpx.Response:
    given = {"Content-Type": "application/json", **headers}
    return http.post("/v1/retrieve", content=body, headers=given)


def check_refusal(reply: httpx.Response, status: int, code: str, field: str | None = None) -> None:
    body = reply.json()
    assert (reply.status_code, body["detail"]["code"]) == (status, code), reply.text
    assert body["detail"].get("field") == field
    assert body.keys() == {"detail", "request_id"}
    assert body["detail"].keys() <= {"code", "message", "field", "position"}
    assert reply.headers["x-request-id"] == body["request_id"]
    assert reply.headers["content-type"] == "application/json"
    assert not re.search(f'{SECRET}|sst_|Traceback|File "|unix:/', reply.text)


# --- who may come in


@pytest.mark.parametrize("headers", [{}, {"Authorization": f"Bearer {SECRET}"}])
@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/v1/jobs"), ("POST", "/v1/retrieve"), ("GET", "/nowhere"), ("GET", "/metrics")],
)
def test_401_comes_before_everything(
    locked: httpx.Client, method: str, path: str, headers: dict[str, str]
):
    reply = locked.request(
        method, path, headers=headers, content=b"\x00" if method == "POST" else None
    )
    check_refusal(reply, 401, "unauthorized")
    assert reply.headers["www-authenticate"] == "Bearer"


def test_403_for_a_token_without_the_scope(locked: httpx.Client, tokens: dict[str, str]):
    check_refusal(submit(locked, headers=bearer(tokens["reader"])), 403, "forbidden")
    assert locked.get("/v1/jobs", headers=bearer(tokens["reader"])).status_code == 200


@pytest.mark.parametrize("path", ["/", "/healthz", "/openapi.json", "/docs"])
def test_what_is_public_needs_no_token(locked: httpx.Client, path: str):
    assert locked.get(path).status_code == 200


def test_with_no_token_a_foreign_host_name_stays_out(http: httpx.Client):
    check_refusal(http.get("/v1/jobs", headers={"Host": f"{SECRET}.example"}), 401, "unauthorized")


def test_a_tenant_sees_its_own_jobs_only(locked: httpx.Client, tokens: dict[str, str]):
    red, blue = bearer(tokens["red"]), bearer(tokens["blue"])
    job_id = submit(locked, headers=red).json()["id"]
    own = locked.get("/v1/jobs", headers=red).json()["jobs"]
    assert [each["id"] for each in own] == [job_id]
    assert locked.get("/v1/jobs", headers=blue).json()["jobs"] == []
    for path in ("", "/result", "/events", "/bundle", "/export?format=ris"):
        reply = locked.get(f"/v1/jobs/{job_id}{path}", headers=blue)
        check_refusal(reply, 404, "job_not_found")
    check_refusal(locked.delete(f"/v1/jobs/{job_id}", headers=blue), 404, "job_not_found")
    assert locked.get(f"/v1/jobs/{job_id}", headers=red).json()["state"] == "queued"


def test_the_same_key_of_two_tenants_makes_two_jobs(locked: httpx.Client, tokens: dict[str, str]):
    made = {
        submit(locked, headers={**bearer(tokens[name]), "Idempotency-Key": "k"}).json()["id"]
        for name in ("red", "blue")
    }
    assert len(made) == 2


# --- addresses and methods


@pytest.mark.parametrize("path", ["/nowhere", "/v1", "/v1/jobs/x/y/z"])
def test_404_not_found(http: httpx.Client, path: str):
    check_refusal(http.get(f"{path}?q={SECRET}"), 404, "not_found")


@pytest.mark.parametrize("job_id", [UNKNOWN, "job_1", "%7B" + SECRET, "..%2f..%2fx"])
@pytest.mark.parametrize("part", ["", "/result", "/events", "/bundle", "/export?format=ris"])
def test_404_job_not_found(http: httpx.Client, job_id: str, part: str):
    assert http.get(f"/v1/jobs/{job_id}{part}").status_code == 404


def test_404_says_that_it_is_the_job(http: httpx.Client):
    check_refusal(http.get(f"/v1/jobs/{UNKNOWN}"), 404, "job_not_found")
    check_refusal(http.delete(f"/v1/jobs/{UNKNOWN}"), 404, "job_not_found")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("DELETE", "/v1/jobs"),
        ("GET", "/v1/retrieve"),
        ("TRACE", "/healthz"),
        ("PUT", f"/v1/jobs/{UNKNOWN}"),
    ],
)
def test_405_method_not_allowed(http: httpx.Client, method: str, path: str):
    reply = http.request(method, path, headers={"Content-Type": "application/json"})
    check_refusal(reply, 405, "method_not_allowed")
    assert method not in reply.headers["allow"]


def test_head_is_get_without_a_body_and_options_names_the_methods(http: httpx.Client):
    job_id = submit(http).json()["id"]
    for path in ("/healthz", "/v1/jobs", f"/v1/jobs/{job_id}", f"/v1/jobs/{job_id}/events"):
        reply = http.head(path)
        assert (reply.status_code, reply.content) == (200, b"")
    reply = http.options(f"/v1/jobs/{job_id}")
    assert reply.status_code == 204
    assert {each.strip() for each in reply.headers["allow"].split(",")} >= {"GET", "DELETE"}


# --- bodies


def test_413_by_its_declared_length(http: httpx.Client):
    body = b'{"query": "' + b"x" * 2048 + b'"}'
    check_refusal(post(http, body), 413, "request_too_large")


def test_413_counted_as_received(http: httpx.Client):
    def chunks() -> Iterator[bytes]:
        yield b'{"query": "'
        for _ in range(5):
            yield b"x" * 500
        yield b'"}'

    headers = {"Content-Type": "application/json"}
    check_refusal(
        http.post("/v1/retrieve", content=chunks(), headers=headers), 413, "request_too_large"
    )


def test_a_chunked_body_within_the_limit_is_taken(http: httpx.Client):
    reply = http.post(
        "/v1/retrieve",
        content=iter([b'{"query"', b': "how high"}']),
        headers={"Content-Type": "application/json"},
    )
    assert reply.status_code == 202


def test_431_for_headers_beyond_the_limit(http: httpx.Client):
    reply = http.get("/healthz", headers={"X-Long": SECRET + "x" * 33_000})
    check_refusal(reply, 431, "header_too_large")


@pytest.mark.parametrize("kind", ["text/plain", "application/xml", "application/json; charset=gbk"])
def test_415_for_anything_but_json(http: httpx.Client, kind: str):
    check_refusal(post(http, b"{}", **{"Content-Type": kind}), 415, "unsupported_media_type")


@pytest.mark.parametrize(
    ("body", "position"),
    [
        (b'{"query": "' + SECRET.encode() + b'\xff"}', 20),
        (b'{"query": "\x00' + SECRET.encode() + b'"}', 11),
        (b'{"query": ' + SECRET.encode() + b"}", 10),
    ],
)
def test_400_for_what_is_not_json_in_utf8(http: httpx.Client, body: bytes, position: int):
    reply = post(http, body)
    check_refusal(reply, 400, "request_encoding")
    assert reply.json()["detail"]["position"] == position


def test_422_for_nesting(http: httpx.Client):
    body = b'{"query": "a", "x": ' + b"[" * 64 + b"]" * 64 + b"}"
    reply = post(http, body)
    check_refusal(reply, 422, "request_nesting_limit")
    assert reply.json()["detail"]["position"] == 20 + 63


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        ({}, "query"),
        ({"query": 7}, "query"),
        ({"query": "a", SECRET: 1}, None),
        ({"query": "a", "constraints": {"freshness": SECRET}}, "constraints.freshness"),
        ({"query": "a", "constraints": {"max_sources": 51}}, "constraints.max_sources"),
        ({"query": f"{SECRET}\u0000"}, "query"),
        ({"query": "a", "constraints": {"source_prefs": {"only": [f"site:{SECRET}"]}}}, "constraints.source_prefs.only[0]"),
    ],
)  # fmt: skip
def test_422_names_the_field(http: httpx.Client, request_: dict[str, Any], field: str | None):
    check_refusal(http.post("/v1/retrieve", json=request_), 422, "invalid_request", field)
    assert http.get("/v1/jobs").json()["jobs"] == []


@pytest.mark.parametrize(
    ("path", "field"),
    [
        (f"/v1/jobs?state={SECRET}", "state"),
        ("/v1/jobs?limit=0", "limit"),
        ("/v1/jobs?limit=201", "limit"),
        ("/v1/jobs?limit=%D9%A1", "limit"),
        (f"/v1/jobs?cursor={UNKNOWN}", "cursor"),
        (f"/v1/jobs/{UNKNOWN}/export", "format"),
        (f"/v1/jobs/{UNKNOWN}/export?format={SECRET}", "format"),
    ],
)
def test_422_names_the_parameter(http: httpx.Client, path: str, field: str):
    check_refusal(http.get(path), 422, "invalid_request", field)


@pytest.mark.parametrize("wait", ["61", "-1", "1.5", SECRET, ""])
def test_422_for_a_wait_out_of_range(http: httpx.Client, wait: str):
    reply = submit(http, params={"wait": wait})
    check_refusal(reply, 422, "invalid_request", "wait")
    assert http.get("/v1/jobs").json()["jobs"] == []


@pytest.mark.parametrize("given", ["x", "1-", "0-0-0", "9" * 16 + "-0", f"{SECRET}-1"])
def test_422_for_a_bad_event_id(http: httpx.Client, given: str):
    job_id = submit(http).json()["id"]
    reply = http.get(f"/v1/jobs/{job_id}/events", headers={"Last-Event-ID": given})
    check_refusal(reply, 422, "invalid_request", "Last-Event-ID")


# --- states


def test_409_job_unfinished_and_when_to_look_again(http: httpx.Client):
    job_id = submit(http).json()["id"]
    for part in ("result", "export?format=ris"):
        reply = http.get(f"/v1/jobs/{job_id}/{part}")
        check_refusal(reply, 409, "job_unfinished")
        assert int(reply.headers["retry-after"]) >= 1


def test_409_job_finished(http: httpx.Client):
    job_id = submit(http).json()["id"]
    reply = http.delete(f"/v1/jobs/{job_id}")
    assert (reply.status_code, reply.json()["state"]) == (202, "cancelled")
    check_refusal(http.delete(f"/v1/jobs/{job_id}"), 409, "job_finished")
    check_refusal(http.get(f"/v1/jobs/{job_id}/result"), 409, "job_cancelled")


def test_a_failed_job_answers_with_its_own_error(http: httpx.Client, redis: Redis):
    job_id = submit(http).json()["id"]
    told = {"error_code": "unsupported_requirements", "error_message": "No such source."}
    finish(redis, job_id, JobEvent.FAIL, **told)
    reply = http.get(f"/v1/jobs/{job_id}/result")
    check_refusal(reply, 409, "unsupported_requirements")
    assert reply.json()["detail"]["message"] == "No such source."


@pytest.mark.parametrize(
    ("event", "told", "code"),
    [
        (JobEvent.FAIL, {}, "job_failed"),
        (JobEvent.EXPIRE, {}, "job_expired"),
        (JobEvent.CANCEL, {}, "job_cancelled"),
        (JobEvent.FAIL, {"error_code": "internal", "error_message": "Broken."}, "internal"),
    ],
)
def test_why_an_ended_job_has_no_result(
    http: httpx.Client, redis: Redis, event: JobEvent, told: dict[str, str], code: str
):
    job_id = submit(http).json()["id"]
    finish(redis, job_id, event, **told)
    check_refusal(http.get(f"/v1/jobs/{job_id}/result"), 409, code)
    assert http.get(f"/v1/jobs/{job_id}").json()["error_code"] == told.get("error_code", "")


def test_410_result_expired(http: httpx.Client, redis: Redis):
    job_id = submit(http).json()["id"]
    redis.delete(keys.job(job_id), keys.job_log(job_id), keys.job_once(job_id))
    for part in ("", "/result", "/events", "/bundle"):
        check_refusal(http.get(f"/v1/jobs/{job_id}{part}"), 410, "result_expired")


def test_429_rate_limited_at_once_and_free_again_when_a_job_ends(http: httpx.Client, redis: Redis):
    first = submit(http).json()["id"]
    assert submit(http).status_code == 202
    key = {"Idempotency-Key": "k"}
    reply = submit(http, headers=key)
    check_refusal(reply, 429, "rate_limited")
    assert int(reply.headers["retry-after"]) >= 1
    finish(redis, first, JobEvent.FAIL, error_code="internal")
    assert (
        submit(http, "another", headers=key).status_code == 202
    )  # the refused key was not used up


def test_a_caller_who_declares_too_much_is_answered_before_sending(http: httpx.Client):
    with socket.create_connection(("127.0.0.1", http.base_url.port or 0), timeout=30) as wire:
        wire.sendall(
            b"POST /v1/retrieve HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            b"Content-Length: 999999999\r\n\r\n"
        )
        assert wire.recv(100).startswith(b"HTTP/1.1 413 ")


def test_500_shows_nothing_of_the_fault(
    http: httpx.Client, redis: Redis, caplog: pytest.LogCaptureFixture
):
    redis.set(keys.sources(), f"{SECRET} is not JSON")
    check_refusal(http.get("/v1/sources"), 500, "internal")
    assert any(record.exc_info for record in caplog.records)


def test_request_ids_are_honoured_when_sane(http: httpx.Client):
    assert (
        http.get("/healthz", headers={"X-Request-ID": "a.B_c-1"}).headers["x-request-id"]
        == "a.B_c-1"
    )
    for given in ("", "a b", "x" * 65, "a\tb"):
        found = http.get("/nowhere", headers={"X-Request-ID": given}).headers["x-request-id"]
        assert re.fullmatch(r"req_[0-9a-f]{24}", found)
